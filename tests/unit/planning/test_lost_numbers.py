"""Numbers of versions that a registry would give a second time."""

from __future__ import annotations

import json
from typing import Final

import pytest

from gitops.model.policy import BrokerSettings
from gitops.model.schema import SchemaHistory, SchemaInfo, SchemaType
from gitops.planning.lost_versions import lost_numbers, lost_versions
from tests.support.states import INT64, STRING, history

_DELETED: Final = SchemaHistory(next_version=3)


@pytest.mark.parametrize(
    ("release", "lost"), [("3.0.7", set()), ("4.0.7", {0, 1, 2}), ("9.1", {0, 1, 2})]
)
def test_a_broker_that_shows_no_tombstone_may_still_have_it(release: str, lost: set[int]) -> None:
    broker = BrokerSettings(release=release)

    assert lost_numbers(_DELETED, SchemaHistory(), broker) == lost


def test_versions_that_are_gone_are_lost_on_every_broker() -> None:
    recorded, live = history(STRING, INT64), history(STRING)

    assert lost_numbers(recorded, live, BrokerSettings(release="9.1")) == {1}


def _pair(key: str, value: str, encoding: str = "INLINE") -> SchemaInfo:
    return SchemaInfo(
        type=SchemaType.KEY_VALUE,
        schema='{"key": "", "value": ""}',
        properties={
            "key.schema.type": key,
            "value.schema.type": value,
            "kv.encoding.type": encoding,
        },
    )


def _protobuf(number: int) -> SchemaInfo:
    fields = [{"number": number, "name": "a", "type": "INT64", "label": "LABEL_OPTIONAL"}]
    definition = {"type": "record", "name": "A", "fields": [{"name": "a", "type": "long"}]}
    return SchemaInfo(
        type=SchemaType.PROTOBUF,
        schema=json.dumps(definition),
        properties={"__PARSING_INFO__": json.dumps(fields)},
    )


@pytest.mark.parametrize(
    ("recorded", "live"),
    [
        (_pair("INT32", "INT64"), _pair("INT64", "INT32")),
        (_pair("INT32", "INT64"), _pair("INT32", "INT64", "SEPARATED")),
        (_protobuf(1), _protobuf(2)),
    ],
)
def test_another_schema_that_pulsar_takes_for_the_same_does_not_bring_a_version_back(
    recorded: SchemaInfo, live: SchemaInfo
) -> None:
    assert list(lost_versions(history(recorded).entries, history(live))) == [0]
    assert list(lost_versions(history(recorded).entries, history(recorded))) == []
