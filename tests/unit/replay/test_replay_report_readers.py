"""From tallies to readers: merged over samples, sorted, the same whatever came first."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from gitops.model.replay import ChangedExample
from gitops.replay.counts import ChangedValue, Counts, Example, FailedRows, Key, Tally, failures
from gitops.replay.replay_report import drop_repeated_failures, reader_replays

TOPIC = "shop/orders/created"


def failed(
    reason: str, rows: int, *examples: tuple[str, str, str | None], path: str = ""
) -> FailedRows:
    return FailedRows(
        path=path, reason=reason, rows=rows, examples=[Example(*one) for one in examples]
    )


def test_the_samples_of_a_topic_are_one() -> None:
    parts = {
        Key(TOPIC, 0, "proposed", sample=0): Tally(
            rows=10,
            failed=1,
            failures=[failed("cut", 1, ("b#1", "cut", None))],
            fields={"a": Counts(read=9, nulls=2, symbols={"X": 9})},
        ),
        Key(TOPIC, 0, "proposed", sample=1): Tally(
            rows=5,
            failed=2,
            failures=[failed("cut", 2, ("a#1", "cut", None))],
            fields={"a": Counts(read=3, symbols={"Y": 1, "X": 2}), "b": Counts(defaulted=3)},
        ),
    }
    (one,) = reader_replays((), parts, examples=5)
    assert (one.rows, one.failed) == (15, 3)
    (failure,) = one.failures
    assert (failure.rows, [each.where for each in failure.examples]) == (3, ["a#1", "b#1"])
    assert [(each.path, each.read, each.defaulted) for each in one.fields] == [
        ("a", 12, 0),
        ("b", 0, 3),
    ]
    assert dict(one.fields[0].symbols) == {"X": 11, "Y": 1}


def test_the_changed_value_of_the_lowest_place_is_shown() -> None:
    def changed(file: str, row: int) -> Tally:
        its = ChangedValue(file, row, b"", "rounded", "1", "2")
        return Tally(rows=1, fields={"a": Counts(read=1, changed=1, example=its)})

    parts = {
        Key(TOPIC, 0, "proposed", sample=number): changed(*place)
        for number, place in enumerate([("b", 1), ("a", 10), ("a", 9)])
    }
    (one,) = reader_replays((), parts, examples=5)
    (field,) = one.fields
    assert field.changed == 3
    assert field.example == ChangedExample(where="a#9", reason="rounded", before="1", after="2")


def test_the_order_is_that_of_a_report() -> None:
    keys = [
        Key(TOPIC, 0, "proposed"),
        Key(TOPIC, 2, "proposed"),
        Key(TOPIC, 10, "proposed"),
        Key(TOPIC, 0, "billing", "forward"),
        Key(TOPIC, 0, "v0", "forward"),
        Key(TOPIC, 7, ""),
        Key(TOPIC, None, ""),
    ]
    mixed = list(keys)
    random.Random(0).shuffle(mixed)  # noqa: S311
    found = reader_replays((), {key: Tally(rows=1) for key in mixed}, examples=5)
    assert [(one.version, one.reader) for one in found] == [
        (key.version, key.reader) for key in keys
    ]


def test_reasons_come_by_how_many_fail_and_examples_by_place() -> None:
    parts = [
        failed("b", 2, ("z", "m", None), ("y", "m", "1")),
        failed("a", 2),
        failed("c", 9, path="x"),
        failed("b", 1, ("x", "m", None)),
    ]
    found = failures(parts, examples=2)
    assert [(one.reason, one.rows) for one in found] == [("c", 9), ("b", 3), ("a", 2)]
    assert [each.where for each in found[1].examples] == ["x", "y"]


@given(st.permutations(range(12)), st.randoms())
def test_the_split_and_the_order_of_parts_do_not_count(
    order: list[int], chance: random.Random
) -> None:
    rows = [(f"f#{number}", f"reason {number % 3}") for number in range(12)]
    parts: list[FailedRows] = []
    current: list[FailedRows] = []
    for number in order:
        where, reason = rows[number]
        current.append(failed(reason, 1, (where, reason, None)))
        if chance.random() < 0.3:
            parts += failures_of(current)
            current = []
    parts += failures_of(current)
    assert failures(parts, 3) == failures([failed(r, 1, (w, r, None)) for w, r in rows], 3)


def failures_of(parts: list[FailedRows]) -> list[FailedRows]:
    """As a worker merges them: the examples that sort lowest, as many as are shown."""
    return [
        failed(one.reason, one.rows, *((e.where, e.message, e.value) for e in one.examples))
        for one in failures(parts, 3)
    ]


def test_what_cannot_be_read_is_not_said_again_of_what_cannot_be_written() -> None:
    aside = Key(TOPIC, 0, "", "forward")
    bad, odd = failed("bad", 3), failed("too long", 1)
    tallies = {
        Key(TOPIC, 0, "proposed"): Tally(rows=9, failed=3, failures=[bad]),
        aside: Tally(rows=4, failed=4, failures=[bad, odd]),
        Key(TOPIC, 1, "", "forward"): Tally(rows=3, failed=3, failures=[bad]),
        Key(TOPIC, None, ""): Tally(rows=3, failed=3, failures=[bad]),
    }
    found = drop_repeated_failures(tallies)
    assert found.keys() == tallies.keys()
    assert (found[aside].rows, found[aside].failures) == (1, [odd])
    tallies[aside] = Tally(rows=3, failed=3, failures=[bad])
    assert aside not in drop_repeated_failures(tallies)
