"""Batches are cut by topic and version, and nothing gets lost."""

from __future__ import annotations

import pyarrow
from hypothesis import given
from hypothesis import strategies as st

from gitops.replay.batches import MessageLocations, batch, groups, rows_from, texts

rows = st.lists(
    st.tuples(st.sampled_from([None, "a", "b"]), st.sampled_from([None, 0, 5, -1])), max_size=20
)


@given(rows)
def test_every_row_is_in_one_group_in_its_order(found: list[tuple[str | None, int | None]]) -> None:
    made = batch(
        pyarrow.array([b"x"] * len(found), pyarrow.binary()),
        "file",
        topic=texts(pyarrow.array([topic for topic, _ in found], pyarrow.string())),
        version=pyarrow.array([version for _, version in found], pyarrow.int64()),
    )
    seen: list[int] = []
    for topic, version, its in groups(made):
        numbers = list(range(len(found))) if its is None else its.to_pylist()
        assert {found[number] for number in numbers} == {(topic, version)}
        assert numbers == sorted(numbers)
        seen.extend(numbers)
    assert sorted(seen) == list(range(len(found)))
    assert len(list(groups(made))) == len(set(found))


def test_a_place_hashes_the_same_wherever_it_stands() -> None:
    payload = pyarrow.array([b""] * 100, pyarrow.binary())
    places = MessageLocations.of(batch(payload, "f", row=rows_from(1, 100)))
    part = MessageLocations.of(batch(payload.slice(0, 10), "f", row=rows_from(41, 10)))
    assert places.hashes()[40:50].tolist() == part.hashes().tolist()
    assert len(set(places.hashes().tolist())) == 100
    other = MessageLocations.of(batch(payload, "g", row=rows_from(1, 100)))
    assert not set(places.hashes().tolist()) & set(other.hashes().tolist())
    assert (places.where(4), part.where(0)) == ("f#5", "f#41")
