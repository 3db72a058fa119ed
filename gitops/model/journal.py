"""What a journal tells of the applies that wrote it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from gitops.model.errors import GitopsError, UnknownOutcomeError


class Outcome(Enum):
    """What became of an action."""

    DONE = "done"
    FAILED = "failed"
    UNKNOWN = "unknown"
    """No answer came, or the process ended before one could be written down."""


def outcome_of(error: GitopsError | None) -> Outcome:
    """What became of an action that ended with this error, or without one."""
    if error is None:
        return Outcome.DONE
    return Outcome.UNKNOWN if isinstance(error, UnknownOutcomeError) else Outcome.FAILED


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One action that an apply began to carry out, as a plan's document has it, and the outcome.

    `version` is what the registry answered to a schema; `error` why it failed. `closes`: the apply
    had stopped, and the action set back what it had loosened. `forgotten` is the history that a
    forced deletion removes, as its document.
    """

    action: Mapping[str, Any]
    outcome: Outcome
    version: int | None = None
    error: str = ""
    closes: bool = False
    forgotten: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalRun:
    """One apply: its plan, how many of the plan's actions were done before it, and each attempt.

    Times are in UTC, as RFC 3339. `ended` and `outcome` are empty where the process came to no end
    of its own. `plan` is the whole document where no plan file has it. `command` is `apply`,
    `restore`, whose plan is made anew each time, for its `namespaces`, or `schemas delete`.
    """

    run: str
    began: str
    digest: str
    registry: str
    address: str
    actions: int
    done_before: int
    attempts: tuple[Attempt, ...] = ()
    ended: str = ""
    outcome: str = ""
    plan: Mapping[str, Any] | None = None
    command: str = "apply"
    namespaces: frozenset[str] = frozenset()

    @property
    def is_whole(self) -> bool:
        """Whether nothing of its plan is left to do."""
        return self.outcome == APPLIED

    def count(self, outcome: Outcome) -> int:
        """How many attempts ended so."""
        return sum(attempt.outcome is outcome for attempt in self.attempts if not attempt.closes)

    @property
    def closings(self) -> int:
        """How many policies were set back after the apply had stopped."""
        return sum(attempt.closes and attempt.outcome is Outcome.DONE for attempt in self.attempts)

    @property
    def tried(self) -> int:
        """How many of the plan's actions were begun."""
        return sum(not attempt.closes for attempt in self.attempts)


def unfinished(runs: Sequence[JournalRun]) -> tuple[JournalRun, ...]:
    """The last run on each registry, where that has not carried out its whole plan.

    A restore that stopped is not over until others had all of its namespaces.
    """
    left: list[JournalRun] = []
    for number, run in enumerate(runs):
        later = [item for item in runs[number + 1 :] if _place(item) == _place(run)]
        is_over = _have_all(later, run) if run.command != "apply" else bool(later)
        left += [] if run.is_whole or is_over else [run]
    return tuple(left)


def _place(run: JournalRun) -> tuple[str, str]:
    return run.registry, run.address


def _have_all(other_runs: Sequence[JournalRun], run: JournalRun) -> bool:
    """Whether these runs, together, were about all namespaces of a restore."""
    return bool(other_runs) and run.namespaces <= frozenset().union(
        *(other_run.namespaces for other_run in other_runs)
    )


def final_outcomes(runs: Sequence[JournalRun]) -> Iterator[tuple[Mapping[str, Any], Outcome]]:
    """Each action that was begun, and what became of it.

    Where that is not known and the action was begun again, the later one counts. Where a later run
    of the same work came to its end without it, it had been found done.
    """
    for number, run in enumerate(runs):
        later = [item for item in runs[number + 1 :] if _is_same_work(run, item)]
        for attempt in run.attempts:
            if attempt.outcome is not Outcome.UNKNOWN:
                yield attempt.action, attempt.outcome
            elif all(
                attempt.action != element.action for item in later for element in item.attempts
            ):
                is_found = _have_all([item for item in later if item.is_whole], run)
                yield attempt.action, Outcome.DONE if is_found else Outcome.UNKNOWN


def _is_same_work(run: JournalRun, other_run: JournalRun) -> bool:
    """A restore's plan is made anew each time."""
    if (_place(run), run.command) != (_place(other_run), other_run.command):
        return False
    return run.command != "apply" or run.digest == other_run.digest


APPLIED: Final = "applied"
"""The outcome of a run after which nothing of its plan is left."""
