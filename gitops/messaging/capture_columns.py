"""Messages as columns: what a capture has of each."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Collection, Iterator, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

import numpy
import pyarrow
import pyarrow.compute
from numpy.typing import NDArray

Integers = NDArray[numpy.int64]

_TIME: Final = pyarrow.timestamp("ms", "UTC")
_PROPERTIES: Final = pyarrow.map_(pyarrow.string(), pyarrow.string())
_KEY: Final = pyarrow.struct(
    [
        ("name", pyarrow.string()),
        ("value", pyarrow.binary()),
        ("metadata", _PROPERTIES),
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
        ("properties", _PROPERTIES),
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
        """What is known of messages that were read, in the order of their partition."""
        ids = _ids(messages)
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

    @property
    def firsts(self) -> list[Any]:
        """The first messages of entries."""
        return [self.messages[at] for at in self.starts.tolist()]

    def spread(self, values: pyarrow.Array) -> pyarrow.Array:
        """Values of entries as values of messages."""
        turns = _spread(numpy.arange(len(self.starts)), self.starts, len(self.messages))
        return values.take(pyarrow.array(turns))


class Contents(NamedTuple):
    """What messages contain, each an Arrow array of their number."""

    keys: pyarrow.BinaryArray
    keys_base64: pyarrow.BooleanArray
    payloads: pyarrow.BinaryArray
    versions: pyarrow.Int64Array
    encryptions: pyarrow.StructArray

    def select(self, chosen: NDArray[numpy.bool_]) -> Contents:
        """Those of the messages."""
        return Contents(*(column.filter(pyarrow.array(chosen)) for column in self))


def contents_of(block: Block, separated: Collection[int]) -> Contents:
    """Keys, payloads and versions.

    `separated` are the versions whose messages have a key that is encoded in base64 (KEY_VALUE
    SEPARATED): pulsar-client does not tell of any other key whether it is (3.13.0).
    """
    numbers = _integers(block.firsts, "int_schema_version")
    versions = block.spread(pyarrow.array(numbers, mask=numbers < 0))
    encryptions = [_encryption(first.encryption_context()) for first in block.firsts]
    keys = _texts(block.messages, "partition_key")
    encoded = pyarrow.nulls(len(keys), pyarrow.bool_())
    if separated:
        keys, encoded = _decoded_keys(keys, versions, separated)
    return Contents(
        keys,
        encoded,
        _payloads(block.messages),
        versions,
        block.spread(pyarrow.array(encryptions, _ENCRYPTION))
        if any(encryptions)
        else pyarrow.nulls(len(keys), _ENCRYPTION),
    )


def to_batch(block: Block, contents: Contents, topic: str, partition: int) -> pyarrow.RecordBatch:
    """The messages as a batch of SCHEMA; `partition` is -1 where the topic has none."""
    messages, count = block.messages, len(block.messages)
    events = _integers(messages, "event_timestamp")
    names = list(_answers(block.firsts, "producer_name"))
    columns = [
        pyarrow.repeat(topic, count),
        _message_ids(block, partition),
        pyarrow.array(block.published).cast(_TIME),
        pyarrow.array(events, mask=events == 0).cast(_TIME),
        contents.keys,
        contents.keys_base64,
        _texts(messages, "ordering_key"),
        _sequence_ids(block),
        block.spread(pyarrow.array(names, pyarrow.string())),
        contents.versions,
        contents.payloads,
        contents.payloads.is_null(),
        _properties(messages),
        contents.encryptions,
    ]
    return pyarrow.record_batch(columns, schema=SCHEMA)


def _ids(messages: Sequence[Any]) -> Integers:
    """Ledger, entry and index in the batch of each message, asked of as few as possible.

    Positions of a partition rise: where the indexes of two messages of an entry are as far apart
    as the messages, those between them are known.
    """
    found = numpy.empty((len(messages), 3), numpy.int64)

    def ask(at: int) -> tuple[int, int, int]:
        one = messages[at].message_id()
        where = (one.ledger_id(), one.entry_id(), one.batch_index())
        found[at] = where
        return where

    waiting = []
    if len(messages):
        last = len(messages) - 1
        waiting = [(0, ask(0), last, ask(last))]
    while waiting:
        start, first, end, last_id = waiting.pop()
        if end - start < 2:  # noqa: PLR2004 - nothing is between them
            continue
        if first[:2] == last_id[:2] and last_id[2] - first[2] == end - start:
            found[start : end + 1, :2] = first[:2]
            found[start : end + 1, 2] = numpy.arange(first[2], last_id[2] + 1)
            continue
        middle = (start + end) // 2
        middle_id = ask(middle)
        waiting += [(start, first, middle, middle_id), (middle, middle_id, end, last_id)]
    return found


def _integers(items: Sequence[Any], name: str) -> Integers:
    return numpy.fromiter(_answers(items, name), numpy.int64, len(items))


def _answers(messages: Sequence[Any], name: str) -> Iterator[Any]:
    """What each message answers to a method, which is looked up once: they are of one class."""
    return map(getattr(type(messages[0]), name), messages)


def _starts(ids: Integers) -> Integers:
    """The numbers of those that are of another entry than the one before."""
    if not len(ids):
        return numpy.zeros(0, numpy.int64)
    new = (ids[1:, :2] != ids[:-1, :2]).any(axis=1)
    return numpy.flatnonzero(numpy.concatenate([[True], new]))


def _spread(values: Integers, starts: Integers, count: int) -> Integers:
    return numpy.repeat(values, numpy.diff(numpy.append(starts, count)))


def _texts(messages: Sequence[Any], name: str) -> pyarrow.BinaryArray:
    """A text of each message as bytes, null for an empty one: the client tells no difference."""
    try:
        texts = list(_answers(messages, name))
    except UnicodeDecodeError:
        found = [_text(message, name) or None for message in messages]
        return pyarrow.array(found, pyarrow.binary())
    if not any(texts):
        return pyarrow.nulls(len(texts), pyarrow.binary())
    if not all(texts):
        texts = [text or None for text in texts]
    return pyarrow.array(texts, pyarrow.binary())


def _text(message: Any, name: str) -> bytes:  # noqa: ANN401 - pulsar-client has no types
    """The client reads any bytes as UTF-8, and its error has them (3.13.0)."""
    try:
        text: str = getattr(message, name)()
    except UnicodeDecodeError as error:
        return error.object
    return text.encode()


def _payloads(messages: Sequence[Any]) -> pyarrow.BinaryArray:
    """Null for a message whose value is null, which is a tombstone."""
    found = list(_answers(messages, "data"))
    if not all(found):
        for at, payload in enumerate(found):
            if not payload and messages[at].has_null_value():
                found[at] = None
    return pyarrow.array(found, pyarrow.binary())


def _decoded_keys(
    keys: pyarrow.BinaryArray, versions: pyarrow.Int64Array, separated: Collection[int]
) -> tuple[pyarrow.BinaryArray, pyarrow.BooleanArray]:
    found: list[bytes | None] = keys.to_pylist()
    encoded: list[bool | None] = [None] * len(found)
    for at, (key, version) in enumerate(zip(found, versions.to_pylist(), strict=True)):
        if version in separated and key is not None:
            found[at], encoded[at] = _decoded(key)
    return pyarrow.array(found, pyarrow.binary()), pyarrow.array(encoded, pyarrow.bool_())


def _decoded(key: bytes) -> tuple[bytes, bool]:
    """The bytes that clients encode; a key that is not base64 is as it was sent."""
    try:
        return base64.b64decode(key, validate=True), True
    except binascii.Error:
        return key, False


def _message_ids(block: Block, partition: int) -> pyarrow.StringArray:
    """`ledger:entry:partition:batch`, as pulsar-admin writes them."""
    entries = [
        f"{ledger}:{entry}:{partition}" for ledger, entry, _ in block.ids[block.starts].tolist()
    ]
    prefixes = block.spread(pyarrow.array(entries, pyarrow.string()))
    indexes = pyarrow.array(block.ids[:, 2]).cast(pyarrow.string())
    return pyarrow.compute.binary_join_element_wise(prefixes, indexes, ":")


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


def _properties(messages: Sequence[Any]) -> pyarrow.MapArray:
    """Null where the client cannot read one of them, which is no UTF-8."""
    try:
        found: list[dict[str, str]] = list(_answers(messages, "properties"))
    except UnicodeDecodeError:
        return pyarrow.array(list(map(_readable_properties, messages)), _PROPERTIES)
    offsets = numpy.zeros(len(found) + 1, numpy.int32)
    numpy.cumsum(list(map(len, found)), out=offsets[1:])
    keys = pyarrow.array(list(chain.from_iterable(found)), pyarrow.string())
    values = list(chain.from_iterable(map(dict.values, found)))
    return pyarrow.MapArray.from_arrays(offsets, keys, pyarrow.array(values, pyarrow.string()))


def _readable_properties(message: Any) -> list[tuple[str, str]] | None:  # noqa: ANN401 - as above
    try:
        return list(message.properties().items())
    except UnicodeDecodeError:
        return None


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
