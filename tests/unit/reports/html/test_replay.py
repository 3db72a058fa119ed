"""A replay as a page: whole, inert, and the same for the same report."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Final

import pytest
from hypothesis import given, settings

from gitops.model.replay import FailureExample, FieldReplay, ReplayFailure, ReplayReport
from gitops.reports.html.replay import replay_page
from tests.support.examples import examples
from tests.support.hostile_texts import PIECES, TEXTS, assert_plain, poisoned
from tests.support.replays import CREATED, REPORT, reader

_VOID: Final = frozenset({"meta", "rect"})
_TAGS: Final = frozenset(
    (
        *("html", "head", "meta", "title", "style", "body", "header", "main", "footer", "section"),
        *("div", "span", "h1", "h2", "h3", "h4", "p", "ul", "li", "a", "code", "svg", "rect"),
        *("table", "caption", "thead", "tbody", "tr", "th", "td"),
    )
)
_ATTRIBUTES: Final = frozenset(
    (
        *("charset", "class", "content", "height", "href", "http-equiv", "id", "lang", "name"),
        *("preserveaspectratio", "rowspan", "scope", "viewbox", "width", "aria-hidden"),
    )
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
        if self.open[-1:] != ["style"]:
            self.words.append(data)


def page(report: ReplayReport = REPORT) -> _Page:
    text = replay_page(report)
    found = _Page(text)
    assert found.open == []
    assert {link.removeprefix("#") for link in found.links} == set(found.ids)
    assert len(set(found.ids)) == len(found.ids)
    assert_plain(" ".join(found.words))
    return found


def test_it_needs_nothing_and_runs_nothing() -> None:
    text = replay_page(REPORT)
    page()
    assert "default-src 'none'" in text
    assert not re.search(r"https?:|url\(|@import|<script|\son\w+=", text)


def test_light_and_dark() -> None:
    assert "prefers-color-scheme: dark" in replay_page(REPORT)


def test_what_it_says() -> None:
    words = " ".join(" ".join(page().words).split())
    for said in (
        "Messages of 1 of 3 topics cannot be read",
        "samples/orders.avro#17",
        "symbol 'OLD' is not among EUR, USD",
        "Null rates",
        "97.50 %",
        "31,000 (62.01 %)",
        "Union branches",
    ):
        assert said in words, said


def test_every_bar_has_its_number_in_its_row() -> None:
    rows = [
        row for row in re.findall(r"<tr>.*?</tr>", replay_page(REPORT), re.DOTALL) if "<svg" in row
    ]
    assert len(rows) > 20
    assert all(re.search(r'<td class="number">[^<]*\d', row) for row in rows)
    assert all(row.count("<svg") == 1 for row in rows)


def test_what_is_there_at_all_is_to_be_seen() -> None:
    field = FieldReplay(path="a", read=10**6, symbols={"A": 10**6 - 1, "B": 1, "C": 0})
    one = reader(CREATED, 0, "proposed", 10**6, fields=(field,))
    widths = re.findall(
        r'class="s0" width="([\d.]+)"', replay_page(replace(REPORT, readers=(one,)))
    )
    assert widths == ["100.00", "0.80", "0.00"]


def test_the_same_report_is_the_same_page_on_every_engine() -> None:
    assert replay_page(REPORT) == replay_page(replace(REPORT, engine="spark"))


@pytest.mark.slow
def test_many_fields_and_symbols_are_cut_and_say_so() -> None:
    symbols = {f"S{number:03}": 1 for number in range(40)}
    fields = tuple(
        FieldReplay(path=f"f{n:03}", read=40, nulls=1, dropped=1, symbols=symbols)
        for n in range(80)
    )
    one = reader(CREATED, 0, "proposed", 40, fields=fields)
    words = " ".join(page(replace(REPORT, readers=(one,))).words)
    assert "… 20 more fields; the JSON has all" in words
    assert "… 15 more names; the JSON has all" in words


def test_what_counts_is_red_and_first() -> None:
    bad = ReplayFailure(path="p", reason="bad", rows=3)
    behind = reader(CREATED, 0, "v0", 90, bad, gates=False)
    text = replay_page(replace(REPORT, readers=(behind, reader(CREATED, 0, "proposed", 50, bad))))
    assert re.findall(r'<h4 class="(\w+)">([^<]*)</h4>', text) == [
        ("bad", "v0 → proposed: fails, counts"),
        ("warn", "v0 → proposed → v0: fails, does not count"),
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
    assert '<th scope="col">Message</th><th scope="col">Why</th></tr>' in text


def test_readers_beyond_the_colours_are_told() -> None:
    field = FieldReplay(path="a", read=5, nulls=1)
    readers = [reader(CREATED, n, "proposed", 5, fields=(field,)) for n in range(10)]
    words = " ".join(page(replace(REPORT, readers=tuple(readers))).words)
    assert "… 2 more readers; the JSON has all" in words


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
