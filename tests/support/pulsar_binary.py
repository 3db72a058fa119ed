"""Pulsar's binary protocol, as much of it as a client needs that only connects.

It sends any bytes as a schema of any type, answers at once where client libraries try again, and
tells the version that the broker names. Numbers are those of PulsarApi.proto (Pulsar 4.0.7); the
number of a command's type is that of its field.
"""

from __future__ import annotations

import itertools
import socket
import struct
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from gitops.model.decision import StoredSchema
from gitops.model.schema import SchemaType

Value = int | bytes | str | Iterable[tuple[int, "Value"]]
Fields = Mapping[int, list[int | bytes]]

_TYPES: Final = {
    kind: number
    for number, kind in enumerate((
        SchemaType.NONE, SchemaType.STRING, SchemaType.JSON, SchemaType.PROTOBUF, SchemaType.AVRO,
        SchemaType.BOOLEAN, SchemaType.INT8, SchemaType.INT16, SchemaType.INT32, SchemaType.INT64,
        SchemaType.FLOAT, SchemaType.DOUBLE, SchemaType.DATE, SchemaType.TIME,
        SchemaType.TIMESTAMP, SchemaType.KEY_VALUE, SchemaType.INSTANT, SchemaType.LOCAL_DATE,
        SchemaType.LOCAL_TIME, SchemaType.LOCAL_DATE_TIME, SchemaType.PROTOBUF_NATIVE,
        SchemaType.AUTO_CONSUME, SchemaType.EXTERNAL,
    ))
}  # fmt: skip
_ERRORS: Final = {0: "UnknownError", 11: "TopicNotFound", 18: "IncompatibleSchema"}

_CONNECT, _CONNECTED, _SUBSCRIBE, _PRODUCER, _SEND, _SEND_RECEIPT = 2, 3, 4, 5, 6, 7
_SUCCESS, _ERROR, _CLOSE_PRODUCER, _CLOSE_CONSUMER, _PRODUCER_SUCCESS = 13, 14, 15, 16, 17
_PING, _PONG = 18, 19
_PARTITIONS, _PARTITIONS_RESPONSE, _LOOKUP, _LOOKUP_RESPONSE = 21, 22, 23, 24
_GET_OR_CREATE, _GET_OR_CREATE_RESPONSE = 39, 40
_ANSWERS: Final = (_PRODUCER_SUCCESS, _SUCCESS, _ERROR, _GET_OR_CREATE_RESPONSE)
_PROTOCOL_VERSION: Final = 21
_SHARED: Final = 1
_SECONDS: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """How the broker answered: an error's name and message, or the version that it names.

    The error is `Timeout` where it did not answer in time, which is how it fails on some schemas.
    """

    error: str | None = None
    message: str = ""
    version: int | None = None


class BinaryClient:
    """One connection; every call waits for its answer. Errors of the protocol are assertions.

    `patience` is how many seconds a request that asks about a schema waits for its answer, `token`
    what a broker that wants to know its clients gets.
    """

    def __init__(self, service_url: str, patience: float = _SECONDS, token: str = "") -> None:
        address = urlsplit(service_url)
        self._patience = patience
        self._socket = socket.create_connection((address.hostname, address.port), _SECONDS)
        self._buffer = bytearray()
        self._ids = itertools.count(1)
        said: list[tuple[int, Value]] = [(3, token), (5, "token")] if token else []
        self._command(_CONNECT, [(1, "tests"), (4, _PROTOCOL_VERSION), *said])
        self._answer(_CONNECTED)

    def close(self) -> None:
        """Close the connection, and with it whatever it opened."""
        self._socket.close()

    def look_up(self, topic: str) -> None:
        """Have the broker take the topic's bundle, as every client does first."""
        request = next(self._ids)
        self._command(_LOOKUP, [(1, topic), (2, request), (3, 0)])
        found = self._answer(_LOOKUP_RESPONSE)[1]
        assert found[3] == [1], found

    def produce(self, topic: str, schema: StoredSchema | None) -> tuple[int, Reply]:
        """Open a producer; answers its id too."""
        producer = next(self._ids)
        fields: list[tuple[int, Value]] = [(1, topic), (2, producer), *_schema_field(7, schema)]
        return producer, self._request(_PRODUCER, fields, request_at=3, version_at=4)

    def close_producer(self, producer: int) -> None:
        """Close a producer."""
        self._request(_CLOSE_PRODUCER, [(1, producer)], request_at=2)

    def subscribe(self, topic: str, schema: StoredSchema | None) -> tuple[int, Reply]:
        """Open a consumer of the subscription `tests`; answers its id too."""
        consumer = next(self._ids)
        fields: list[tuple[int, Value]] = [(1, topic), (2, "tests"), (3, _SHARED), (4, consumer)]
        fields += _schema_field(12, schema)
        return consumer, self._request(_SUBSCRIBE, fields, request_at=5)

    def close_consumer(self, consumer: int) -> None:
        """Close a consumer."""
        self._request(_CLOSE_CONSUMER, [(1, consumer)], request_at=2)

    def get_or_create(self, topic: str, schema: StoredSchema | None) -> Reply:
        """What a producer asks for a message with a further schema."""
        sent = schema or StoredSchema(type=SchemaType.NONE, data=b"")
        fields: list[tuple[int, Value]] = [(2, topic), *_schema_field(3, sent)]
        return self._request(_GET_OR_CREATE, fields, request_at=1, version_at=4)

    def count_partitions(self, topic: str) -> int:
        """0 for a topic without partitions."""
        request = next(self._ids)
        self._command(_PARTITIONS, [(1, topic), (2, request)])
        (count,) = self._answer(_PARTITIONS_RESPONSE)[1].get(1, [0])
        assert isinstance(count, int)
        return count

    def send(self, producer: int, payload: bytes, version: int | None = None) -> None:
        """Send a message that carries this schema version, and wait until it is stored."""
        fields: list[tuple[int, Value]] = [(1, "tests"), (2, 0), (3, 1)]
        if version is not None:
            fields.append((16, version.to_bytes(8, "big")))
        metadata = _encode(fields)
        command = _encode([(1, _SEND), (_SEND, [(1, producer), (2, 0)])])
        size = struct.pack(">I", len(metadata))
        self._write(command, size + metadata + payload)
        self._answer(_SEND_RECEIPT)

    def _request(
        self,
        number: int,
        fields: list[tuple[int, Value]],
        *,
        request_at: int,
        version_at: int | None = None,
    ) -> Reply:
        """Send a command, and wait for the answer that carries the same request."""
        request = next(self._ids)
        self._command(number, [*fields, (request_at, request)])
        try:
            while True:
                kind, found = self._answer(*_ANSWERS)
                if found[1] == [request]:
                    break
        except TimeoutError:
            return Reply(error="Timeout")
        if kind == _ERROR or (kind == _GET_OR_CREATE_RESPONSE and 2 in found):
            return _refused(found)
        return Reply(version=_version(found.get(version_at)) if version_at else None)

    def _command(self, number: int, fields: Iterable[tuple[int, Value]]) -> None:
        self._write(_encode([(1, number), (number, fields)]))

    def _write(self, command: bytes, rest: bytes = b"") -> None:
        sizes = struct.pack(">II", 4 + len(command) + len(rest), len(command))
        self._socket.sendall(sizes + command + rest)

    def _answer(self, *wanted: int) -> tuple[int, Fields]:
        """The next command of these kinds; pings are answered, all else is passed over.

        Raises TimeoutError, and ConnectionAbortedError where the broker ends the connection.
        """
        deadline = time.monotonic() + self._patience
        while True:
            (size,) = struct.unpack(">I", self._read(4, deadline))
            frame = self._read(size, deadline)
            (length,) = struct.unpack_from(">I", frame)
            command = _decode(frame[4 : 4 + length])
            (number,) = command[1]
            assert isinstance(number, int)
            if number == _PING:
                self._command(_PONG, [])
            (content,) = command.get(number, [b""])
            assert isinstance(content, bytes)
            if number in wanted:
                return number, _decode(content)
            assert number != _ERROR, _decode(content)

    def _read(self, size: int, deadline: float) -> bytes:
        while len(self._buffer) < size:
            self._socket.settimeout(max(0.001, deadline - time.monotonic()))
            data = self._socket.recv(1 << 16)
            if not data:
                raise ConnectionAbortedError("the broker closed the connection")
            self._buffer += data
        found = bytes(self._buffer[:size])
        del self._buffer[:size]
        return found


@contextmanager
def binary_client(
    service_url: str, patience: float = _SECONDS, token: str = ""
) -> Iterator[BinaryClient]:
    """A client while the block runs."""
    client = BinaryClient(service_url, patience, token)
    try:
        yield client
    finally:
        client.close()


def _schema_field(number: int, schema: StoredSchema | None) -> list[tuple[int, Value]]:
    if schema is None:
        return []
    properties = [(5, [(1, k), (2, v)]) for k, v in sorted(schema.properties.items())]
    return [(number, [(1, "s"), (3, schema.data), (4, _TYPES[schema.type]), *properties])]


def _refused(found: Fields) -> Reply:
    (error,), (message,) = found[2], found.get(3, [b""])
    assert isinstance(error, int)
    assert isinstance(message, bytes)
    return Reply(error=_ERRORS.get(error, str(error)), message=message.decode())


def _version(found: list[int | bytes] | None) -> int | None:
    """A version's first eight bytes; an empty one stands for none."""
    if not found or not isinstance(found[0], bytes) or not found[0]:
        return None
    return int.from_bytes(found[0][:8], "big", signed=True)


def _encode(fields: Iterable[tuple[int, Value]]) -> bytes:
    out = bytearray()
    for number, value in fields:
        if isinstance(value, int):
            out += _varint(number << 3) + _varint(value)
            continue
        data = value.encode() if isinstance(value, str) else value
        data = data if isinstance(data, bytes) else _encode(data)
        out += _varint(number << 3 | 2) + _varint(len(data)) + data
    return bytes(out)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _decode(data: bytes) -> dict[int, list[int | bytes]]:
    """Fields by number; fixed-width ones as bytes."""
    fields: dict[int, list[int | bytes]] = {}
    at = 0
    while at < len(data):
        key, at = _read_varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = _read_varint(data, at)
            fields.setdefault(number, []).append(value)
            continue
        length, at = (8, at) if wire == 1 else (4, at) if wire == 5 else _read_varint(data, at)
        fields.setdefault(number, []).append(data[at : at + length])
        at += length
    return fields


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
