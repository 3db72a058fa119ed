"""How numbers and dates are distributed, where readers differ and where they do not."""

from __future__ import annotations

import pytest

from gitops.model.replay import Distribution, FieldReplay, ReaderReplay
from gitops.reports.replay_distributions import bars_of, field_distributions, value_text
from tests.support.replays import CREATED, reader


def _distribution(unit: str, width: float, *bins: tuple[float, int]) -> Distribution:
    return Distribution(unit=unit, width=width, bins=bins, least=bins[0][0], most=bins[-1][0])


def _reader(name: str, *distributions: Distribution) -> ReaderReplay:
    field = FieldReplay(path="v", read=10, distributions=distributions)
    return reader(CREATED, 0, name, 10, fields=(field,))


def test_readers_that_get_the_same_are_one() -> None:
    same = _distribution("integer", 1, (1, 5), (3, 5))
    (found,) = field_distributions((_reader("proposed", same), _reader("v0", same)))
    assert not found.differs
    assert [one.ways for one in found.series] == [("v0 → proposed", "v0 → proposed → v0")]


def test_whole_numbers_are_the_same_as_fractions() -> None:
    whole = _distribution("integer", 1, (1, 5), (3, 5))
    fractions = _distribution("number", 0.25, (1.0, 5), (3.0, 5))
    (found,) = field_distributions((_reader("proposed", fractions), _reader("v0", whole)))
    assert not found.differs


def test_large_numbers_are_told_apart() -> None:
    one = _distribution("integer", 1, (2**62, 5))
    other = _distribution("integer", 1, (2**62 + 1, 5))
    (found,) = field_distributions((_reader("proposed", one), _reader("v0", other)))
    assert found.differs
    assert bars_of(found.series, 10, 4) == (((0, 5, 4),), ((5, 5, 4),))


@pytest.mark.parametrize(("first", "differs"), [(510, False), (900, True)])
def test_a_sample_differs_only_beyond_chance(first: int, differs: bool) -> None:  # noqa: FBT001
    every = _distribution("integer", 1, (1, 5_000), (3, 5_000))
    sample = _distribution("integer", 1, (1, first), (3, 1_000 - first))
    (found,) = field_distributions((_reader("proposed", every), _reader("v0", sample)))
    assert found.differs is differs


def test_numbers_of_two_branches_stay_apart() -> None:
    both = _distribution("integer", 1, (1, 5)), _distribution("number", 0.5, (1.0, 5))
    found = field_distributions((_reader("proposed", *both), _reader("v0", *both)))
    assert [one.differs for one in found] == [False, False]


def test_dates_and_numbers_have_no_axis_in_common() -> None:
    one, other = _distribution("timestamp", 1, (1, 5)), _distribution("integer", 1, (1, 5))
    found = field_distributions((_reader("proposed", one), _reader("v0", other)))
    assert [len(each.series) for each in found] == [1, 1]


@pytest.mark.parametrize("far", [1.0, 1.7e308])
def test_bars_are_on_one_axis(far: float) -> None:
    low = _distribution("number", far / 4, (-far, 1))
    high = _distribution("number", far / 4, (0.0, 1), (far / 4 * 3, 1_000))
    (found,) = field_distributions((_reader("proposed", low), _reader("v0", high)))
    assert bars_of(found.series, 80, 40) == (((0, 10, 40),), ((40, 10, 1), (70, 10, 40)))


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1_234, "integer", "1,234"),
        (1234.5, "number", "1,234.5"),
        (1e-9, "number", "1e-09"),
        (2, "date", "1970-01-03"),
        (10**9, "date", "day 1,000,000,000"),
        (1_500, "timestamp", "1970-01-01T00:00:01.500Z"),
        (1_000.0, "local-timestamp", "1970-01-01T00:00:01"),
        (-(2**62), "timestamp", "-4,611,686,018,427,387,904 ms"),
        (61_000, "time", "00:01:01"),
        (-5, "time", "-5 ms"),
    ],
)
def test_values_are_written_as_people_do(value: float, unit: str, text: str) -> None:
    assert value_text(value, unit) == text
