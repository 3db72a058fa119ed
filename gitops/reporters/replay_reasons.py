"""Why messages fail, and what becomes of fields: what is the same for several is said once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from gitops.model.replay import (
    ChangedExample,
    Direction,
    FailureExample,
    FieldReplay,
    ReaderReplay,
    ReplayFailure,
)
from gitops.reporters.replay_words import (
    STANDINGS,
    Standing,
    altered,
    altered_text,
    reader_text,
    standing_of,
    version_text,
    ways_text,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
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
    examples: tuple[Shown, ...]

    @property
    def versions_text(self) -> str:
        """`v0 55, v1 76`; empty where no version is known of any."""
        if all(each is None for each, _ in self.versions):
            return ""
        return ", ".join(f"{version_text(each)} {rows:,}" for each, rows in self.versions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Alike:
    """Readers that fail alike, with the versions of the messages; none: nobody was asked.

    `rows` are the messages that each of them was given, the failing ones among them.
    """

    readers: tuple[str, ...]
    direction: Direction
    standing: Standing
    versions: tuple[int | None, ...]
    rows: int
    reasons: tuple[Reason, ...]

    @property
    def title(self) -> str:
        """Whose data, who reads it, and whether that counts."""
        way = ways_text(self.versions, self.direction, self.readers)
        if not self.readers:
            return f"{way}: not replayed"
        each = " for each" if len(self.readers) > 1 else ""
        return f"{way}: fails{each}, {STANDINGS[self.standing]}"


def groups_of(readers: Iterable[ReaderReplay]) -> tuple[Alike, ...]:
    """Everything that fails; what counts comes first, and what was not replayed last."""
    found: dict[tuple[str, Direction, Standing], list[ReaderReplay]] = {}
    for one in readers:
        if one.failures:
            who = reader_text(one)
            found.setdefault((who, one.direction, standing_of(one)), []).append(one)
    alike: dict[object, list[str]] = {}
    parts: dict[object, list[ReaderReplay]] = {}
    for (name, direction, standing), its in found.items():
        key = (direction, standing, bool(name), tuple((o.version, o.rows, o.failures) for o in its))
        alike.setdefault(key, []).append(name)
        parts.setdefault(key, its)
    groups = [_group(tuple(filter(None, alike[key])), its) for key, its in parts.items()]
    return tuple(sorted(groups, key=lambda one: (not one.readers, one.standing)))


def _group(readers: tuple[str, ...], its: Sequence[ReaderReplay]) -> Alike:
    reasons: dict[tuple[str, str], list[tuple[int | None, ReplayFailure]]] = {}
    for one in its:
        for each in one.failures:
            reasons.setdefault((each.path, each.reason), []).append((one.version, each))
    made = [
        _reason(path, reason, of, several=len(its) > 1) for (path, reason), of in reasons.items()
    ]
    return Alike(
        readers=readers,
        direction=its[0].direction,
        standing=standing_of(its[0]),
        versions=tuple(one.version for one in its),
        rows=sum(one.rows for one in its),
        reasons=tuple(sorted(made, key=lambda one: (-one.rows, one.path, one.reason))),
    )


def _reason(
    path: str, reason: str, its: Sequence[tuple[int | None, ReplayFailure]], *, several: bool
) -> Reason:
    """As many examples as one version has, of each version in turn."""
    turns = zip_longest(
        *([Shown(version=v, example=each) for each in one.examples] for v, one in its)
    )
    examples = [each for turn in turns for each in turn if each is not None]
    return Reason(
        path=path,
        reason=reason,
        rows=sum(one.rows for _, one in its),
        versions=tuple((version, one.rows) for version, one in its if several),
        examples=tuple(examples[: max(len(one.examples) for _, one in its)]),
    )


def altered_rows(readers: Iterable[ReaderReplay]) -> tuple[tuple[FieldReplay, str], ...]:
    """Fields of which values are not as they were, and on which ways; changed values first."""
    found: dict[tuple[int | None, Direction, str, str], list[tuple[str, FieldReplay]]] = {}
    for one in readers:
        for field in altered(one.fields):
            key = (one.version, one.direction, field.path, altered_text(field))
            found.setdefault(key, []).append((reader_text(one), field))
    rows = [
        (its[0][1], ways_text((version,), direction, [name for name, _ in its]))
        for (version, direction, *_), its in found.items()
    ]
    return tuple(sorted(rows, key=lambda row: not row[0].changed))


def changed_rows(readers: Iterable[ReaderReplay]) -> tuple[tuple[str, ChangedExample], ...]:
    """An example of the changed values of each path and reason, at the lowest place."""
    found: dict[tuple[str, str], ChangedExample] = {}
    for one in readers:
        for field in one.fields:
            if field.example is not None:
                found.setdefault((field.path, field.example.reason), field.example)
    return tuple((path, example) for (path, _), example in sorted(found.items()))
