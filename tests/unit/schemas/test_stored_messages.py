"""Stored messages that a new schema cannot read although the broker accepts it."""

from __future__ import annotations

import pytest

from gitops.broker.lines.pulsar_4_0 import PULSAR_4_0
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.schemas.payload import to_stored, to_stored_type
from gitops.schemas.stored_messages import unread_messages
from tests.support.states import STRING, avro, field, info, pair, record

_LONG, _TEXT = record(field("a", "long")), record(field("a"))
_WIDER = record(field("a", "long"), field("b"))


def _unread(strategy: Strategy, *infos: SchemaInfo) -> list[tuple[int, str, str]]:
    """Version, path and message of each remark about the last of the schemas."""
    *versions, new = (to_stored_type(to_stored(one)) for one in infos)
    remarks = unread_messages(PULSAR_4_0.types, list(enumerate(versions)), new, strategy)
    return [(version, remark.path, remark.message) for version, remark in remarks]


@pytest.mark.parametrize(
    ("strategy", "versions"),
    [
        (Strategy.FORWARD, [1]),
        (Strategy.FORWARD_TRANSITIVE, [1]),
        (Strategy.BACKWARD, [0]),
        (Strategy.FULL, [0]),
        (Strategy.BACKWARD_TRANSITIVE, []),
        (Strategy.FULL_TRANSITIVE, []),
        (Strategy.ALWAYS_COMPATIBLE, []),  # kinds of event are compared elsewhere
    ],
)
def test_what_a_strategy_does_not_compare_is_compared_here(
    strategy: Strategy, versions: list[int]
) -> None:
    """Each place once, with the newest version that it concerns."""
    found = _unread(strategy, info(_LONG), info(_LONG), info(_WIDER))

    assert [(version, path) for version, path, _ in found] == [(one, "b") for one in versions]


def test_what_the_latest_version_cannot_read_either_was_reported_before() -> None:
    assert not _unread(Strategy.FORWARD, info(_TEXT), info(_LONG), info(_LONG))


def test_halves_of_a_pair_are_compared() -> None:
    ((version, path, _),) = _unread(Strategy.FORWARD, pair(_LONG, _LONG), pair(_LONG, _WIDER))

    assert (version, path) == (0, "value.b")


def test_a_half_of_another_type_is_read_by_nobody() -> None:
    ((version, _, message),) = _unread(
        Strategy.ALWAYS_COMPATIBLE, pair(_LONG, _LONG), pair(_LONG, _WIDER, value_type="JSON")
    )

    assert version == 0
    assert message == (
        "the value changes from AVRO to JSON: consumers with the new schema cannot read messages "
        "of v0, nor those with v0 new messages"
    )
    same = pair(_LONG, _LONG, value_type="JSON")
    assert not _unread(Strategy.ALWAYS_COMPATIBLE, pair(_LONG, _LONG), same)  # KV-W002
    to_bytes = pair(_LONG, "", value_type="BYTES")
    assert not _unread(Strategy.ALWAYS_COMPATIBLE, pair(_LONG, _LONG), to_bytes)


def test_halves_of_json_are_compared() -> None:
    narrow = record(field("a", "int"))
    before, after = (pair(one, _LONG, "JSON") for one in (_LONG, narrow))

    ((version, path, message),) = _unread(Strategy.FORWARD, before, after)

    assert (version, path) == (0, "key.a")
    assert "may fail on or misread messages of v0: long is read as int" in message


def test_json_is_compared_by_what_clients_take() -> None:
    """A field that messages lack harms nobody; another type may."""
    json, narrow = info(_LONG, SchemaType.JSON), record(field("a", "int"))

    ((version, path, message),) = _unread(Strategy.FORWARD, json, info(narrow, SchemaType.JSON))

    assert (version, path) == (0, "a")
    assert message == (
        "consumers with the new schema may fail on or misread messages of v0: long is read as int "
        "(not every long fits)"
    )
    assert not _unread(Strategy.FORWARD, json, info(_WIDER, SchemaType.JSON))
    without = info(record(), SchemaType.JSON)
    items = info(record(field("a", {"type": "array", "items": "int"})), SchemaType.JSON)
    ((version, _, message),) = _unread(Strategy.BACKWARD, json, without, items)
    assert version == 0
    assert "cannot read messages of v0: a reader of array of int cannot read long" in message


def test_a_type_that_the_topic_did_not_have_reads_nothing_that_is_stored() -> None:
    json, text = info(_LONG, SchemaType.JSON), avro(field("a", "long"))

    ((version, _, message),) = _unread(Strategy.ALWAYS_COMPATIBLE, STRING, json, text)

    assert version == 1
    assert message == (
        "the type changes from JSON to AVRO: consumers with the new schema cannot read messages "
        "of v1, nor those with v1 new messages"
    )
    assert not _unread(Strategy.ALWAYS_COMPATIBLE, text, json, text)
    assert not _unread(Strategy.ALWAYS_COMPATIBLE, text)
