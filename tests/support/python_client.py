"""What pulsar-client for Python returns for messages, and what Java's reader would return.

Java's value is the replay kernel's, which is compared with Avro for Java elsewhere. It is written
with the reader's schema and decoded again, so that both are the same kind of Python values.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import fastavro
from pulsar.schema import AvroSchema

from gitops.replay.kernel.avro.kernel import AvroRowReader, AvroRowWriter
from gitops.replay.kernel.avro.schema_pair import make_plan
from gitops.replay.kernel.protocol import Unreadable
from gitops.schemas.avro.compatibility import can_read
from gitops.schemas.avro.errors import AvroParseError
from gitops.schemas.avro.parser import AVRO_1_11
from tests.oracle.avro_changes import AvroChanges
from tests.oracle.avro_schemas import AvroSchemas
from tests.oracle.random_source import Chance
from tests.replay.avro_payloads import AvroPayloads, EndlessError

Json = Any
_MESSAGES = 60
_OF_VALUES = ("ValueError", "OverflowError", "InvalidOperation")
"""What fastavro raises for values outside of a logical type, whatever the schemas are."""


@dataclass(frozen=True, slots=True)
class Message:
    """As much of a message as the client's schema asks for."""

    payload: bytes

    def data(self) -> bytes:
        return self.payload

    def topic_name(self) -> str:
        return "t"

    def int_schema_version(self) -> int:
        return 0

    def message_id(self) -> str:
        return "0"


class PythonConsumer:
    """A consumer of pulsar-client with a reader's schema, beside a registry with the writer's."""

    def __init__(self, writer: Json, reader: Json) -> None:
        self._schema = AvroSchema(None, json.loads(json.dumps(reader)))
        self._schema._client = object()  # noqa: SLF001 - the client gets one where it subscribes
        self._schema._get_writer_schema = lambda _topic, _version: json.loads(json.dumps(writer))  # noqa: SLF001

    def decode(self, payload: bytes) -> Json:
        """The message's value; raises whatever the client raises."""
        return self._schema.decode_message(Message(payload))


class _Payloads(AvroPayloads):
    """Texts are UTF-8; most bytes are not."""

    def _scalar(self, kind: str) -> bytes:
        if kind == "bytes" and self.chance.maybe(0.7):
            data = self.chance.randbytes(self.chance.randrange(1, 6))
            return self._varint(len(data)) + data
        return super()._scalar(kind)


@dataclass(frozen=True, slots=True)
class Pair:
    """Definitions that Java resolves."""

    writer: Json
    reader: Json
    chance: Chance

    def difference(self) -> str | None:
        """The first of some random messages that the client reads otherwise than Java.

        Empty where it reads all alike, None where there is none that Java reads.
        """
        written, read = (AVRO_1_11.parse(json.dumps(one)) for one in (self.writer, self.reader))
        java = AvroRowReader(make_plan(written, read, "none"))
        write = AvroRowWriter(read).write
        client, compared = PythonConsumer(self.writer, self.reader), 0
        for payload in _payloads(written, self.chance):
            if not _has_values_in_range(payload, self.writer):
                continue
            try:
                value = java.read(payload)
            except Unreadable:
                if (returned := _attempt(client, payload)) is not None:
                    return f"{payload!r} stops Java, and the client returns {returned!r}"
                continue
            try:
                expected = fastavro.schemaless_reader(io.BytesIO(write(value)), self.reader)
            except Exception as error:  # noqa: BLE001 - whatever fastavro raises
                if type(error).__name__ in _OF_VALUES:
                    continue
                return f"the client cannot use its own schema: {error!r}"
            compared += 1
            try:
                returned = client.decode(payload)
            except Exception as error:  # noqa: BLE001 - whatever the client raises
                return f"{payload!r} is {expected!r} for Java, and the client raises {error!r}"
            if not _are_alike(returned, expected):
                return f"{payload!r} is {expected!r} for Java, and {returned!r} for the client"
        return "" if compared else None


def random_pair(seed: int) -> Pair | None:
    """A definition and a change of it that Java's readers take, None where chance made none."""
    chance = Chance(seed)
    schemas = AvroSchemas(chance)
    schemas.renew(chance.choice((0.0, 0.0, 0.1, 0.3)))
    writer = schemas.record()
    reader = AvroChanges(schemas).changed(writer)
    if chance.maybe(0.4):
        reader = _renamed(chance, reader)
    return _readable_pair(writer, reader, chance)


def _record(name: str, *fields: Json) -> Json:
    return {"type": "record", "name": name, "fields": list(fields)}


_BRANCHES: tuple[Json, ...] = (
    *("null", "boolean", "int", "long", "float", "double", "bytes", "string"),
    {"type": "long", "logicalType": "timestamp-millis"},
    {"type": "enum", "name": "x.S", "symbols": ["X", "Y"]},
    {"type": "enum", "name": "y.S", "symbols": ["Y", "X"]},
    {"type": "fixed", "name": "z.S", "size": 2},
    _record("x.N", {"name": "a", "type": "int", "default": 7}),
    _record("y.N", {"name": "b", "type": "string", "default": "b"}),
    _record("z.N", {"name": "c", "type": ["double", "long"], "default": 0.5}),
    {"type": "array", "items": "long"},
    {"type": "map", "values": ["float", "long"]},
)


def random_union_pair(seed: int) -> Pair | None:
    """Records with a union each, or one branch of it, that share most branches; None as above."""
    chance = Chance(seed)
    written = chance.sample(_BRANCHES, chance.randint(1, 5))
    kept = [branch for branch in written if chance.maybe(0.9)]
    added = chance.some([branch for branch in _BRANCHES if branch not in kept], 3)
    read = chance.sample([*kept, *added], len(kept) + len(added))
    if len(written) == 1 and chance.maybe(0.5):
        written = written[0]
    items = chance.maybe(0.2)  # also where it is further inside
    writer, reader = (
        {"type": "array", "items": union} if items else union for union in (written, read)
    )
    more = chance.choice([[], [{"name": "b", "type": "int", "default": 1}]])
    return _readable_pair(
        _record("R", {"name": "a", "type": writer}),
        _record("R", {"name": "a", "type": reader}, *more),
        chance,
    )


def _readable_pair(writer: Json, reader: Json, chance: Chance) -> Pair | None:
    try:
        written, read = (AVRO_1_11.parse(json.dumps(one)) for one in (writer, reader))
    except (AvroParseError, ValueError, RecursionError):
        return None
    return None if can_read(written, read).reasons else Pair(writer, reader, chance)


def _renamed(chance: Chance, schema: Json) -> Json:
    """With other names for some of the named types."""
    if isinstance(schema, list):
        return [_renamed(chance, one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: _renamed(chance, value) for key, value in schema.items()}
    is_named = found.get("type") in ("record", "enum", "fixed")
    if is_named and isinstance(found.get("name"), str) and chance.maybe(0.15):
        found["name"] += "X"
    return found


def _payloads(writer: Any, chance: Chance) -> Iterator[bytes]:  # noqa: ANN401 - a parsed schema
    payloads = _Payloads(chance, any_bytes=False)
    for _ in range(_MESSAGES):
        try:
            yield payloads.payload(writer)
        except (EndlessError, RecursionError):
            return


def _has_values_in_range(payload: bytes, writer: Json) -> bool:
    try:
        fastavro.schemaless_reader(io.BytesIO(payload), writer)
    except Exception as error:  # noqa: BLE001 - whatever fastavro raises
        return type(error).__name__ not in _OF_VALUES
    return True


def _attempt(client: PythonConsumer, payload: bytes) -> Json:
    try:
        return client.decode(payload)
    except Exception:  # noqa: BLE001 - whatever the client raises
        return None


def _are_alike(one: Json, other: Json) -> bool:
    """Numbers are compared as numbers; where Java's is a float, rounded as that is."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int):
        return one == other
    if isinstance(one, int | float) and isinstance(other, float):
        if one == other or (math.isnan(one) and math.isnan(other)):
            return True
        return math.isclose(one, other, rel_tol=1e-6)
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_are_alike(one[k], other[k]) for k in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(_are_alike, one, other))
    return bool(one == other)
