"""What a mask hides, what it leaves as it was, and what it refuses."""

from __future__ import annotations

import io
import json
import struct
from typing import Any, Final

import fastavro
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("pyarrow", reason="the extra 'replay' is not installed")

from gitops.messaging.capture_topic import MaskedMessage
from gitops.model.errors import UsageError
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.replay.payload_mask import (
    NO_VERSION,
    NOT_READ,
    TopicMask,
    topic_mask,
)
from gitops.replay.substitutes import KeyedHashes, Substitutes

HASHES: Final = KeyedHashes(b"a key of at least 16 bytes")
CANARY: Final = "canary@acme.example"
CONTACT: Final = {
    "type": "record",
    "name": "Contact",
    "fields": [
        {"name": "email", "type": ["null", "string"], "aliases": ["mail"]},
        {"name": "kind", "type": {"type": "enum", "name": "K", "symbols": ["HOME", "WORK"]}},
    ],
}
ORDER: Final[dict[str, Any]] = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "id", "type": {"type": "string", "logicalType": "uuid"}},
        {"name": "total", "type": {"type": "bytes", "logicalType": "decimal", "precision": 6}},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "contacts", "type": {"type": "array", "items": CONTACT}},
        {"name": "notes", "type": {"type": "map", "values": ["null", "string", "long"]}},
        {"name": "pin", "type": {"type": "fixed", "name": "Pin", "size": 4}},
        {"name": "score", "type": ["float", "double", "boolean", "null"]},
    ],
}


def avro(definition: object) -> SchemaInfo:
    return SchemaInfo(type=SchemaType.AVRO, schema=json.dumps(definition))


def written(definition: Any, value: Any) -> bytes:  # noqa: ANN401
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(definition), value)
    return out.getvalue()


def read(definition: Any, payload: bytes | None) -> Any:  # noqa: ANN401
    assert payload is not None
    source = io.BytesIO(payload)
    value = fastavro.schemaless_reader(source, fastavro.parse_schema(definition), None)
    assert source.read() == b""
    return value


def order(email: str | None = CANARY) -> dict[str, Any]:
    return {
        "id": "6f1c2b9e-0d5b-4f4e-9a64-0f2f9d0f8f11",
        "total": b"\x01\x02",
        "day": 19_000,
        "contacts": [{"email": email, "kind": "WORK"}, {"email": None, "kind": "HOME"}],
        "notes": {"a": "x", "b": 7, "c": None},
        "pin": b"1234",
        "score": 2.5,
    }


def masked(names: list[str], payload: bytes, by: Substitutes | None = None) -> bytes:
    found = topic_mask("t", {0: avro(ORDER)}, names, by or Substitutes()).mask(0, b"k", payload)
    assert isinstance(found, MaskedMessage)
    assert found.key == b"k"
    assert found.payload is not None
    return found.payload


def test_a_field_is_hidden_and_all_else_is_as_it_was() -> None:
    payload = written(ORDER, order())
    hidden = masked(["email"], payload)
    assert CANARY.encode() not in hidden
    assert read(ORDER, hidden) == {
        **read(ORDER, payload),
        **read(ORDER, written(ORDER, order("(sensitive)"))),
    }


@pytest.mark.parametrize("by", [Substitutes(), HASHES], ids=["redact", "hash"])
@pytest.mark.parametrize("field", [each["name"] for each in ORDER["fields"]])
def test_every_type_is_hidden_and_can_still_be_read(field: str, by: Substitutes) -> None:
    before = read(ORDER, written(ORDER, order()))
    after = read(ORDER, masked([field], written(ORDER, order()), by))
    assert before[field] != after[field]
    assert {**after, field: 0} == {**before, field: 0}


def test_an_alias_and_a_path_name_the_field_too() -> None:
    payload = written(ORDER, order())
    assert masked(["mail"], payload) == masked(["contacts[].email"], payload)
    assert masked(["mail"], payload) == masked(["email"], payload)


@pytest.mark.slow
def test_what_is_not_sensitive_is_the_same_byte_for_byte() -> None:
    payload = written(ORDER, order(None))
    assert masked(["email"], payload) == payload


def test_equal_values_have_equal_hashes_under_one_key() -> None:
    payload = written(ORDER, order())
    assert masked(["email"], payload, HASHES) == masked(["email"], payload, HASHES)
    other = KeyedHashes(b"another key, as long as it")
    assert masked(["email"], payload, other) != masked(["email"], payload, HASHES)
    assert CANARY.encode() not in masked(["email"], payload, HASHES)


@pytest.mark.slow
@given(st.text(min_size=4), st.sampled_from(["email", "contacts", "contacts[].email"]))
def test_no_text_gets_through(text: str, name: str) -> None:
    text = f"canary-{text}"
    for by in (Substitutes(), HASHES):
        hidden = masked([name], written(ORDER, order(text)), by)
        assert text.encode("utf-8", "replace") not in hidden


JSON_ORDER: Final = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "email", "type": ["null", "string"]},
        {"name": "kind", "type": {"type": "enum", "name": "K", "symbols": ["HOME", "WORK"]}},
        {"name": "n", "type": "long"},
    ],
}


def json_mask(*names: str, by: Substitutes | None = None) -> TopicMask:
    info = SchemaInfo(type=SchemaType.JSON, schema=json.dumps(JSON_ORDER))
    return topic_mask("t", {0: info}, names, by or Substitutes())


def test_json_keeps_numbers_members_and_what_no_schema_has() -> None:
    text = (
        b'{"email": "canary", "n": 1.10, "big": 123456789012345678901, "n": 1e5, "x": [null, true]}'
    )
    found = json_mask("email").mask(0, None, text)
    assert isinstance(found, MaskedMessage)
    assert found.payload == (
        b'{"email":"(sensitive)","n":1.10,"big":123456789012345678901,"n":1e5,"x":[null,true]}'
    )


def test_json_is_hidden_wherever_its_name_is() -> None:
    text = b'{"other": {"email": {"a": "canary", "b": [1, "canary"]}}, "email": "canary"}'
    for by in (Substitutes(), HASHES):
        found = json_mask("email", by=by).mask(0, None, text)
        assert isinstance(found, MaskedMessage)
        assert found.payload
        assert b"canary" not in found.payload
        assert json.loads(found.payload).keys() == {"other", "email"}


def test_a_symbol_becomes_a_symbol() -> None:
    found = json_mask("kind", "n").mask(0, None, b'{"kind": "WORK", "n": 77}')
    assert found == MaskedMessage(None, b'{"kind":"HOME","n":0}')


@pytest.mark.parametrize("encoding", ["INLINE", "SEPARATED"])
def test_both_halves_of_a_pair_are_masked(encoding: str) -> None:
    contact = json.loads(json.dumps(CONTACT))
    del contact["fields"][0]["aliases"]  # with which the last step of a name says enough
    info = SchemaInfo(
        type=SchemaType.KEY_VALUE,
        schema=json.dumps({"key": contact, "value": contact}),
        properties={
            "key.schema.type": "AVRO",
            "value.schema.type": "AVRO",
            "kv.encoding.type": encoding,
        },
    )
    half = written(CONTACT, {"email": CANARY, "kind": "WORK"})
    hidden = written(CONTACT, {"email": "(sensitive)", "kind": "WORK"})

    def inline(*parts: bytes) -> bytes:
        return b"".join(struct.pack(">i", len(part)) + part for part in parts)

    mask = topic_mask("t", {0: info}, ["email"], Substitutes())
    only_value = topic_mask("t", {0: info}, ["value.email"], Substitutes())
    if encoding == "SEPARATED":
        assert mask.mask(0, half, half) == MaskedMessage(hidden, hidden)
        assert only_value.mask(0, half, half) == MaskedMessage(half, hidden)
        assert mask.mask(0, None, None) == MaskedMessage(None, None)
    else:
        assert mask.mask(0, b"k", inline(half, half)) == MaskedMessage(b"k", inline(hidden, hidden))
        found = only_value.mask(0, None, inline(half, half))
        assert found == MaskedMessage(None, inline(half, hidden))


def test_what_cannot_be_read_is_left_out() -> None:
    mask = topic_mask("t", {0: avro(ORDER)}, ["email"], Substitutes())
    payload = written(ORDER, order())
    assert mask.mask(None, None, payload) == NO_VERSION
    assert mask.mask(7, None, payload) == NO_VERSION
    for spoilt in (payload[:-1], payload + b"x", b"", CANARY.encode()):
        assert mask.mask(0, None, spoilt) == NOT_READ
    for text in (b"", b"{", b"\xff", b'"canary" x', b"[" * 100_000):
        assert json_mask("email").mask(0, None, text) == NOT_READ


@pytest.mark.parametrize(
    ("info", "said"),
    [
        (SchemaInfo(type=SchemaType.STRING), "is STRING"),
        (SchemaInfo(type=SchemaType.BYTES), "is BYTES"),
        (SchemaInfo(type=SchemaType.PROTOBUF_NATIVE, schema="{}"), "is PROTOBUF_NATIVE"),
        (avro({**CONTACT, "fields": []}), "has the sensitive field 'email'"),
    ],
    ids=["text", "bytes", "protobuf", "no such field"],
)
def test_what_could_be_written_unmasked_is_refused(info: SchemaInfo, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        topic_mask("t", {0: info}, ["email"], Substitutes())
