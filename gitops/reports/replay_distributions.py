"""How the numbers and dates of a topic are distributed, for the readers of the same messages."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from gitops.model.replay import Distribution, FieldReplay, ReaderReplay
from gitops.reports.replay_differences import Shares, are_alike
from gitops.reports.replay_wording import way_text

_NUMBERS: Final = frozenset({"integer", "number"})
_DAY: Final = 86_400_000
"""Milliseconds."""
_EPOCH: Final = datetime.datetime(1970, 1, 1)  # noqa: DTZ001 - only its text is used


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """What the readers of these ways get alike."""

    ways: tuple[str, ...]
    distribution: Distribution

    @property
    def values(self) -> int:
        """How many lie in bins."""
        return sum(count for _, count in self.distribution.bins)


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldDistribution:
    """One field of the messages of one version; the first of `series` is nearest to the data.

    All series are of one kind, so that they have an axis in common: numbers, or times of one unit.
    """

    path: str
    version: int | None
    series: tuple[Series, ...]

    @property
    def differs(self) -> bool:
        """Whether readers do not get the same."""
        return len(self.series) > 1


def field_distributions(readers: Iterable[ReaderReplay]) -> tuple[FieldDistribution, ...]:
    """Those of all fields, first where readers differ."""
    grouped: dict[tuple[int | None, str], list[tuple[str, FieldReplay]]] = {}
    for reader in readers:
        for field in reader.fields:
            grouped.setdefault((reader.version, field.path), []).append((way_text(reader), field))
    made = [
        FieldDistribution(path=path, version=version, series=tuple(series))
        for (version, path), members in grouped.items()
        for series in _by_kind(members)
    ]
    return tuple(sorted(made, key=lambda distribution: not distribution.differs))


def _by_kind(fields: Sequence[tuple[str, FieldReplay]]) -> Iterable[list[Series]]:
    """The series of each unit; integers and other numbers apart where one reader gets both."""
    units = ({item.unit for item in field.distributions} for _, field in fields)
    apart = any(unit >= _NUMBERS for unit in units)
    kinds: dict[str, list[Series]] = {}
    for way, field in fields:
        for distribution in field.distributions:
            if distribution.bins:
                kind = (
                    "number" if distribution.unit in _NUMBERS and not apart else distribution.unit
                )
                _add(kinds.setdefault(kind, []), way, distribution)
    return kinds.values()


def _add(series: list[Series], way: str, distribution: Distribution) -> None:
    for at, known in enumerate(series):
        if _are_alike(known.distribution, distribution):
            series[at] = Series(ways=(*known.ways, way), distribution=known.distribution)
            return
    series.append(Series(ways=(way,), distribution=distribution))


def _are_alike(left: Distribution, right: Distribution) -> bool:
    """Also where one has narrower bins: of fractions, or of the few values of a sample."""
    width = max(left.width, right.width)
    return are_alike(_shares(left, width), _shares(right, width))


def _shares(distribution: Distribution, width: float) -> Shares:
    """By the number of the bin of that width."""
    counts: Counter[str] = Counter()
    for start, count in distribution.bins:
        counts[str(int(start // width))] += count
    return Shares(ways=(), counts=counts)


def value_text(value: float, unit: str) -> str:
    """A number, a date or a time as a person writes it."""
    match unit:
        case "date":
            return _moment(value * _DAY)[: len("1970-01-01")] or f"day {value:,.0f}"
        case "timestamp" | "local-timestamp":
            text = _moment(value)
            return f"{text}{'Z' * (unit == 'timestamp')}" if text else f"{value:,.0f} ms"
        case "time":
            text = _moment(value).partition("T")[2]
            return text if 0 <= value < _DAY else f"{value:,.0f} ms"
        case _:
            return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"


def _moment(milliseconds: float) -> str:
    """Empty for a year that has not four digits."""
    try:
        result = _EPOCH + datetime.timedelta(milliseconds=milliseconds)
    except OverflowError:
        return ""
    return result.isoformat(timespec="milliseconds").removesuffix(".000")


Bar = tuple[int, int, int]
"""Where it begins, how wide and how high it is."""


def bars_of(series: Sequence[Series], width: int, height: int) -> tuple[tuple[Bar, ...], ...]:
    """Those of each series, on one axis from the least to the greatest of all of them.

    The highest bar of a series is `height`; what is there at all is to be seen.
    """
    every = [series.distribution for series in series]
    start = min(distribution.bins[0][0] for distribution in every)
    length = max(
        _length(start, distribution.bins[-1][0]) + distribution.width / 4 for distribution in every
    )

    def bars(distribution: Distribution) -> Iterator[Bar]:
        most = max(count for _, count in distribution.bins)
        for begin, count in distribution.bins:
            left = round(width * (_length(start, begin) / length)) if length else 0
            wide = round(width * (distribution.width / 4 / length)) if length else width
            yield left, max(1, wide), max(1, round(height * count / most))

    return tuple(tuple(bars(distribution)) for distribution in every)


def _length(start: float, end: float) -> float:
    """A quarter of it: the whole may be beyond a double, or more than its digits."""
    if isinstance(start, int) and isinstance(end, int):
        return (end - start) / 4
    return end / 4 - start / 4
