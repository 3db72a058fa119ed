"""A replay as a page: whole, inert, and the same for the same report."""

from __future__ import annotations

import base64
import datetime
import hashlib
import html
import itertools
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Final

import pytest
from hypothesis import given, settings

from gitops.model.names import TopicName
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.replay import (
    Distribution,
    FailureExample,
    FieldReplay,
    ReplayFailure,
    ReplayReport,
)
from gitops.reports.html.replay import page_html
from gitops.reports.results import ReplayPage, ReplayRun
from tests.support.examples import examples
from tests.support.hostile_texts import PIECES, TEXTS, assert_plain, poisoned
from tests.support.replays import CREATED, FAILING, ORDERS, REPORT, ROUNDED, reader

_VOID: Final = frozenset({"meta", "rect", "path"})
_TAGS: Final = frozenset(
    (
        *("html", "head", "meta", "title", "style", "body", "header", "main", "footer", "section"),
        *("div", "span", "h1", "h2", "h3", "h4", "p", "ul", "li", "a", "code", "svg", "rect"),
        *("table", "thead", "tbody", "tr", "th", "td", "details", "summary", "script", "path"),
    )
)
_ATTRIBUTES: Final = frozenset(
    (
        *("charset", "class", "content", "height", "href", "http-equiv", "id", "lang", "name"),
        *("preserveaspectratio", "scope", "viewbox", "width", "aria-hidden", "y"),
        *("data-sort", "data-filter", "open", "d"),
    )
)


RUN: Final = ReplayRun(
    command="pulsar-gitops replay --base main",
    made=datetime.datetime(2026, 11, 23, 22, 20, tzinfo=datetime.UTC),
    commit="4f1c9e2 coupons, clean",
    program="1.2.3",
)


class _Page(HTMLParser):
    """Its tags, its text, and whether every tag that is opened is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in _TAGS, tag
        assert {name for name, _ in attrs} <= _ATTRIBUTES, attrs
        given = dict(attrs)
        self.links += [given["href"] or ""] if "href" in given else []
        self.ids += [given["id"] or ""] if "id" in given else []
        self.tags.append(tag)
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    def handle_data(self, data: str) -> None:
        if self.open[-1:] not in (["style"], ["script"]):
            self.words.append(data)


def page(report: ReplayReport = REPORT) -> _Page:
    text = replay_page(report)
    found = _Page(text)
    assert found.open == []
    assert {link.removeprefix("#") for link in found.links} <= set(found.ids)
    assert len(set(found.ids)) == len(found.ids)
    assert_plain(" ".join(found.words))
    return found


def replay_page(report: ReplayReport) -> str:
    return page_html(ReplayPage(replay=report, run=RUN))


def test_it_loads_nothing_and_runs_nothing_but_its_own_script() -> None:
    text = replay_page(REPORT)
    page()
    assert "default-src 'none'" in text
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'\"" in text
    assert not re.search(r"https?:|url\(|@import|<script[^>]|\son\w+=", text)
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval", script)


def test_light_and_dark() -> None:
    assert "prefers-color-scheme: dark" in replay_page(REPORT)


def test_what_it_says() -> None:
    words = re.sub(r"[ \n]+", " ", " ".join(page().words))
    for said in (
        "Messages of 1 of 3 topics cannot be read",
        "samples/orders.avro#17",
        "symbol 'OLD' is not among EUR, USD",
        "differ between readers",
        "3,900 (97.50\u00a0%)",
        "31,000 (62.01\u00a0%)",
        "2026-11-23 22:20 UTC · commit 4f1c9e2 coupons, clean · engine local · pulsar-gitops 1.2.3",
        "reproduce: pulsar-gitops replay --base main",
    ):
        assert said in words, said


def test_every_bar_has_its_numbers_in_its_row() -> None:
    rows = [
        row for row in re.findall(r"<tr>.*?</tr>", replay_page(REPORT), re.DOTALL) if "<svg" in row
    ]
    rows = [row for row in rows if 'class="bar' in row]
    assert len(rows) > 5
    for row in rows:
        drawn = row.count('<rect class="track"')
        assert len(re.findall(r'<td class="number">[^<]*(?:<span[^>]*>)?\d', row)) >= drawn
        assert row.count("<svg") == 1


def test_what_is_there_at_all_is_to_be_seen() -> None:
    field = FieldReplay(path="a", read=10**6, symbols={"A": 10**6 - 1, "B": 1})
    other = FieldReplay(path="a", read=10**6, symbols={"A": 10**6})
    its = (
        reader(CREATED, 0, "proposed", 10**6, fields=(field,)),
        reader(CREATED, 0, "v0", 10**6, fields=(other,)),
    )
    text = replay_page(replace(REPORT, readers=its))
    assert re.findall(r'class="s0" y="0" width="([\d.]+)"', text) == ["100.00", "0.80"]
    assert re.findall(r'class="s1" y="10" width="([\d.]+)"', text) == ["100.00", "0.00"]


def test_engines_differ_in_their_name_alone() -> None:
    other = replay_page(replace(REPORT, engine="spark"))
    assert other.replace("engine spark", "engine local") == replay_page(REPORT)


@pytest.mark.slow
def test_many_fields_are_all_there_and_many_names_are_cut() -> None:
    symbols = {f"S{number:03}": 1 for number in range(40)}
    fields = tuple(
        FieldReplay(path=f"f{n:04}", read=40, nulls=1, dropped=1, symbols=symbols)
        for n in range(1000)
    )
    others = tuple(FieldReplay(path=one.path, read=40, symbols={"X": 40}) for one in fields)
    its = (
        reader(CREATED, 0, "proposed", 40, fields=fields),
        reader(CREATED, 0, "v0", 40, fields=others),
    )
    found = page(replace(REPORT, readers=its, strategies={CREATED: REPORT.strategies[CREATED]}))
    words = " ".join(found.words)
    assert all(found.words.count(one.path) >= 2 for one in fields)
    assert "… 16 more names; the JSON has all" in words


def test_a_thousand_fields_are_folded_and_small() -> None:
    fields = tuple(FieldReplay(path=f"f{n:04}", read=40, promoted=40) for n in range(1000))
    its = (reader(CREATED, 0, "proposed", 40, fields=fields),)
    text = replay_page(
        replace(REPORT, readers=its, strategies={CREATED: REPORT.strategies[CREATED]})
    )
    assert len(text) < 250_000
    assert "<details><summary><h3>Fields that are changed" in text
    assert text.count('data-sort=""') == 1


@pytest.mark.slow
def test_two_hundred_topics_are_an_index_and_folded_cards() -> None:
    text = replay_page(_topics(200))
    found = page(_topics(200))
    assert len(text) < 400_000
    assert text.count('<details class="card"') == 200
    assert text.count('<details class="card" id="topic-1" open>') == 1
    assert len(re.findall(r'<details class="card" id="topic-\d+" open>', text)) == 5
    assert {f"#topic-{n}" for n in range(1, 201)} <= set(found.links)
    # The worst is first, and what all have in common is told once.
    assert text.index("topic-199</a>") < text.index("topic-000</a>")
    assert text.count(html.escape(ROUNDED.message)) == 1
    assert text.count('<a href="#finding-2">') == 191


def _topics(number: int) -> ReplayReport:
    topics = [TopicName(ORDERS, f"topic-{n:03}") for n in range(number)]
    bad = FailureExample("f.avro#1", "bad")
    return ReplayReport(
        registry="production",
        engine="local",
        rows=number * 1000,
        readers=tuple(
            reader(
                topic,
                0,
                "proposed",
                1000,
                *(ReplayFailure(path="p", reason="bad", rows=n, examples=(bad,)),) * (n > 190),
            )
            for n, topic in enumerate(topics)
        ),
        strategies=dict.fromkeys(topics, Strategy.BACKWARD),
        findings=tuple(
            replace(FAILING if n > 190 else ROUNDED, subject=str(topic))
            for n, topic in enumerate(topics)
        ),
    )


def test_what_counts_is_red_and_first() -> None:
    bad = ReplayFailure(path="p", reason="bad", rows=3)
    behind = reader(CREATED, 0, "v0", 90, bad, gates=False)
    text = replay_page(replace(REPORT, readers=(behind, reader(CREATED, 0, "proposed", 50, bad))))
    reasons = text.partition("Why messages fail")[2]
    assert re.findall(r'<td><span class="(\w+)">([^<]*)</span>', reasons) == [
        ("bad", "v0\u00a0→\u00a0proposed"),
        ("warn", "v0\u00a0→\u00a0proposed\u00a0→\u00a0v0"),
    ]
    assert text.count('class="sbad"') == text.count('class="swarn"') == 2


def test_a_finding_says_where_it_is_what_to_do_and_which_rule() -> None:
    text = replay_page(REPORT)
    assert '<a href="#REPLAY-R001">REPLAY-R001</a> error' in text
    assert "<code>namespaces/shop/orders/order-created.yaml:8:5</code>" in text
    assert "say how many may fail: maxFailures" in text
    assert "pulsar-gitops explain REPLAY-R001" in text


def test_a_column_without_anything_is_left_out() -> None:
    bad = ReplayFailure(path="", reason="bad", rows=3, examples=(FailureExample("f#1", "bad"),))
    text = replay_page(replace(REPORT, readers=(reader(CREATED, 0, "proposed", 50, bad),)))
    assert '<th scope="col">Message</th><th scope="col">Why</th><th scope="col">Data' in text


def test_what_all_readers_get_alike_is_not_told() -> None:
    fields = (FieldReplay(path="a", read=5, nulls=1), FieldReplay(path="b", read=5, nulls=0))
    its = [reader(CREATED, 0, name, 5, fields=fields) for name in ("proposed", "v0", "billing")]
    words = " ".join(page(replace(REPORT, readers=tuple(its))).words)
    assert "differ between readers" not in words


def test_a_finding_of_one_topic_is_told_once() -> None:
    assert replay_page(REPORT).count("12 of 50,000 sample messages cannot be read") == 1
    assert replay_page(REPORT).count("no default at") == 0


def test_an_empty_one() -> None:
    words = " ".join(page(ReplayReport(registry="local", engine="local", rows=0, readers=())).words)
    assert "Nothing was replayed" in words


@pytest.mark.parametrize("piece", PIECES)
def test_a_hostile_piece_everywhere_does_nothing(piece: str) -> None:
    page(poisoned(REPORT, itertools.repeat(piece)))


@settings(max_examples=examples(30), deadline=None)
@given(TEXTS)
def test_no_text_anywhere_does_anything(text: str) -> None:
    tags = page(poisoned(REPORT, itertools.repeat(f"{text}x"))).tags
    assert tags == page(poisoned(REPORT, itertools.repeat("x"))).tags


def test_a_changed_value_names_its_readers() -> None:
    row = replay_page(REPORT).partition("<code>16777217</code>")[2].partition("</tr>")[0]
    assert "<code>16777216.0</code>" in row
    assert row.endswith("<td>v3 → proposed</td>")


def _distributed(paths: int, *lowest: int) -> ReplayReport:
    """A report whose readers, one for each of `lowest`, get numbers from there on."""
    readers = []
    for name, least in zip(("proposed", "v0"), lowest, strict=False):
        bins = tuple((least + each, 1 + 997 * each % 61) for each in range(32))
        its = Distribution(unit="integer", width=1, bins=bins, least=least, most=least + 31)
        fields = tuple(
            FieldReplay(path=f"field{at}", read=1_000, distributions=(its,)) for at in range(paths)
        )
        readers.append(reader(CREATED, 0, name, 1_000, fields=fields))
    return replace(REPORT, readers=tuple(readers), findings=(), strategies={CREATED: Strategy.FULL})


def test_numbers_that_readers_get_alike_are_one_histogram() -> None:
    words = " ".join(page(_distributed(1, 5, 5)).words)
    assert "Numbers and dates" in words
    assert "1 field" in words
    assert "all alike" in words
    assert replay_page(_distributed(1, 5, 5)).count("<path") == 1


def test_numbers_that_readers_get_otherwise_are_in_one_row() -> None:
    text = replay_page(_distributed(1, 5, 500))
    assert "1 field, 1 read differently" in text
    (row,) = [row for row in re.findall(r"<tr>.*?</tr>", text, re.DOTALL) if "<path" in row]
    assert row.count("<path") == 2
    assert "531" in row


@pytest.mark.slow
def test_histograms_of_a_thousand_fields_stay_small() -> None:
    assert len(replay_page(_distributed(1_000, 5, 5))) < 1_500_000
