"""What our own rules say beside the broker, where a folder of cases does not do."""

from __future__ import annotations

import json

import pytest

from gitops.broker.lines.pulsar_4_0 import PULSAR_4_0
from gitops.model.decision import StoredSchema
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.schemas.payload import to_stored
from gitops.schemas.review import accepted_mistakes, changes_of, poison_of
from tests.support.states import avro, field, record

_ENUM = {"type": "enum", "name": "E", "symbols": ["A", "B"]}
_LESS = {**_ENUM, "symbols": ["A"]}

_TYPES = PULSAR_4_0.types


def _avro(*fields: object, kind: SchemaType = SchemaType.AVRO) -> StoredSchema:
    return StoredSchema(type=kind, data=json.dumps(record(*fields)).encode())


def _rules(old: StoredSchema, new: StoredSchema, strategy: Strategy = Strategy.FULL) -> list[str]:
    return [remark.rule for remark in changes_of(_TYPES, old, new, strategy)]


def test_every_field_with_the_same_change_is_named() -> None:
    old = _avro(field("a", "long"), field("b", "long"), field("c", _ENUM), field("d", "E"))
    new = _avro(field("a", "double"), field("b", "double"), field("c", _LESS), field("d", "E"))

    remarks = changes_of(_TYPES, old, new, Strategy.BACKWARD)

    assert [(one.rule, one.path) for one in remarks] == [
        ("AVRO-W008", "a"),
        ("AVRO-W008", "b"),
        ("AVRO-W001", "c"),
    ]


def test_a_recursive_record_ends() -> None:
    loop = ["null", "Order"]
    old = _avro(field("next", loop), field("e", _ENUM))
    new = _avro(field("next", loop), field("e", _LESS))

    assert _rules(old, new) == ["AVRO-W001"]


def test_a_change_deep_in_unions_arrays_and_maps_is_found() -> None:
    def wrapped(inner: object) -> StoredSchema:
        nested = {"type": "map", "values": {"type": "array", "items": ["null", inner]}}
        return _avro(field("a", ["null", nested]))

    (remark,) = changes_of(_TYPES, wrapped(_ENUM), wrapped(_LESS), Strategy.FORWARD)

    assert remark.path == "a{}[]"
    assert remark.pointer == "/fields/0/type/1/values/items/1/symbols"
    assert remark.old_pointer == "/fields/0/type/1/values/items/1/symbols/1"


@pytest.mark.parametrize(
    ("old", "new", "rules"),
    [
        (SchemaType.AVRO, SchemaType.JSON, []),
        (SchemaType.PROTOBUF, SchemaType.PROTOBUF, ["PROTOBUF-W001"]),  # no field numbers
        (SchemaType.JSON, SchemaType.JSON, ["AVRO-W001"]),
    ],
)
def test_only_types_whose_messages_it_describes(
    old: SchemaType, new: SchemaType, rules: list[str]
) -> None:
    before, after = _avro(field("e", _ENUM), kind=old), _avro(field("e", _LESS), kind=new)

    assert _rules(before, after) == rules


@pytest.mark.parametrize("broken", [b"", b"{", b"\xff", b'{"type": "record"}'])
def test_what_is_no_schema_has_no_remarks(broken: bytes) -> None:
    old, new = StoredSchema(type=SchemaType.AVRO, data=broken), _avro(field("a"))

    assert _rules(old, new) == _rules(new, old) == []
    assert poison_of(_TYPES, old) == ()


def _pair(value: object, encoding: str = "INLINE", kind: str = "AVRO") -> StoredSchema:
    properties = {
        "key.schema.type": "STRING",
        "value.schema.type": kind,
        "kv.encoding.type": encoding,
    }
    text = json.dumps({"key": "", "value": value})
    info = SchemaInfo(type=SchemaType.KEY_VALUE, schema=text, properties=properties)
    return to_stored(info)


def test_halves_of_a_key_value_are_looked_into() -> None:
    old, new = _pair(record(field("e", _ENUM))), _pair(record(field("e", _LESS)), "SEPARATED")

    encoding, symbols = changes_of(_TYPES, old, new, Strategy.BACKWARD)

    assert (encoding.rule, encoding.pointer) == ("KV-W001", "/encoding")
    assert (symbols.rule, symbols.path) == ("AVRO-W001", "value.e")
    assert symbols.pointer == "/value/fields/0/type/symbols"
    assert symbols.old_pointer == "/value/fields/0/type/symbols/1"


def test_a_half_in_the_old_json_form_or_with_a_loop_is_poison() -> None:
    loop = poison_of(_TYPES, _pair(record(field("self", "Order"))))
    jackson = poison_of(_TYPES, _pair({"type": "object"}, kind="JSON"))

    assert [(one.rule, one.pointer) for one in loop] == [("AVRO-P003", "/value/fields/0")]
    assert [(one.rule, one.pointer) for one in jackson] == [("JSON-P001", "/value")]


def test_a_default_in_a_half_poisons_nothing() -> None:
    wrong = record(field("a", "int", default="x"))

    assert poison_of(_TYPES, _pair(wrong)) == ()
    (told,) = accepted_mistakes(_TYPES, _pair(wrong))
    assert (told.rule, told.pointer) == ("KV-W003", "/value/fields/0/default")
    assert accepted_mistakes(_TYPES, _pair(record(field("a", "int", default=1)))) == ()
    alone = poison_of(_TYPES, StoredSchema(type=SchemaType.AVRO, data=json.dumps(wrong).encode()))
    assert [one.rule for one in alone] == ["AVRO-P002"]
    assert accepted_mistakes(_TYPES, StoredSchema(type=SchemaType.AVRO, data=b"")) == ()


def test_protobuf_is_not_compared_so_a_loop_does_not_matter() -> None:
    assert poison_of(_TYPES, _avro(field("self", "Order"), kind=SchemaType.PROTOBUF)) == ()


@pytest.mark.parametrize(
    ("old", "new", "meant"),
    [
        (["mail"], ["email"], ["email"]),
        (["a", "b"], ["c", "b"], ["c"]),
        (["first_name", "x"], ["y", "given_first_name"], ["y", "given_first_name"]),
        (["a", "b"], ["a", "b", "c"], []),
        (["a", "b", "c"], ["a"], []),
    ],
)
def test_what_looks_like_a_rename(old: list[str], new: list[str], meant: list[str]) -> None:
    before, after = (_avro(*(field(n, "string", default="") for n in side)) for side in (old, new))

    remarks = changes_of(_TYPES, before, after, Strategy.BACKWARD)

    assert sorted(one.path for one in remarks if one.rule == "AVRO-W006") == sorted(meant)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"type": "string", "logicalType": "timestamp-millis"}, "string"),
        ({"type": "long", "logicalType": "ours"}, {"type": "long", "logicalType": "theirs"}),
        (
            {"type": "fixed", "name": "F", "size": 2, "logicalType": "decimal", "precision": 40},
            {"type": "fixed", "name": "F", "size": 2, "logicalType": "decimal", "precision": 50},
        ),
    ],
)
def test_logical_types_that_avro_ignores_do_not_change(old: object, new: object) -> None:
    before, after = (to_stored(avro(field("f", kind))) for kind in (old, new))

    assert changes_of(_TYPES, before, after, Strategy.FULL) == ()
