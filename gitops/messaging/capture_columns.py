"""Messages as columns: what a capture has of each."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Collection, Sequence
from operator import methodcaller
from typing import Any, Final, NamedTuple

import numpy
import pyarrow
import pyarrow.compute
from numpy.typing import NDArray

Integers = NDArray[numpy.int64]

_TIME: Final = pyarrow.timestamp("ms", "UTC")
_KEY: Final = pyarrow.struct(
    [
        ("name", pyarrow.string()),
        ("value", pyarrow.binary()),
        ("metadata", pyarrow.map_(pyarrow.string(), pyarrow.string())),
    ]
)
_ENCRYPTION: Final = pyarrow.struct(
    [
        ("is_decrypted", pyarrow.bool_()),
        ("algorithm", pyarrow.string()),
        ("param", pyarrow.binary()),
        ("keys", pyarrow.list_(_KEY)),
        ("compression", pyarrow.string()),
        ("uncompressed_size", pyarrow.int64()),
        ("batch_size", pyarrow.int32()),
    ]
)

SCHEMA: Final = pyarrow.schema(
    [
        ("topic", pyarrow.string()),
        ("message_id", pyarrow.string()),
        ("publish_time", _TIME),
        ("event_time", _TIME),
        ("key", pyarrow.binary()),
        ("key_is_base64", pyarrow.bool_()),
        ("ordering_key", pyarrow.binary()),
        ("sequence_id", pyarrow.int64()),
        ("producer_name", pyarrow.string()),
        ("schema_version", pyarrow.int64()),
        ("payload", pyarrow.binary()),
        ("is_null", pyarrow.bool_()),
        ("properties", pyarrow.map_(pyarrow.string(), pyarrow.string())),
        ("encryption", _ENCRYPTION),
    ]
)
"""The columns of a capture; docs/reference/captures.md has what each contains."""

_SEQUENCE: Final = ", seq="


class Block(NamedTuple):
    """Messages of one partition and where they are.

    `ids` has the shape (messages, 3): ledger, entry, index in the batch. `published` is in ms since
    1970. `starts` are the first messages of entries: what a whole entry has is asked of them alone.
    """

    messages: Sequence[Any]
    ids: Integers
    published: Integers
    starts: Integers

    @classmethod
    def of(cls, messages: Sequence[Any]) -> Block:
        """What is known of messages that were read."""
        found = list(map(methodcaller("message_id"), messages))
        parts = [_integers(found, name) for name in ("ledger_id", "entry_id", "batch_index")]
        ids = numpy.column_stack(parts)
        starts = _starts(ids)
        times = _integers([messages[at] for at in starts.tolist()], "publish_timestamp")
        return cls(messages, ids, _spread(times, starts, len(messages)), starts)

    def select(self, chosen: NDArray[numpy.bool_]) -> Block:
        """Those of the messages."""
        if chosen.all():
            return self
        ids = self.ids[chosen]
        messages = [self.messages[at] for at in numpy.flatnonzero(chosen).tolist()]
        return Block(messages, ids, self.published[chosen], _starts(ids))


class Contents(NamedTuple):
    """What messages contain, one item a message; a schema version is None where there is none."""

    keys: list[bytes | None]
    keys_base64: list[bool | None]
    payloads: list[bytes | None]
    versions: list[int | None]
    encryptions: list[dict[str, Any] | None]


def contents_of(block: Block, separated: Collection[int]) -> Contents:
    """Keys, payloads and versions.

    `separated` are the versions whose messages have a key that is encoded in base64 (KEY_VALUE
    SEPARATED): pulsar-client does not tell of any other key whether it is (3.13.0).
    """
    messages, starts = block.messages, block.starts
    firsts = [messages[at] for at in starts.tolist()]
    counts = numpy.diff(numpy.append(starts, len(messages))).tolist()
    versions: list[int | None] = []
    encryptions: list[dict[str, Any] | None] = []
    for first, count in zip(firsts, counts, strict=True):
        number = first.int_schema_version()
        versions += [number if number >= 0 else None] * count
        encryptions += [_encryption(first.encryption_context())] * count
    keys = _texts(messages, "partition_key")
    encoded: list[bool | None] = [None] * len(keys)
    if separated:
        for at, (key, version) in enumerate(zip(keys, versions, strict=True)):
            if version in separated and key is not None:
                keys[at], encoded[at] = _decoded(key)
    payloads = list(map(methodcaller("data"), messages))
    for at, payload in enumerate(payloads):
        if not payload and messages[at].has_null_value():
            payloads[at] = None
    return Contents(keys, encoded, payloads, versions, encryptions)


def to_batch(block: Block, contents: Contents, topic: str, partition: int) -> pyarrow.RecordBatch:
    """The messages as a batch of SCHEMA; `partition` is -1 where the topic has none."""
    messages, count = block.messages, len(block.messages)
    events = _integers(messages, "event_timestamp")
    firsts = [messages[at] for at in block.starts.tolist()]
    names = pyarrow.array(list(map(methodcaller("producer_name"), firsts)), pyarrow.string())
    turns = _spread(numpy.arange(len(firsts)), block.starts, count)
    properties = list(map(_properties_of, messages))
    payloads = pyarrow.array(contents.payloads, pyarrow.binary())
    columns = [
        pyarrow.repeat(topic, count),
        _message_ids(block.ids, partition),
        pyarrow.array(block.published).cast(_TIME),
        pyarrow.array(events, mask=events == 0).cast(_TIME),
        pyarrow.array(contents.keys, pyarrow.binary()),
        pyarrow.array(contents.keys_base64, pyarrow.bool_()),
        pyarrow.array(_texts(messages, "ordering_key"), pyarrow.binary()),
        _sequence_ids(block),
        names.take(pyarrow.array(turns)),
        pyarrow.array(contents.versions, pyarrow.int64()),
        payloads,
        payloads.is_null(),
        _properties(properties),
        pyarrow.array(contents.encryptions, _ENCRYPTION),
    ]
    return pyarrow.record_batch(columns, schema=SCHEMA)


def _integers(items: Sequence[Any], name: str) -> Integers:
    return numpy.fromiter(map(methodcaller(name), items), numpy.int64, len(items))


def _starts(ids: Integers) -> Integers:
    """The numbers of those that are of another entry than the one before."""
    if not len(ids):
        return numpy.zeros(0, numpy.int64)
    new = (ids[1:, :2] != ids[:-1, :2]).any(axis=1)
    return numpy.flatnonzero(numpy.concatenate([[True], new]))


def _spread(values: Integers, starts: Integers, count: int) -> Integers:
    return numpy.repeat(values, numpy.diff(numpy.append(starts, count)))


def _texts(messages: Sequence[Any], name: str) -> list[bytes | None]:
    """A text of each message as bytes, None for an empty one: the client tells no difference."""
    try:
        found = list(map(methodcaller(name), messages))
    except UnicodeDecodeError:
        return [_text(message, name) for message in messages]
    return [text.encode() if text else None for text in found]


def _text(message: Any, name: str) -> bytes | None:  # noqa: ANN401 - pulsar-client has no types
    """The client reads any bytes as UTF-8, and its error has them (3.13.0)."""
    try:
        return getattr(message, name)().encode() or None
    except UnicodeDecodeError as error:
        return error.object


def _properties_of(message: Any) -> dict[str, str] | None:  # noqa: ANN401 - as above
    """None where the client cannot read one of them."""
    try:
        found: dict[str, str] = message.properties()
    except UnicodeDecodeError:
        return None
    return found


def _decoded(key: bytes) -> tuple[bytes, bool]:
    """The bytes that clients encode; a key that is not base64 is as it was sent."""
    try:
        return base64.b64decode(key, validate=True), True
    except binascii.Error:
        return key, False


def _message_ids(ids: Integers, partition: int) -> pyarrow.StringArray:
    """`ledger:entry:partition:batch`, as pulsar-admin writes them."""
    ledger, entry, batch = (pyarrow.array(ids[:, n]).cast(pyarrow.string()) for n in range(3))
    return pyarrow.compute.binary_join_element_wise(ledger, entry, str(partition), batch, ":")


def _sequence_ids(block: Block) -> pyarrow.Array:
    """Of each message, by the first and the last of an entry where they are consecutive.

    A producer's sequence ids rise strictly: between two that are as far apart as their places in
    the batch, all others are known. pulsar-client has them in the text of a message only (3.13.0).
    """
    found: list[int | None] = []
    ends = [*block.starts.tolist()[1:], len(block.messages)]
    for start, end in zip(block.starts.tolist(), ends, strict=True):
        first, last = (_sequence_id(block.messages[at]) for at in (start, end - 1))
        offsets = block.ids[start:end, 2] - block.ids[start, 2]
        if first is not None and last is not None and last - first == offsets[-1]:
            found += (first + offsets).tolist()
        else:
            found += map(_sequence_id, block.messages[start:end])
    return pyarrow.array(found, pyarrow.int64())


def _sequence_id(message: Any) -> int | None:  # noqa: ANN401 - pulsar-client has no types
    """From `Message(prod=NAME, seq=NUMBER, …`; None where the text is another one."""
    try:
        text = str(message)
    except UnicodeDecodeError as error:
        text = error.object.decode("utf-8", "replace")
    found = text.removeprefix(f"Message(prod={message.producer_name()}{_SEQUENCE}")
    number = found.partition(",")[0]
    return int(number) if number.isascii() and number.isdecimal() else None


def _properties(found: list[dict[str, str]]) -> pyarrow.Array:
    if any(found):
        return pyarrow.array(
            [list(each.items()) for each in found], SCHEMA.field("properties").type
        )
    empty = pyarrow.array([[]], SCHEMA.field("properties").type)
    return empty.take(pyarrow.array(numpy.zeros(len(found), numpy.int64)))


def _encryption(context: Any) -> dict[str, Any] | None:  # noqa: ANN401 - as above
    if context is None:
        return None
    keys = [
        {"name": key.key, "value": _value(key.value), "metadata": list(key.metadata.items())}
        for key in context.keys()  # noqa: SIM118 - it is no mapping
    ]
    return {
        "is_decrypted": not context.is_decryption_failed(),
        "algorithm": context.algorithm(),
        "param": _value(context.param()),
        "keys": keys,
        "compression": context.compression_type().name,
        "uncompressed_size": context.uncompressed_message_size(),
        "batch_size": context.batch_size(),
    }


def _value(found: Any) -> bytes:  # noqa: ANN401 - a method of some, bytes of others
    value = found() if callable(found) else found
    return value.encode("latin-1") if isinstance(value, str) else bytes(value)
