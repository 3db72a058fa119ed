"""What each line change breaks for a topic, row by row as brokers of these lines were seen to do.

The rows are disks of a broker of one line that one of another opened. `p`, `c`, `r`, `t` are a
producer, a consumer, an upload and a compatibility test with the schema of the version behind, and
with a new one where there is no version.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import pytest

from gitops.audit.operations import answers, candidates
from gitops.model.audit import Operation
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import SchemaEntry, SchemaHistory, SchemaInfo, SchemaType
from gitops.schemas.payload import stored_history
from tests.support.audits import GOOD, audit_of, audited, changes, record

NAMESPACE: Final = record(namespace="com.my-co")
OLD_NAMESPACE: Final = record(namespace="a-b")
NUMBER: Final = record(limit=9223372036854775808)
REFERENCE: Final = (
    '{"type": "record", "name": "A", "fields": ['
    '{"name": "b", "type": {"type": "record", "name": "B", "fields": []}},'
    '{"name": "c", "type": ".B"}]}'
)
UNION: Final = '["null", {"type": "record", "name": "A", "fields": []}]'
DEFAULT: Final = (
    '{"type": "record", "name": "A", "fields": ['
    '{"name": "b", "type": ["int", "null"], "default": null}]}'
)
JACKSON: Final = ("JSON", '{"type": "object"}')

UPGRADES: Final = (("3.0", "4.0"), ("4.0", "4.2"), ("4.0", "5.0"), ("4.2", "4.0"))


@pytest.mark.parametrize(("present", "target"), UPGRADES)
def test_plain(present: str, target: str) -> None:
    assert changes(audited(present, GOOD, record(note=1)), target) == {}


@pytest.mark.parametrize("target", ["4.2", "5.0"])
@pytest.mark.parametrize("definition", [NAMESPACE, NUMBER, REFERENCE])
def test_latest_that_avro_1_12_refuses(definition: str, target: str) -> None:
    """Only a consumer with the same bytes, and reading, go on."""
    found = changes(audited("4.0", definition), target)

    assert found == {
        "p0": 422, "r0": 422, "t0": 500,
        "p": 422, "r": 422, "t": 500, "c": 500 if definition in (NUMBER, REFERENCE) else 409,
    }  # fmt: skip


@pytest.mark.parametrize("target", ["4.2", "5.0"])
def test_older_version_that_avro_1_12_refuses(target: str) -> None:
    """Every registration fails on it; consumers of the latest version, new ones too, go on."""
    found = changes(audited("4.0", OLD_NAMESPACE, GOOD), target)

    assert found == {
        "p0": 422, "r0": 422, "t0": 500, "c0": 409,
        "p1": 500, "r1": 500,
        "p": 500, "r": 500,
    }  # fmt: skip


@pytest.mark.parametrize("target", ["4.2", "5.0"])
def test_old_form_of_json(target: str) -> None:
    """Producers and uploads are refused by 4.0 too; a consumer with Avro was let in there."""
    assert changes(audited("4.0", JACKSON), target) == {"t0": 500, "c": 409, "t": 500}


def test_top_level_union() -> None:
    assert changes(audited("3.0", UNION), "4.0") == {
        "p0": 422, "r0": 422, "t0": 500,
        "p": 422, "r": 422, "t": 500,
    }  # fmt: skip
    assert changes(audited("4.0", UNION), "4.2") == {}


@pytest.mark.parametrize("target", ["4.2", "5.0"])
def test_default_of_another_branch(target: str) -> None:
    """The topic is free again, and blocked after the way back."""
    free = {"p0": 200, "r0": 200, "p": 200, "r": 200}

    assert changes(audited("4.0", DEFAULT), target) == free
    assert changes(audited("4.2", DEFAULT), "4.0") == dict.fromkeys(free, 500)


@pytest.mark.parametrize("definition", [NAMESPACE, NUMBER, REFERENCE, OLD_NAMESPACE, UNION])
def test_from_3_0_to_4_0_only_unions_differ(definition: str) -> None:
    assert bool(changes(audited("3.0", definition), "4.0")) is (definition == UNION)


def test_external_on_the_way_back() -> None:
    """A line that does not know the type cannot read the history at all."""
    found = changes(audited("4.2", ("EXTERNAL", "x")), "4.0")

    assert found == dict.fromkeys(("p0", "c0", "r0", "t0", "g0"), 500)


def test_external_half_on_the_way_back() -> None:
    """Such a pair is of a known type, but it can be neither shown nor compared."""
    halves = {"key.schema.type": "STRING", "value.schema.type": "EXTERNAL"}
    pair = SchemaInfo(
        type=SchemaType.KEY_VALUE, schema='{"key": "", "value": "x"}', properties=halves
    )

    found = changes(audited("4.2", pair), "4.0")

    assert found == dict.fromkeys(("p0", "r0", "t0", "g0"), 500)


def test_older_external_on_the_way_back() -> None:
    """The latest version is enough for consumers and tests; others it shows only without number."""
    found = changes(audited("4.2", ("EXTERNAL", "x"), GOOD, strategy=Strategy.FULL), "4.0")

    refused = ("p1", "r1", "g1", "p", "r")
    assert {each for each in found if not each.endswith("0")} == set(refused)


def test_external_under_always_compatible_on_the_way_back() -> None:
    """A compatibility test alone passes: nothing of the history is read for it."""
    stored = audited("4.2", GOOD, ("EXTERNAL", "x"), strategy=Strategy.ALWAYS_COMPATIBLE)

    found = changes(stored, "4.0")

    assert found == dict.fromkeys(("p0", "c0", "r0", "g0", "p1", "c1", "r1", "t1", "g1"), 500)


@pytest.mark.parametrize(
    ("definition", "present", "target", "is_forced"),
    [(("EXTERNAL", "x"), "4.2", "4.0", True), (NAMESPACE, "4.0", "4.2", False)],
)
def test_only_what_a_store_cannot_read_is_forgotten_whole(
    definition: tuple[str, str] | str, present: str, target: str, *, is_forced: bool
) -> None:
    """Pulsar 4.0.7 answers 500 to every registration behind the tombstone of an EXTERNAL."""
    report = audit_of({"a": (definition,)}, present=present, target=target)

    (found,) = (one for one in report.findings if one.rule == "AUDIT-U001")
    assert ("with --force (a tombstone is not enough)" in found.hint) is is_forced
    assert ("of the type EXTERNAL with --force" in report.steps[0]) is is_forced


def test_an_empty_half_that_nobody_reads_comes_back_as_null() -> None:
    """Its producer goes on; the null that is shown is another schema to an upload (4.2.4)."""
    halves = {"key.schema.type": "EXTERNAL", "value.schema.type": "STRING"}
    shown = SchemaInfo(
        type=SchemaType.KEY_VALUE, schema='{"key": null, "value": ""}', properties=halves
    )
    history = stored_history(
        SchemaHistory(entries=(SchemaEntry(version=0, info=shown),), next_version=1)
    )
    topic = replace(audited("4.2", GOOD), history=history)

    (asked,) = candidates(topic)
    decided = answers(topic, topic.line, (asked,))

    assert decided[Operation.PRODUCE, 0].known
    assert not decided[Operation.REGISTER, 0].known
