"""What became of actions of which several runs tell."""

from __future__ import annotations

from typing import Any, Final

import pytest

from gitops.model.journal import APPLIED, Attempt, JournalRun, Outcome, final_outcomes

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


def test_a_restores_plan_is_made_anew() -> None:
    cut = _run((_A, _UNKNOWN), command="restore")
    whole = _run(outcome=APPLIED, digest="e", command="restore")

    assert list(final_outcomes([cut, whole])) == [(_A, _DONE)]
