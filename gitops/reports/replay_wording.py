"""The words and numbers that all reports of a replay share: readers, reasons, fields."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import zip_longest
from typing import Final

from gitops.model.replay import (
    ChangedExample,
    Direction,
    FailureExample,
    FieldReplay,
    ReaderReplay,
    ReplayFailure,
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
    "logicalTypes: none: read as generic records, with the types beneath logical types; all others "
    "are read into Java's classes."
)
_FORWARD: Final = (
    "vN → proposed → vM (forward): at most 2,000 of them, without those that the proposed schema "
    "cannot read, written again with it and read by vM, or by a declared client."
)


class ReaderStatus(IntEnum):
    """What a reader's failures mean; those that hold a schema back come first."""

    COUNTS = 0
    ALLOWED = 1
    LEFT_BEHIND = 2
    GOOD = 3


_BLOCKS: Final = {
    ReaderStatus.COUNTS: "yes",
    ReaderStatus.ALLOWED: "no: maxFailures",
    ReaderStatus.LEFT_BEHIND: "no",
}
_OUTCOMES: Final = {
    ReaderStatus.COUNTS: "fails{each}, blocks the merge",
    ReaderStatus.ALLOWED: "fails{each} within maxFailures",
    ReaderStatus.LEFT_BEHIND: "fails{each}, does not block the merge",
}


def status_of(reader: ReaderReplay) -> ReaderStatus:
    """GOOD where nothing fails."""
    if not reader.failed:
        return ReaderStatus.GOOD
    if not reader.gates:
        return ReaderStatus.LEFT_BEHIND
    return ReaderStatus.COUNTS if reader.counted else ReaderStatus.ALLOWED


def status_text(reader: ReaderReplay) -> str:
    """Whether failures block the merge: `yes`, `no: maxFailures`, `no`; empty where none fails."""
    return _BLOCKS.get(status_of(reader), "")


def version_text(version: int | None) -> str:
    """`v3`, or `other messages`: of no known version or topic, or without a payload."""
    return "other messages" if version is None else f"v{version}"


def reader_text(reader: ReaderReplay) -> str:
    """`billing`, or `billing (logicalTypes: none)`; empty where nobody was asked."""
    return f"{reader.reader}{' (logicalTypes: none)' if reader.logical_types == 'none' else ''}"


def way_text(reader: ReaderReplay) -> str:
    """The way of the data: `v3 → proposed`, or `v3 → proposed → billing` where it is rewritten."""
    return ways_text(
        (reader.version,), reader.direction, (reader_text(reader),) if reader.reader else ()
    )


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


def direction_legend(report: ReplayReport) -> tuple[str, ...]:
    """What the arrows mean, as far as the report has any."""
    directions = {result.direction for result in report.readers if result.reader}
    parts = ((Direction.BACKWARD, _BACKWARD), (Direction.FORWARD, _FORWARD))
    ways = tuple(text for direction, text in parts if direction in directions)
    return (*ways, *{_NONE for reader in report.readers if reader.logical_types == "none"})


def message_text(example: FailureExample, failure_path: str, reason: str) -> str:
    """What is to be said of a message beside the reason; empty if that says it all."""
    text = example.message.removeprefix(f"{failure_path}: ")
    return text.removeprefix(reason).lstrip(",: ") if text.startswith(reason) else text


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


def altered_fields(fields: Iterable[FieldReplay]) -> tuple[FieldReplay, ...]:
    """The fields of which values are filled in, not taken, promoted or changed."""
    return tuple(field for field in fields if any(getattr(field, what) for what in _WHAT))


def altered_text(field: FieldReplay) -> str:
    """`defaulted 50,000, changed 12`."""
    texts = ((what, getattr(field, what)) for what in _WHAT)
    return ", ".join(f"{what} {number:,}" for what, number in texts if number)


# Why messages fail, and what becomes of fields: what is the same for several is said once.


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionedExample:
    """An example, and the version that wrote it."""

    version: int | None
    example: FailureExample


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """One reason at one path; `versions` say how many are whose, empty where there is but one."""

    path: str
    reason: str
    rows: int
    versions: tuple[tuple[int | None, int], ...]
    examples: tuple[VersionedExample, ...]

    @property
    def versions_text(self) -> str:
        """`v0 55, v1 76`; empty where no version is known of any."""
        if all(number is None for number, _ in self.versions):
            return ""
        return ", ".join(f"{version_text(number)} {rows:,}" for number, rows in self.versions)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasonGroup:
    """Readers that fail alike, with the versions of the messages; none: nobody was asked.

    `rows` are the messages that each of them was given, the failing ones among them.
    """

    readers: tuple[str, ...]
    direction: Direction
    standing: ReaderStatus
    versions: tuple[int | None, ...]
    rows: int
    reasons: tuple[Reason, ...]

    @property
    def title(self) -> str:
        """Whose data, who reads it, and whether that blocks the merge."""
        way = ways_text(self.versions, self.direction, self.readers)
        if not self.readers:
            return f"{way}: not replayed"
        suffix = " for each" if len(self.readers) > 1 else ""
        return f"{way}: {_OUTCOMES[self.standing].format(each=suffix)}"


def groups_of(readers: Iterable[ReaderReplay]) -> tuple[ReasonGroup, ...]:
    """Everything that fails; what counts comes first, and what was not replayed last."""
    grouped: dict[tuple[str, Direction, ReaderStatus], list[ReaderReplay]] = {}
    for reader in readers:
        if reader.failures:
            who = reader_text(reader)
            grouped.setdefault((who, reader.direction, status_of(reader)), []).append(reader)
    alike: dict[object, list[str]] = {}
    parts: dict[object, list[ReaderReplay]] = {}
    for (name, direction, standing), members in grouped.items():
        key = (
            direction,
            standing,
            bool(name),
            tuple((o.version, o.rows, o.failures) for o in members),
        )
        alike.setdefault(key, []).append(name)
        parts.setdefault(key, members)
    groups = [_group(tuple(filter(None, alike[key])), group) for key, group in parts.items()]
    return tuple(
        sorted(groups, key=lambda reason_group: (not reason_group.readers, reason_group.standing))
    )


def _group(readers: tuple[str, ...], members: Sequence[ReaderReplay]) -> ReasonGroup:
    reasons: dict[tuple[str, str], list[tuple[int | None, ReplayFailure]]] = {}
    for reader in members:
        for failure in reader.failures:
            reasons.setdefault((failure.path, failure.reason), []).append((reader.version, failure))
    made = [
        _reason(path, reason, of, several=len(members) > 1)
        for (path, reason), of in reasons.items()
    ]
    return ReasonGroup(
        readers=readers,
        direction=members[0].direction,
        standing=status_of(members[0]),
        versions=tuple(member.version for member in members),
        rows=sum(member.rows for member in members),
        reasons=tuple(sorted(made, key=lambda reason: (-reason.rows, reason.path, reason.reason))),
    )


def _reason(
    path: str, reason: str, members: Sequence[tuple[int | None, ReplayFailure]], *, several: bool
) -> Reason:
    """As many examples as one version has, of each version in turn."""
    turns = zip_longest(
        *(
            [VersionedExample(version=v, example=example) for example in failure.examples]
            for v, failure in members
        )
    )
    examples = [item for turn in turns for item in turn if item is not None]
    return Reason(
        path=path,
        reason=reason,
        rows=sum(failure.rows for _, failure in members),
        versions=tuple((version, failure.rows) for version, failure in members if several),
        examples=tuple(examples[: max(len(failure.examples) for _, failure in members)]),
    )


def altered_rows(readers: Iterable[ReaderReplay]) -> tuple[tuple[FieldReplay, str], ...]:
    """Fields of which values are not as they were, and on which ways; changed values first."""
    grouped: dict[tuple[int | None, Direction, str, str], list[tuple[str, FieldReplay]]] = {}
    for reader in readers:
        for field in altered_fields(reader.fields):
            key = (reader.version, reader.direction, field.path, altered_text(field))
            grouped.setdefault(key, []).append((reader_text(reader), field))
    rows = [
        (members[0][1], ways_text((version,), direction, [name for name, _ in members]))
        for (version, direction, *_), members in grouped.items()
    ]
    return tuple(sorted(rows, key=lambda row: not row[0].changed))


def changed_rows(readers: Iterable[ReaderReplay]) -> tuple[tuple[str, ChangedExample], ...]:
    """An example of the changed values of each path and reason, at the lowest place."""
    grouped: dict[tuple[str, str], ChangedExample] = {}
    for reader in readers:
        for field in reader.fields:
            if field.example is not None:
                grouped.setdefault((field.path, field.example.reason), field.example)
    return tuple((path, example) for (path, _), example in sorted(grouped.items()))
