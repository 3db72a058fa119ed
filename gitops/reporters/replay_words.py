"""The words and numbers for a reader, a reason and a field that all reports of a replay share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import Final

from gitops.model.replay import (
    ChangedExample,
    Direction,
    FailureExample,
    FieldReplay,
    ReaderReplay,
    ReplayReport,
)

_HUNDREDTH: Final = 0.01
_NEARLY_ALL: Final = 99.99
_MAX_VERSIONS: Final = 4
_WHAT: Final = ("changed", "defaulted", "dropped", "promoted")
_BACKWARD: Final = (
    "vN → proposed (backward): messages that were written with vN, read by the proposed schema."
)
_NONE: Final = (
    "logicalTypes: none: read as readers of generic records do, who take the types beneath logical "
    "types; all others are read into Java's classes."
)
_FORWARD: Final = (
    "vN → proposed → vM (forward): at most 2,000 of them, without those that the proposed schema "
    "cannot read, written anew with it and read by vM, or by a declared client."
)


class Standing(IntEnum):
    """What a reader's failures mean; those that hold a schema back come first."""

    COUNTS = 0
    ALLOWED = 1
    LEFT_BEHIND = 2
    GOOD = 3


STANDINGS: Final = {
    Standing.COUNTS: "counts",
    Standing.ALLOWED: "within maxFailures",
    Standing.LEFT_BEHIND: "does not count",
}


def standing_of(one: ReaderReplay) -> Standing:
    """GOOD where nothing fails."""
    if not one.failed:
        return Standing.GOOD
    if not one.gates:
        return Standing.LEFT_BEHIND
    return Standing.COUNTS if one.counted else Standing.ALLOWED


def standing_text(one: ReaderReplay) -> str:
    """`counts`, `within maxFailures`, `does not count`; empty where one that counts is good."""
    if not one.gates:
        return STANDINGS[Standing.LEFT_BEHIND]
    return STANDINGS.get(standing_of(one), "")


def version_text(version: int | None) -> str:
    """`v3`, or `other messages`: of no known version or topic, or without a payload."""
    return "other messages" if version is None else f"v{version}"


def reader_text(one: ReaderReplay) -> str:
    """`billing`, or `billing (logicalTypes: none)`; empty where nobody was asked."""
    return f"{one.reader}{' (logicalTypes: none)' if one.logical_types == 'none' else ''}"


def way_text(one: ReaderReplay) -> str:
    """The way of the data: `v3 → proposed`, or `v3 → proposed → billing` where it is rewritten."""
    return ways_text((one.version,), one.direction, (reader_text(one),) if one.reader else ())


def ways_text(versions: Iterable[int | None], direction: Direction, readers: Iterable[str]) -> str:
    """The same for several: `v0, v1 → proposed → billing, v0`; without a reader only the data."""
    data, who = _versions(tuple(versions)), ", ".join(readers)
    if not who:
        return f"{data} → proposed, written" if direction is Direction.FORWARD else data
    return f"{data}{' → proposed' if direction is Direction.FORWARD else ''} → {who}"


def _versions(versions: Sequence[int | None]) -> str:
    """`v0, v1`; of many the first and the last, and how many they are."""
    names = list(map(version_text, versions))
    if len(names) > _MAX_VERSIONS:
        return f"{names[0]} … {names[-1]} ({len(names):,} versions)"
    return ", ".join(names)


def ways_said(report: ReplayReport) -> tuple[str, ...]:
    """What the arrows mean, as far as the report has any."""
    directions = {one.direction for one in report.readers if one.reader}
    said = ((Direction.BACKWARD, _BACKWARD), (Direction.FORWARD, _FORWARD))
    ways = tuple(text for direction, text in said if direction in directions)
    return (*ways, *{_NONE for one in report.readers if one.logical_types == "none"})


def message_text(example: FailureExample, failure_path: str, reason: str) -> str:
    """What is to be said of a message beside the reason; empty if that says it all."""
    said = example.message.removeprefix(f"{failure_path}: ")
    return said.removeprefix(reason).lstrip(",: ") if said.startswith(reason) else said


def share_text(part: int, whole: int) -> str:
    """`0.024 %`, with as many digits as it needs to be no zero; empty without a whole."""
    if not whole or not part:
        return ""
    share = 100 * part / whole
    if share < _HUNDREDTH:
        return "< 0.01 %"
    return "> 99.99 %" if part < whole and share > _NEARLY_ALL else f"{share:.2f} %"


def changed_text(example: ChangedExample) -> str:
    """`2026-05-01T10:00:00Z → 1970-01-21T13:33:21.6Z`; empty where values are not shown."""
    if example.before is None or example.after is None:
        return ""
    return f"{example.before or '(empty)'} → {example.after or '(empty)'}"


def altered(fields: Iterable[FieldReplay]) -> tuple[FieldReplay, ...]:
    """The fields of which values are filled in, not taken, promoted or changed."""
    return tuple(one for one in fields if any(getattr(one, what) for what in _WHAT))


def altered_text(field: FieldReplay) -> str:
    """`defaulted 50,000, changed 12`."""
    said = ((what, getattr(field, what)) for what in _WHAT)
    return ", ".join(f"{what} {number:,}" for what, number in said if number)
