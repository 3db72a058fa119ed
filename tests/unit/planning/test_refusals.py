"""What is refused with several versions for one reason is one finding."""

from __future__ import annotations

import pytest

from gitops.broker.lines.pulsar_4_0 import PULSAR_4_0
from gitops.broker.registration import CANDIDATE, register
from gitops.model.decision import Decision, Incompatibility
from gitops.model.findings import Finding, Location
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import SchemaInfo
from gitops.planning.refusals import DefinitionLocations, findings_of
from gitops.schemas.payload import stored_history
from tests.support.states import avro, field, history, pair, record

_OLD = [avro(field("id"), *(field(f"f{n}", default="") for n in range(upto))) for upto in range(4)]
_NEW = avro(field("id"), field("house"))


def _found(
    new: SchemaInfo, *old: SchemaInfo, strategy: Strategy = Strategy.BACKWARD_TRANSITIVE
) -> tuple[Finding, ...]:
    decision = register(stored_history(history(*old)), new, strategy, PULSAR_4_0)
    assert not decision.accepted
    return _of(decision)


def _of(decision: Decision) -> tuple[Finding, ...]:
    places = DefinitionLocations(
        new=lambda pointer: Location(file="new.avsc", line=1, pointer=pointer)
    )
    return findings_of("shop/orders/created", decision, places)


def test_a_missing_default_is_one_finding_for_all_versions() -> None:
    (found,) = _found(_NEW, *_OLD)

    assert found.message == (
        "the new schema cannot read messages of v3, v2, v1, v0 at 'house': reader field 'house' "
        "(string) has no default, and the writer's record Order does not contain it"
    )
    assert found.compared == Location(file="v3")
    assert [one.compared for one in found.members] == [
        Location(file=version) for version in ("v3", "v2", "v1", "v0")
    ]


def test_its_members_are_what_they_would_be_alone() -> None:
    (group,) = _found(_NEW, *_OLD)
    (alone,) = _found(_NEW, *_OLD, strategy=Strategy.BACKWARD)

    assert alone.variants == ()
    assert group.members[0] == alone
    assert group.fingerprint == alone.fingerprint
    assert len({one.fingerprint for one in group.members}) == 4


def test_another_mismatch_at_the_same_place_is_another_cause() -> None:
    old = [avro(field("a", kind)) for kind in ("string", "bytes", "string", "string")]
    found = _found(avro(field("a", "int")), *old)

    told = "the new schema cannot read messages of "
    assert [one.message.removeprefix(told) for one in found] == [
        "v3, v2, v0 at 'a': a reader of int cannot read string",
        "v1 at 'a': a reader of int cannot read bytes",
    ]


def test_both_directions_at_one_place_are_one_cause() -> None:
    old = [avro(field("a"), *(field(f"f{n}", default="") for n in range(n))) for n in range(2)]
    (found,) = _found(avro(field("a", "int")), *old, strategy=Strategy.FULL_TRANSITIVE)

    assert found.message == (
        "v1, v0 and the new schema cannot read each other's messages at 'a': "
        "a reader of int cannot read string; a reader of string cannot read int"
    )
    assert [one.message.partition(" at ")[0] for one in found.members] == [
        "the new schema cannot read messages of v1",
        "the new schema cannot read messages of v0",
        "v1 cannot read messages of the new schema",
        "v0 cannot read messages of the new schema",
    ]


def test_a_union_that_neither_side_accepts_is_one_cause_with_the_rule_of_each_side() -> None:
    old = avro(field("a", ["null", "string"]))
    (found,) = _found(avro(field("a", "int")), old, strategy=Strategy.FULL)

    assert [one.rule for one in found.members] == ["AVRO-R001", "AVRO-R001", "AVRO-R003"]
    assert found.cause.startswith(
        "older versions and the new schema cannot read each other's messages: a reader of int"
    )


def test_directions_of_different_versions_are_different_causes() -> None:
    old = [avro(field("a", kind)) for kind in ("long", "string")]
    found = _found(avro(field("a", "int")), *old, strategy=Strategy.FULL_TRANSITIVE)

    assert [one.message.partition(" at ")[0] for one in found] == [
        "v1 and the new schema cannot read each other's messages",
        "the new schema cannot read messages of v0",
    ]


def test_the_newest_version_comes_first_in_halves_too() -> None:
    """The broker turns the list of a KEY_VALUE round."""
    old = [pair(record(name="K"), record(*(field(f"f{n}") for n in range(n)))) for n in range(1, 4)]
    (found,) = _found(pair(record(name="K"), record(field("house"))), *old)

    assert "messages of v2, v1, v0 at 'value.house'" in found.message
    assert found.compared == Location(file="v2", pointer="/value")


@pytest.mark.parametrize(
    ("versions", "text"),
    [
        ([0], "v0 cannot"),
        ([3, 2, 1, 0], "v3, v2, v1, v0 cannot"),
        ([12, 11, 10, 9, 8], "v12 to v8 cannot"),
        ([40, 39, 38, 37, 36, 9, 3, 2], "v40 to v36, v9, v3, v2 cannot"),
    ],
)
def test_a_long_run_of_versions_is_named_by_its_ends(versions: list[int], text: str) -> None:
    said = [
        Incompatibility(
            rule="AVRO-R001",
            message="odd",
            path="a",
            reader=f"v{version}",
            writer=CANDIDATE,
            reader_pointer="",
            writer_pointer="",
        )
        for version in versions
    ]
    (found,) = _of(Decision(accepted=False, incompatibilities=tuple(said)))

    assert found.message.startswith(text)
    assert [one.compared for one in found.members] == [
        Location(file=f"v{version}") for version in versions
    ]
