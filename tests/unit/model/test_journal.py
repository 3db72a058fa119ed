"""What became of actions of which several runs tell."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pytest

from gitops.model.journal import (
    APPLIED,
    Attempt,
    JournalRun,
    Outcome,
    final_outcomes,
    unfinished,
)

_DONE, _FAILED, _UNKNOWN = Outcome.DONE, Outcome.FAILED, Outcome.UNKNOWN
_A: Final = {"action": "RegisterSchema", "topic": "a"}
_B: Final = {"action": "RegisterSchema", "topic": "b"}


def _run(*attempts: tuple[dict[str, Any], Outcome], **others: Any) -> JournalRun:  # noqa: ANN401
    """A run that came to no end of its own; `others` are fields of it."""
    made = tuple(Attempt(action=action, outcome=outcome) for action, outcome in attempts)
    plain = {"run": "1", "began": "", "digest": "d", "registry": "r", "address": "", "actions": 2}
    return JournalRun(**{**plain, "done_before": 0, "attempts": made, **others})


_CUT: Final = _run((_A, _DONE), (_B, _UNKNOWN))


@pytest.mark.parametrize(
    ("later", "expected"),
    [
        ([], [(_A, _DONE), (_B, _UNKNOWN)]),
        ([_run(outcome=APPLIED)], [(_A, _DONE), (_B, _DONE)]),
        ([_run()], [(_A, _DONE), (_B, _UNKNOWN)]),
        ([_run((_B, _DONE), outcome=APPLIED)], [(_A, _DONE), (_B, _DONE)]),
        ([_run((_B, _FAILED)), _run((_B, _DONE))], [(_A, _DONE), (_B, _FAILED), (_B, _DONE)]),
        ([_run((_B, _UNKNOWN)), _run(outcome=APPLIED)], [(_A, _DONE), (_B, _DONE)]),
        ([_run(outcome=APPLIED, digest="e")], [(_A, _DONE), (_B, _UNKNOWN)]),
        ([_run(outcome=APPLIED, registry="other")], [(_A, _DONE), (_B, _UNKNOWN)]),
    ],
    ids=[
        "nothing after it",
        "found done",
        "not looked at again",
        "done again",
        "refused, then done",
        "not known twice",
        "another plan",
        "another registry",
    ],
)
def test_an_unknown_outcome_is_known_later(later: list[JournalRun], expected: object) -> None:
    assert list(final_outcomes([_CUT, *later])) == expected


def _restore(*names: str, **others: Any) -> JournalRun:  # noqa: ANN401
    """A restore of these namespaces, whose plan is made anew each time."""
    digest = f"{names} {others}"
    return _run(command="restore", namespaces=frozenset(names), **{"digest": digest, **others})


_LOST: Final = replace(_restore("s/a", "s/b"), attempts=_CUT.attempts)


@pytest.mark.parametrize(
    ("later", "outcome", "left"),
    [
        ([], _UNKNOWN, 1),
        ([_restore("s/a", "s/b", outcome=APPLIED)], _DONE, 0),
        ([_restore("s/a", outcome=APPLIED)], _UNKNOWN, 1),
        ([_restore("s/a", outcome=APPLIED), _restore("s/b", outcome=APPLIED)], _DONE, 0),
        ([_restore("s/a", "s/b", "s/c")], _UNKNOWN, 1),
    ],
    ids=["nothing after it", "all again", "one namespace", "one by one", "again, and cut again"],
)
def test_a_restore_is_over_once_others_had_its_namespaces(
    later: list[JournalRun], outcome: Outcome, left: int
) -> None:
    runs = [_LOST, *later]

    assert list(final_outcomes(runs)) == [(_A, _DONE), (_B, outcome)]
    assert len(unfinished(runs)) == left


def test_an_apply_is_over_once_another_one_was_begun() -> None:
    assert unfinished([_CUT, _run(outcome=APPLIED, digest="e")]) == ()
    assert len(unfinished([_CUT, _run(digest="e")])) == 1


def test_what_could_not_be_set_back_is_no_closing() -> None:
    failed = Attempt(action=_A, outcome=_FAILED, closes=True)
    run = replace(_CUT, attempts=(*_CUT.attempts, failed, replace(failed, outcome=_DONE)))

    assert (run.closings, run.tried) == (1, 2)
