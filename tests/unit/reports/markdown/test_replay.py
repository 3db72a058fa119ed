"""A replay as Markdown, alone and in the report of a check."""

from __future__ import annotations

import itertools
import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitops.model.replay import ReplayFailure, ReplayReport
from gitops.reports.markdown.document import COMMENT_LIMIT
from gitops.reports.markdown.replay import replay_markdown
from gitops.reports.markdown.report import markdown
from tests.support.checks import CHECK
from tests.support.checks import CREATED as CHANGED
from tests.support.examples import examples
from tests.support.hostile_texts import PIECES, TEXTS, assert_inert, poisoned
from tests.support.replays import CREATED, REPORT, STATUS, reader

_GOLDEN = Path(__file__).parents[1] / "golden" / "replay.md"
_COMMAND = "pulsar-gitops replay"
_REPLAYED = replace(
    CHECK,
    findings=(*CHECK.findings, *REPORT.findings),
    registries=(replace(CHECK.registries[0], replay=REPORT), *CHECK.registries[1:]),
)


def test_everything_at_once() -> None:
    text = replay_markdown(REPORT, _COMMAND)
    if os.environ.get("UPDATE_DOCS"):
        _GOLDEN.write_text(text, "utf-8")
    assert text == _GOLDEN.read_text("utf-8")


def test_the_only_topic_is_unfolded() -> None:
    alone = replace(REPORT, strategies={CREATED: REPORT.strategies[CREATED]})
    assert "<details open>" in replay_markdown(alone, _COMMAND)


def test_a_check_has_a_column_and_the_failing_messages() -> None:
    assert CHANGED == CREATED
    text = markdown(_REPLAYED)
    assert "| Upgrade first | Replay |" in text
    row = next(line for line in text.split("\n") if line.startswith(f"| `{CREATED}` | production"))
    assert row.endswith("| ✗&nbsp;12 of 54,000 messages fail |")
    others = [line for line in text.split("\n") if line.startswith("| `shop/payments")]
    assert all(line.endswith("| – |") for line in others)
    assert "`samples/orders.avro#17`: symbol `OLD` is not among EUR, USD" in text


def test_a_topic_that_only_the_replay_speaks_against_stands_with_those_that_are_refused() -> None:
    text, _, _ = markdown(_REPLAYED).partition("#### Replay\n")
    assert ", and the replay of 1 other fails\n" in text
    assert (
        f"<summary>✗ <b>{CREATED}</b> on production: 12 of 54,000 messages fail</summary>" in text
    )
    rows = [line for line in text.split("\n") if line.startswith("| `shop/") and "| –" in line]
    bad = ["✗" in line for line in rows]
    assert bad == sorted(bad, reverse=True)
    assert 0 < sum(bad) < len(bad)


def test_a_topic_without_a_change_of_its_schema_has_a_section() -> None:
    _, _, beside = markdown(_REPLAYED).partition("#### Replay\n")
    assert f"✓ <b>{STATUS}</b>" in beside
    assert f"<b>{CREATED}</b>" not in beside


def test_a_check_without_a_replay_is_as_it_was() -> None:
    assert "Replay" not in markdown(CHECK)


def _failures(number: int) -> list[ReplayFailure]:
    path, reason = f"p{number}" * 20, "bad" * 40
    return [ReplayFailure(path=f"{path}{n}", reason=reason, rows=1) for n in range(20)]


@pytest.mark.slow
def test_a_long_one_is_cut_and_says_so() -> None:
    readers = tuple(reader(CREATED, n, f"client{n}", 900, *_failures(n)) for n in range(200))
    text = replay_markdown(replace(REPORT, readers=readers), _COMMAND)
    assert len(text.encode()) <= COMMENT_LIMIT
    assert "`pulsar-gitops replay` shows all" in text


@pytest.mark.parametrize("piece", PIECES)
def test_a_hostile_piece_everywhere_does_nothing(piece: str) -> None:
    _check(poisoned(REPORT, itertools.repeat(piece)))
    # Topics, readers and findings that belong together stay so.
    _check(_with_text(piece))


@settings(max_examples=examples(30), deadline=None)
@given(TEXTS)
def test_no_text_anywhere_does_anything(text: str) -> None:
    _check(_with_text(text))


@pytest.mark.slow
@settings(max_examples=examples(30), deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=7))
def test_no_texts_anywhere_do_anything(texts: list[str]) -> None:
    numbered = (f"{text}{number}" for number, text in enumerate(itertools.cycle(texts)))
    _check(poisoned(REPORT, numbered))


def _with_text(text: str) -> ReplayReport:
    return replace(
        REPORT,
        readers=tuple(
            replace(
                one,
                reader=f"{one.reader and text}",
                failures=poisoned(one.failures, itertools.repeat(text)),
                fields=poisoned(one.fields, itertools.repeat(text)),
            )
            for one in REPORT.readers
        ),
        findings=tuple(replace(one, message=text, hint=text) for one in REPORT.findings),
        limits=(text,),
        registry=text,
    )


def _check(report: ReplayReport) -> None:
    # Of a single topic the details are open.
    assert_inert(
        replay_markdown(report, _COMMAND).replace("<details open><summary>", "<details><summary>")
    )
