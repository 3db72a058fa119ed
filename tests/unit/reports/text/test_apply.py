"""An apply in a terminal: what was done, what failed and why, what was not tried."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Group

from gitops.model.apply_result import Result
from gitops.model.errors import GitopsError, OutsideError, UnknownOutcomeError
from gitops.model.plan import Plan, SetPolicy
from gitops.model.policy import PolicyChange
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.reports.text.apply import ActionLines, apply_count, apply_head
from tests.support.consoles import shown, unwrapped
from tests.support.plans import CREATIONS, EVERYTHING
from tests.support.states import CREATED, ORDERS

_GOLDEN = Path(__file__).parents[1] / "golden"


def _results(plan: Plan, done: int, error: GitopsError | None = None) -> list[Result]:
    versions = {4: 0, 5: 4, 6: 6}
    results = [
        Result(action=action, version=versions.get(number))
        for number, action in enumerate(plan.actions[:done])
    ]
    return [*results, Result(action=plan.actions[done], error=error)] if error else results


def _text(results: list[Result], width: int = 100) -> str:
    lines = ActionLines.of(EVERYTHING)
    return shown(Group(*(lines.line(result) for result in results)), width)


@pytest.mark.parametrize("width", [40, 100])
def test_an_apply_looks_as_it_should(width: int) -> None:
    failed = _results(EVERYTHING, 5, OutsideError("the broker\nwent away"))
    unknown = Result(action=EVERYTHING.actions[6], error=UnknownOutcomeError("interrupted"))
    parts = [
        apply_head(EVERYTHING, 2),
        *(ActionLines.of(EVERYTHING).line(one) for one in [*_results(EVERYTHING, 7), *failed]),
        ActionLines.of(EVERYTHING).line(unknown),
        apply_count(EVERYTHING, failed, done_before=2, seconds=2.14),
    ]
    expected = (_GOLDEN / f"apply-{width}.txt").read_text(encoding="utf-8")
    assert shown(Group(*parts), width) == expected


def test_lines_stand_below_each_other_though_each_comes_alone() -> None:
    lines = ActionLines.of(EVERYTHING)
    alone = "".join(shown(lines.line(result)) for result in _results(EVERYTHING, 7))
    assert alone == _text(_results(EVERYTHING, 7))


def test_what_is_created_is_named_with_its_partitions() -> None:
    plan = replace(EVERYTHING, actions=CREATIONS)
    lines = ActionLines.of(plan)
    tenant, topic = CREATIONS
    failed = Result(action=topic, error=OutsideError("no answer"))
    text = "".join(shown(lines.line(one)) for one in (Result(action=tenant), failed))
    assert [line.split() for line in text.splitlines()] == [
        ["✓", "shop", "created"],
        ["✗", "shop/orders/order-created", "create,", "4", "partitions:", "no", "answer"],
    ]


def test_the_version_is_the_one_that_came_out() -> None:
    other = Result(action=EVERYTHING.actions[5], version=9, error=OutsideError("another"))
    assert _text([other]) == "✗ shop/orders/order-created     v3 → v9: another\n"


def test_what_opens_a_topic_and_closes_it_says_so() -> None:
    def policy(before: Strategy, after: Strategy) -> Result:
        change = PolicyChange(key="schemaCompatibilityStrategy", before=before, after=after)
        return Result(action=SetPolicy(subject=CREATED, change=change, waiver="w"))

    opened = policy(Strategy.FULL, Strategy.ALWAYS_COMPATIBLE)
    closed = policy(Strategy.ALWAYS_COMPATIBLE, Strategy.FULL)
    first, second = _text([opened, closed], 120).splitlines()
    assert first.endswith("FULL → ALWAYS_COMPATIBLE   for one schema")
    assert second.endswith("ALWAYS_COMPATIBLE → FULL   set back")


@pytest.mark.parametrize(
    ("left", "before", "head"),
    [(7, 0, "7 actions"), (1, 0, "1 action"), (2, 5, "2 of 7 actions left")],
)
def test_the_head_says_how_much_is_to_be_done(left: int, before: int, head: str) -> None:
    plan = replace(EVERYTHING, actions=EVERYTHING.actions[:left])
    assert apply_head(plan, before).plain == f"production · http://pulsar.acme:8080 · {head}"


@pytest.mark.parametrize(
    ("done", "error", "said"),
    [
        (7, None, "applied 7 actions to production"),
        (5, None, "7 actions: 5 done, 2 not tried"),
        (0, OutsideError("x"), "7 actions: 1 failed, 6 not tried"),
        (6, OutsideError("x"), "7 actions: 6 done, 1 failed"),
        (2, UnknownOutcomeError("x"), "7 actions: 2 done, 1 with an unknown outcome, 4 not tried"),
    ],
)
def test_the_last_line_counts(done: int, error: GitopsError | None, said: str) -> None:
    results = _results(EVERYTHING, done, error)
    assert apply_count(EVERYTHING, results, done_before=0).plain == said
    timed = apply_count(EVERYTHING, results, done_before=0, seconds=1.25)
    assert timed.plain == f"{said}   1.2 s"


@pytest.mark.parametrize(
    ("before", "said"),
    [
        (0, "nothing to do"),
        (1, "nothing left to do: the 1 action of this plan was carried out before"),
        (13, "nothing left to do: the 13 actions of this plan were carried out before"),
    ],
)
def test_nothing_to_do_is_said(before: int, said: str) -> None:
    plan = replace(EVERYTHING, actions=())
    assert apply_count(plan, [], done_before=before, seconds=1.0).plain == said


def test_what_is_set_back_is_counted_apart() -> None:
    failed = _results(EVERYTHING, 1, OutsideError("x"))
    change = PolicyChange(key="k", before=None, after=None)
    closing = Result(action=SetPolicy(subject=ORDERS, change=change, waiver="w"), closes=True)
    open_still = replace(closing, error=OutsideError("x"))
    said = apply_count(EVERYTHING, [*failed, closing, open_still], done_before=0).plain
    assert said == "7 actions: 1 done, 1 failed, 1 set back, 1 not set back, 5 not tried"


@pytest.mark.parametrize("width", [20, 40, 60])
def test_a_narrow_terminal_cuts_nothing(width: int) -> None:
    results = _results(EVERYTHING, 6, OutsideError("the broker went away"))
    text = _text(results, width)
    assert max(map(len, text.splitlines())) <= width
    assert unwrapped(text) == unwrapped(_text(results))
