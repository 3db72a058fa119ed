"""Where readers of the same messages differ."""

from __future__ import annotations

from gitops.model.replay import FieldReplay, ReaderReplay
from gitops.reports.replay_differences import DEFAULT, FieldDifference, field_differences
from tests.support.replays import CREATED, reader


def _of(field: FieldReplay, name: str, version: int = 0) -> ReaderReplay:
    return reader(CREATED, version, name, field.read, fields=(field,))


def _found(*readers: ReaderReplay) -> tuple[FieldDifference, ...]:
    return field_differences(readers)


def test_equal_counts_are_no_difference() -> None:
    field = FieldReplay(path="a", read=10, nulls=3, symbols={"A": 7})
    assert _found(_of(field, "proposed"), _of(field, "v0")) == ()


def test_a_sample_differs_by_chance() -> None:
    whole = FieldReplay(path="a", read=50_000, nulls=20_000)
    sample = FieldReplay(path="a", read=2_000, nulls=830)
    assert _found(_of(whole, "proposed"), _of(sample, "v0")) == ()


def test_of_a_sample_what_chance_does_not_explain() -> None:
    whole = FieldReplay(path="a", read=50_000, nulls=20_000)
    sample = FieldReplay(path="a", read=2_000, nulls=0)
    (found,) = _found(_of(whole, "proposed"), _of(sample, "v0"))
    assert (found.path, found.version, found.what) == ("a", 0, "nulls")
    assert [one.ways for one in found.shares] == [("v0 → proposed",), ("v0 → proposed → v0",)]
    assert found.spread == 0.4


def test_one_of_as_many_values_is_a_difference() -> None:
    one = FieldReplay(path="a", read=10, nulls=3)
    other = FieldReplay(path="a", read=10, nulls=2)
    assert len(_found(_of(one, "proposed"), _of(other, "v0"))) == 1


def test_other_data_is_no_other_reader() -> None:
    one = FieldReplay(path="a", read=10, nulls=3)
    other = FieldReplay(path="a", read=10, nulls=9)
    assert _found(_of(one, "proposed", 0), _of(other, "proposed", 1)) == ()


def test_readers_that_get_the_same_are_one_series() -> None:
    old = FieldReplay(path="a", read=10, branches={"null": 4, "string": 6}, nulls=4)
    new = FieldReplay(path="a", read=6, branches={"string": 6}, defaulted=4)
    (found,) = _found(_of(old, "proposed"), _of(new, "v0"), _of(new, "billing"))
    assert found.what == "branches"
    assert [len(one.ways) for one in found.shares] == [1, 2]
    assert found.names == (DEFAULT, "null", "string")
    assert found.shares[1].share(DEFAULT) == 0.4


def test_who_does_not_have_the_field_is_no_series() -> None:
    old = FieldReplay(path="a", read=10, nulls=4)
    gone = FieldReplay(path="a", dropped=10)
    assert _found(_of(old, "proposed"), _of(gone, "v0")) == ()


def test_the_largest_difference_is_first() -> None:
    def fields(a: int, b: int) -> tuple[FieldReplay, ...]:
        return (
            FieldReplay(path="a", read=10, symbols={"A": a, "B": 10 - a}),
            FieldReplay(path="b", read=10, symbols={"A": b, "B": 10 - b}),
        )

    found = _found(
        reader(CREATED, 0, "proposed", 10, fields=fields(5, 10)),
        reader(CREATED, 0, "v0", 10, fields=fields(4, 0)),
    )
    assert [one.path for one in found] == ["b", "a"]
