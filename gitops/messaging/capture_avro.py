"""Parts of a capture as Avro container files, one record a message."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, final

import pyarrow

_MAP: Final = {"type": "map", "values": "string"}
_TIME: Final = {"type": "long", "logicalType": "timestamp-millis"}
_KEY: Final = {
    "type": "record",
    "name": "EncryptionKey",
    "fields": [
        {"name": "name", "type": "string"},
        {"name": "value", "type": "bytes"},
        {"name": "metadata", "type": _MAP},
    ],
}
_ENCRYPTION: Final = {
    "type": "record",
    "name": "Encryption",
    "fields": [
        {"name": "is_decrypted", "type": "boolean"},
        {"name": "algorithm", "type": "string"},
        {"name": "param", "type": "bytes"},
        {"name": "keys", "type": {"type": "array", "items": _KEY}},
        {"name": "compression", "type": "string"},
        {"name": "uncompressed_size", "type": "long"},
        {"name": "batch_size", "type": "int"},
    ],
}
_TYPES: Final[dict[str, object]] = {
    "topic": "string",
    "message_id": "string",
    "publish_time": _TIME,
    "event_time": ["null", _TIME],
    "key": ["null", "bytes"],
    "key_is_base64": ["null", "boolean"],
    "ordering_key": ["null", "bytes"],
    "sequence_id": ["null", "long"],
    "producer_name": "string",
    "schema_version": ["null", "long"],
    "payload": ["null", "bytes"],
    "is_null": "boolean",
    "properties": ["null", _MAP],
    "encryption": ["null", _ENCRYPTION],
    "replicated_from": ["null", "string"],
    "deliver_at": ["null", _TIME],
}
DEFINITION: Final[dict[str, Any]] = {
    "type": "record",
    "name": "CapturedMessage",
    "namespace": "pulsar_gitops",
    "fields": [{"name": name, "type": kind} for name, kind in _TYPES.items()],
}
"""The schema of a part: the columns of a capture as fields."""

NOT_AVRO: Final = (
    ValueError,
    EOFError,
    IndexError,
    KeyError,
    TypeError,
    struct.error,
    zlib.error,
)
"""What fastavro raises for bytes that are no Avro (1.12)."""


@final
class AvroSink:
    """Appends messages to an Avro container file, a block for each table."""

    def __init__(self, writer: Any) -> None:  # noqa: ANN401 - fastavro's own, made in C
        self._writer = writer

    def write(self, table: pyarrow.Table) -> None:
        """Append some messages."""
        for row in _as_numbers(table).to_pylist():
            self._writer.write(_record(row))
        self._writer.flush()


def _as_numbers(table: pyarrow.Table) -> pyarrow.Table:
    """With times as ms: Python has none after the year 9999, where a time in µs soon is."""
    for at, column in enumerate(table.schema):
        if pyarrow.types.is_timestamp(column.type):
            table = table.set_column(at, column.name, table.column(at).cast(pyarrow.int64()))
    return table


@contextmanager
def avro_sink(file: Any) -> Iterator[AvroSink]:  # noqa: ANN401 - what fastavro writes to
    """A sink into a new file."""
    from fastavro.write import Writer

    writer = Writer(file, DEFINITION, codec="deflate")
    yield AvroSink(writer)
    writer.flush()


def _record(row: dict[str, Any]) -> dict[str, Any]:
    """The row, with dicts for what Arrow has as pairs."""
    if row["properties"] is not None:
        row["properties"] = dict(row["properties"])
    if row["encryption"] is not None:
        for key in row["encryption"]["keys"]:
            key["metadata"] = dict(key["metadata"])
    return row
