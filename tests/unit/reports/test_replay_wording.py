"""What fails alike is said once, and what counts is said first."""

from __future__ import annotations

from dataclasses import replace

from gitops.model.replay import FailureExample, FieldReplay, ReplayFailure
from gitops.reports.replay_wording import altered_rows, groups_of
from tests.support.replays import CREATED, reader


def _failure(rows: int, *where: str, path: str = "a") -> ReplayFailure:
    shown = tuple(FailureExample(each, "bad") for each in where)
    return ReplayFailure(path=path, reason="bad", rows=rows, examples=shown)


def test_versions_of_one_reader_are_one_group() -> None:
    readers = (
        reader(CREATED, 0, "proposed", 50, _failure(7, "x#1", "x#2", "x#3")),
        reader(CREATED, 1, "proposed", 50, _failure(2, "y#1"), _failure(9, path="b")),
    )
    (group,) = groups_of(readers)
    assert (group.title, group.rows) == ("v0, v1 → proposed: fails, blocks the merge", 100)
    both, other = group.reasons
    assert (both.rows, both.versions_text) == (9, "v0 7, v1 2")
    assert [(one.version, one.example.where) for one in both.examples] == [
        (0, "x#1"),
        (1, "y#1"),
        (0, "x#2"),
    ]
    assert (other.path, other.versions_text) == ("b", "v1 9")


def test_messages_of_no_known_version_are_not_counted_by_version() -> None:
    readers = (
        reader(CREATED, 0, "", 2, _failure(2), gates=False),
        reader(CREATED, None, "", 5, _failure(5, path="b"), gates=False),
    )
    (group,) = groups_of(readers)
    assert [one.versions_text for one in group.reasons] == ["", "v0 2"]


def test_readers_that_fail_alike_are_one_group() -> None:
    readers = [reader(CREATED, 0, name, 50, _failure(7, "x#1")) for name in ("audit", "v0")]
    readers.append(reader(CREATED, 0, "v1", 50, _failure(6, "x#1")))
    alike, other = groups_of(readers)
    assert alike.title == "v0 → proposed → audit, v0: fails for each, blocks the merge"
    assert alike.reasons[0].versions == ()
    assert other.title == "v0 → proposed → v1: fails, blocks the merge"


def test_what_counts_is_first_and_what_was_not_replayed_last() -> None:
    many, few = _failure(40), _failure(1)
    readers = (
        reader(CREATED, None, "", 40, many, gates=False),
        reader(CREATED, 0, "v0", 50, many, gates=False),
        replace(reader(CREATED, 0, "v1", 50, many), counted=0),
        reader(CREATED, 0, "v2", 50),
        reader(CREATED, 0, "proposed", 50, few),
    )
    assert [one.title for one in groups_of(readers)] == [
        "v0 → proposed: fails, blocks the merge",
        "v0 → proposed → v1: fails within maxFailures",
        "v0 → proposed → v0: fails, does not block the merge",
        "other messages: not replayed",
    ]


def test_fields_that_become_the_same_for_several_are_one_row() -> None:
    fields = (FieldReplay(path="a", dropped=5), FieldReplay(path="b", changed=1))
    readers = [reader(CREATED, 0, name, 50, fields=fields) for name in ("audit", "v0")]
    assert [(field.path, way) for field, way in altered_rows(readers)] == [
        ("b", "v0 → proposed → audit, v0"),
        ("a", "v0 → proposed → audit, v0"),
    ]
