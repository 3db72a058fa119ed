"""Where readers of the same messages differ: null rates, union branches and enum symbols.

What all readers get alike is not told: it is a fact about the data, not about the change.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gitops.model.replay import FieldReplay, ReaderReplay
from gitops.reports.replay_wording import way_text

DEFAULT: Final = "(default)"
"""Stands for values that a reader filled in, beside the names of branches and symbols."""

_DEVIATIONS: Final = 4
"""A forward reader gets a sample: so many standard deviations of a share are chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """How often the readers of these ways get which name."""

    ways: tuple[str, ...]
    counts: Mapping[str, int]

    @property
    def whole(self) -> int:
        """All values."""
        return sum(self.counts.values())

    def share(self, name: str) -> float:
        """That of one name, from 0 to 1."""
        return self.counts.get(name, 0) / self.whole


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldDifference:
    """One field of the messages of one version; the first of `shares` is nearest to the data.

    `what` is `nulls`, `branches` or `symbols`; `names` are sorted by how much they differ.
    """

    path: str
    version: int | None
    what: str
    shares: tuple[Shares, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """All that any reader gets."""
        names = {name for share in self.shares for name in share.counts}
        return tuple(sorted(names, key=lambda name: (-self._spread(name), name)))

    @property
    def spread(self) -> float:
        """The largest difference of a share."""
        return max(map(self._spread, self.names))

    def _spread(self, name: str) -> float:
        shares = [share.share(name) for share in self.shares]
        return max(shares) - min(shares)


def field_differences(readers: Iterable[ReaderReplay]) -> tuple[FieldDifference, ...]:
    """Of all fields that not all readers of the same messages get alike, the largest first."""
    by_version: dict[int | None, list[ReaderReplay]] = {}
    for reader in readers:
        by_version.setdefault(reader.version, []).append(reader)
    items = [
        field_difference
        for version, members in by_version.items()
        for field_difference in _of_version(version, members)
    ]
    return tuple(sorted(items, key=lambda field_difference: -field_difference.spread))


def _of_version(version: int | None, readers: Sequence[ReaderReplay]) -> Iterator[FieldDifference]:
    by_path: dict[str, list[tuple[str, FieldReplay]]] = {}
    for reader in readers:
        for field in reader.fields:
            by_path.setdefault(field.path, []).append((way_text(reader), field))
    for path, members in sorted(by_path.items()):
        for what in _kinds(field for _, field in members):
            shares = _distinct((way, _counts(field, what)) for way, field in members if field.read)
            if len(shares) > 1:
                yield FieldDifference(path=path, version=version, what=what, shares=shares)


def _kinds(fields: Iterable[FieldReplay]) -> tuple[str, ...]:
    """A union tells its nulls as a branch."""
    fields = tuple(fields)
    named = tuple(what for what in ("branches", "symbols") if any(getattr(f, what) for f in fields))
    return named if "branches" in named else ("nulls", *named)


def _counts(field: FieldReplay, what: str) -> dict[str, int]:
    if what == "nulls":
        counts = {"null": field.nulls, "(value)": field.read - field.nulls}
    else:
        counts = dict(getattr(field, what))
    return {
        name: number for name, number in (*counts.items(), (DEFAULT, field.defaulted)) if number
    }


def _distinct(texts: Iterable[tuple[str, Mapping[str, int]]]) -> tuple[Shares, ...]:
    """Those that get the same are one."""
    distinct: list[Shares] = []
    for way, counts in texts:
        new = Shares(ways=(way,), counts=counts)
        if not new.whole:
            continue
        for at, known in enumerate(distinct):
            if are_alike(known, new):
                distinct[at] = Shares(ways=(*known.ways, way), counts=known.counts)
                break
        else:
            distinct.append(new)
    return tuple(distinct)


def are_alike(left: Shares, right: Shares) -> bool:
    """Of as many values exactly; of a sample, as far as chance explains it."""
    if left.whole == right.whole:
        return left.counts == right.counts
    names = left.counts.keys() | right.counts.keys()
    return all(_is_chance(left, right, name) for name in names)


def _is_chance(left: Shares, right: Shares, name: str) -> bool:
    both = left.whole + right.whole
    share = (left.counts.get(name, 0) + right.counts.get(name, 0)) / both
    deviation = math.sqrt(share * (1 - share) * (1 / left.whole + 1 / right.whole))
    return abs(left.share(name) - right.share(name)) <= _DEVIATIONS * deviation
