"""What is decided here beside what the broker's classes decide."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from gitops.schemas.payload import PayloadError
from tests.oracle.broker_classes import Verdict
from tests.oracle.nesting import is_up_to_the_stack
from tests.oracle.shrinker import shrunk
from tests.support.decisions import Answer, broker_answer, our_answer

Case = Mapping[str, Any]
Decider = Callable[[Case], Answer]


class Oracle(Protocol):
    """Who has the last word, as the process of `broker_classes` does."""

    def ask(self, cases: Sequence[Case]) -> list[Verdict]:
        """A verdict for each case, in order."""


_SHOWN: Final = ("accepted", "version", "http", "client_error", "reason")
_FIRST: Final = ("id", "tag", "strategy", "mode", "existing", "candidate")


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A case with both answers; ours is text if there was none."""

    case: Case
    verdict: Verdict
    ours: Answer | str

    def line(self) -> str:
        """The case with the broker's answer, as a line of a conformance file."""
        ordered = {name: self.case[name] for name in _FIRST if name in self.case}
        broker = {name: self.verdict.get(name) for name in _SHOWN}
        return json.dumps({**ordered, **self.case, "broker": broker}, ensure_ascii=True)


def is_case(verdict: Verdict) -> bool:
    """Whether there is a history: one of a text that is no pair cannot even be stored."""
    return bool(verdict["error_class"] != "SeedError")


def _overflowed(case: Case, verdict: Verdict) -> bool:
    """Whether a stack ended it that may hold in another JVM.

    A definition that recurses overflows always, and is a case; it is short.
    """
    return verdict["error_class"] == "StackOverflowError" and is_up_to_the_stack(case)


def difference(case: Case, verdict: Verdict, decide: Decider = our_answer) -> Difference | None:
    """Where the two disagree; None where they agree, or where it is no case."""
    if not is_case(verdict) or _overflowed(case, verdict):
        return None
    try:
        ours: Answer | str = decide(case)
    except PayloadError as error:
        ours = f"no case: {error}"
    except Exception as error:  # noqa: BLE001 - a crash is a difference like any other
        ours = f"{type(error).__name__}: {error}"
    if ours == broker_answer(case, verdict):
        return None
    return Difference(case=case, verdict=verdict, ours=ours)


def differences(
    cases: Sequence[Case], oracle: Oracle, decide: Decider = our_answer
) -> list[Difference]:
    """Every case of these that is decided otherwise here."""
    pairs = zip(cases, oracle.ask(cases), strict=True)
    return [found for case, verdict in pairs if (found := difference(case, verdict, decide))]


def smallest(found: Difference, oracle: Oracle, decide: Decider = our_answer) -> Difference:
    """The same difference with as little as possible in its case.

    It stays one of the same kind: the same acceptance and status on both sides.
    """
    kind = _kind(found)

    def shows(case: dict[str, Any]) -> bool:
        (verdict,) = oracle.ask([case])
        other = difference(case, verdict, decide)
        return other is not None and _kind(other) == kind

    small = differences([shrunk(found.case, shows)], oracle, decide)
    return small[0] if small else found


def _kind(found: Difference) -> tuple[object, ...]:
    ours = found.ours
    shown = (ours.accepted, ours.http) if isinstance(ours, Answer) else (ours.split(":")[0],)
    return (found.verdict["accepted"], found.verdict.get("http"), *shown)
