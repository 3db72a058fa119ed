"""The new schema that an audit asks about: every strategy accepts it after the latest."""

from __future__ import annotations

import json

import pytest

from gitops.audit.evolution import evolved_schema
from gitops.broker.lines.line import BrokerLine
from gitops.broker.lines.table import LINES
from gitops.broker.registration import register_sent
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.schemas.payload import to_stored
from tests.support.audits import Definition, audited, record
from tests.support.protos import order
from tests.support.states import field

PAIR = SchemaInfo(
    type=SchemaType.KEY_VALUE,
    schema=json.dumps({"key": "", "value": json.loads(record(field("b")))}),
    properties={
        "key.schema.type": "STRING",
        "value.schema.type": "AVRO",
        "kv.encoding.type": "INLINE",
    },
)


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
@pytest.mark.parametrize(
    "definition",
    [record(), record(field("b")), ("JSON", record()), PAIR, order("string b = 1;")],
    ids=["empty", "avro", "json", "key-value", "native"],
)
def test_every_strategy_accepts_it(line: BrokerLine, definition: Definition) -> None:
    for strategy in (Strategy.FULL_TRANSITIVE, Strategy.BACKWARD, Strategy.FORWARD):
        topic = audited(line.name, definition, strategy=strategy)
        new = evolved_schema(topic.latest)
        assert new is not None
        assert new.data != topic.latest.data
        decision = register_sent(topic.history, new, strategy, topic.line)
        assert (decision.accepted, decision.version) == (True, 1), decision.reason


@pytest.mark.parametrize(
    "definition",
    [
        ("STRING", ""),
        ("AVRO", '{"type": "enum", "name": "A", "symbols": []}'),
        ("AVRO", '{"type": "record", "name": "A", "x": 1e400, "fields": []}'),
        ("AVRO", '{"type": "record", "name": "A", "x": NaN, "fields": []}'),
        ("AVRO", "not JSON"),
        ("PROTOBUF_NATIVE", "{}"),
        ("PROTOBUF_NATIVE", '{"fileDescriptorSet": "A"}'),
    ],
)
def test_some_schemas_have_none(definition: tuple[str, str]) -> None:
    kind, text = definition
    stored = to_stored(SchemaInfo(type=SchemaType(kind), schema=text))

    assert evolved_schema(stored) is None
