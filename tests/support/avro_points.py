"""Where data can decide: what a plan cannot know before it sees payloads.

Framing is none of them: bytes that are not what the writer's schema says fail anywhere. Nor is how
many digits a decimal has: Avro for Java does not count them when it reads. A `fixed` has the same
size on both sides, or the pair fails at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from gitops.replay.kernel import definition
from gitops.replay.kernel.avro import row_counts
from gitops.replay.kernel.avro.logical_types import CUT, Sense
from gitops.replay.kernel.avro.steps import (
    Fail,
    FixedSize,
    Items,
    Number,
    Plan,
    Recursion,
    Step,
    Symbols,
    Text,
)

LOSES: Final = "a number that the reader's type cannot hold is rounded"


class Point(NamedTuple):
    """At `path`; `fails`: the row cannot be read, else it is read as another value."""

    path: str
    what: str
    fails: bool


def points(plan: Plan) -> tuple[Point, ...]:
    """All of a plan's, sorted; a Fail at a place that every row has is one, too."""
    return tuple(sorted({point for step in plan.steps for point in _of(step)}))


def _of(step: Step) -> Iterator[Point]:
    if isinstance(step, Number | FixedSize | Text) and step.sense is not None:
        yield from _of_sense(step.path, step.sense)
    match step:
        case Fail():
            yield Point(*step.reason, fails=True)
        case Symbols():
            yield from _of_symbols(step)
        case Items() if not step.least_item:
            yield Point(step.path, row_counts.EMPTY, fails=True)
        case Recursion():
            yield Point(step.path, row_counts.DEEP, fails=True)
        case Number(sense=None) if step.can_lose:
            yield Point(step.path, LOSES, fails=False)
        case Text() if step.reads == "string" and not (step.sense and step.sense.change):
            yield Point(step.path, row_counts.NO_TEXT, fails=False)
        case _:
            pass


def _of_sense(path: str, sense: Sense) -> Iterator[Point]:
    if sense.check is not None:
        yield Point(path, sense.check.reason, fails=True)
    if sense.change is not None:
        yield Point(path, sense.change.reason, fails=False)
    if sense.cut is not None:
        yield Point(path, CUT, fails=False)


def _of_symbols(step: Symbols) -> Iterator[Point]:
    for symbol, taken in zip(step.symbols, step.taken, strict=bool(step.taken)):
        if taken is None:
            yield Point(step.path, definition.lacks_symbol_and_default(symbol), fails=True)
        elif taken != symbol:
            yield Point(step.path, f"{symbol} is read as {taken}", fails=False)
