"""Reads the parts of a capture, Parquet or Avro, as messages."""

from __future__ import annotations

import base64
import io
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import pyarrow
import pyarrow.compute
import pyarrow.parquet

from gitops.messaging.batches import Encryption, EncryptionKey
from gitops.messaging.capture_avro import NOT_AVRO
from gitops.messaging.capture_files import AGAIN, PartFormat
from gitops.messaging.capture_schema import CHUNK
from gitops.messaging.errors import InvalidValueError
from gitops.messaging.message import Message
from gitops.messaging.values.schema import ValueSchema
from gitops.messaging.wire import pulsar_api_pb2 as api
from gitops.model.errors import UsageError

_ROWS: Final = 1_000
"""Messages of a partition that are held as Python values."""


class CapturedMessage(NamedTuple):
    """A message of a capture, as its columns have it; times are in ms since 1970."""

    publish_time: int
    event_time: int | None
    key: bytes | None
    key_is_base64: bool | None
    ordering_key: bytes | None
    schema_version: int | None
    payload: bytes | None
    properties: Mapping[str, str] | list[tuple[str, str]] | None
    encryption: dict[str, Any] | None

    def to_message(self, schema: ValueSchema) -> Message:
        """What is sent; raises InvalidValueError for what no producer can send."""
        if self.properties is None:
            raise InvalidValueError("its properties are no UTF-8, and the capture has none of them")
        return Message(
            schema,
            value=self.payload,
            key=self.wire_key(),
            has_encoded_key=bool(self.key_is_base64),
            ordering_key=self.ordering_key,
            properties=dict(self.properties),
            event_time=self.event_time,
            encryption=_encryption(self.encryption),
        )

    def wire_key(self) -> str | None:
        """The key as the protocol has it; raises InvalidValueError where it is no text."""
        if self.key is None:
            return None
        if self.key_is_base64:
            return base64.b64encode(self.key).decode()
        try:
            return self.key.decode()
        except UnicodeDecodeError:
            raise InvalidValueError("its key is no UTF-8") from None


def _encryption(column: Mapping[str, Any] | None) -> Encryption | None:
    """None for one that was decrypted when it was captured; raises InvalidValueError."""
    if column is None or column["is_decrypted"]:
        return None
    compression = column["compression"].upper()
    if compression not in api.CompressionType.keys():  # noqa: SIM118 - it is no mapping
        raise InvalidValueError(f"its compression is {compression}, which no producer has")
    if column["batch_size"] == CHUNK:
        raise InvalidValueError(
            "a chunk of an encrypted message, which only a capture with --decryption-key joins"
        )
    return Encryption(
        algorithm=column["algorithm"],
        param=column["param"],
        keys=tuple(
            EncryptionKey(key["name"], key["value"], dict(key["metadata"]))
            for key in column["keys"]
        ),
        compression=compression,
        uncompressed_size=column["uncompressed_size"],
        batch_size=max(0, column["batch_size"]),
    )


_COLUMNS: Final = list(CapturedMessage._fields)
_TIMES: Final = ("publish_time", "event_time")


def read_part(path: Path, part_format: PartFormat) -> Iterator[CapturedMessage]:
    """The messages of a part; raises UsageError for one that is missing or damaged."""
    with _whole(path):
        yield from _READERS[part_format](path)


def count_versions(path: Path, part_format: PartFormat) -> Counter[int | None]:
    """How many messages of each schema version a part has; raises UsageError as `read_part`."""
    with _whole(path):
        return _COUNTERS[part_format](path)


def count_encrypted(path: Path, part_format: PartFormat) -> int:
    """How many messages of a part are encrypted still; raises UsageError as `read_part`."""
    encryptions = (message.encryption for message in read_part(path, part_format))
    return sum(
        encryption is not None and not encryption["is_decrypted"] for encryption in encryptions
    )


def _parquet(path: Path) -> Iterator[CapturedMessage]:
    for batch in _batches(path, _COLUMNS):
        columns = [batch.column(name) for name in _COLUMNS]
        values = (
            (column.cast(pyarrow.int64()) if name in _TIMES else column).to_pylist()
            for name, column in zip(_COLUMNS, columns, strict=True)
        )
        yield from map(CapturedMessage._make, zip(*values, strict=True))


def _parquet_versions(path: Path) -> Counter[int | None]:
    counter: Counter[int | None] = Counter()
    for batch in _batches(path, ["schema_version"]):
        for value in pyarrow.compute.value_counts(batch.column(0)).to_pylist():
            counter[value["values"]] += value["counts"]
    return counter


def _batches(path: Path, columns: list[str]) -> Iterator[pyarrow.RecordBatch]:
    """A row group is a few MiB, however large the file is."""
    with pyarrow.parquet.ParquetFile(path) as part:
        for group in range(part.num_row_groups):
            yield from part.iter_batches(_ROWS, row_groups=[group], columns=columns)


def _avro(path: Path) -> Iterator[CapturedMessage]:
    from fastavro import block_reader, parse_schema, schemaless_reader

    with path.open("rb") as file:
        blocks = block_reader(file)
        written = parse_schema(_with_numbers(blocks.writer_schema))
        for block in blocks:
            data: io.BytesIO = block.bytes_  # type: ignore[attr-defined] # its stub leaves it out
            for _ in range(block.num_records):
                row = schemaless_reader(data, written, None)
                assert isinstance(row, dict)  # noqa: S101 - for mypy: the definition is a record's
                yield CapturedMessage._make(row[name] for name in _COLUMNS)


def _with_numbers(schema: Any) -> Any:  # noqa: ANN401 - any node of it
    """With times as ms, as AvroSink writes them."""
    if isinstance(schema, dict):
        kept = {key: value for key, value in schema.items() if key != "logicalType"}
        return {key: _with_numbers(value) for key, value in kept.items()}
    return [_with_numbers(value) for value in schema] if isinstance(schema, list) else schema


def _avro_versions(path: Path) -> Counter[int | None]:
    return Counter(message.schema_version for message in _avro(path))


_READERS: Final[dict[PartFormat, Callable[[Path], Iterator[CapturedMessage]]]] = {
    "parquet": _parquet,
    "avro": _avro,
}
_COUNTERS: Final[dict[PartFormat, Callable[[Path], Counter[int | None]]]] = {
    "parquet": _parquet_versions,
    "avro": _avro_versions,
}


@contextmanager
def _whole(path: Path) -> Iterator[None]:
    """Make a UsageError of what a file is damaged by."""
    try:
        yield
    except FileNotFoundError:
        raise UsageError(f"{path} is not there, and the manifest counts it", hint=AGAIN) from None
    except (pyarrow.ArrowException, OSError, *NOT_AVRO) as error:
        raise UsageError(f"{path} is damaged: its messages cannot be read", hint=AGAIN) from error
