"""Writes batches of messages to the parts of a capture, with bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final, Protocol, final

import pyarrow
import pyarrow.parquet

from gitops.messaging.capture_avro import avro_sink
from gitops.messaging.capture_columns import SCHEMA
from gitops.messaging.capture_files import PartFormat, new_file, writable

GROUP_BYTES: Final = 8 * 1024 * 1024
"""Bytes of the messages that are held until they are written, as one row group."""

GROUP_ROWS: Final = 32 * 1024
PART_BYTES: Final = 256 * 1024 * 1024
"""Bytes of the messages of one part."""


class _Sink(Protocol):
    def write(self, table: pyarrow.Table) -> None:
        """Append some messages."""
        ...


@final
class PartWriter:
    """One part: appears under its name when the block of `open_part` is done."""

    def __init__(self, sink: _Sink) -> None:
        self._sink = sink
        self._waiting: list[pyarrow.RecordBatch] = []
        self._rows = self._bytes = 0
        self.size = 0

    @property
    def is_full(self) -> bool:
        """Whether the next messages are those of another part."""
        return self.size >= PART_BYTES

    def write(self, batch: pyarrow.RecordBatch) -> None:
        """Append messages."""
        self._waiting.append(batch)
        self._rows += batch.num_rows
        self._bytes += batch.nbytes
        self.size += batch.nbytes
        if self._bytes >= GROUP_BYTES or self._rows >= GROUP_ROWS:
            self.flush()

    def flush(self) -> None:
        """Write what waits."""
        if self._waiting:
            self._sink.write(pyarrow.Table.from_batches(self._waiting))
        self._waiting, self._rows, self._bytes = [], 0, 0


@contextmanager
def open_part(path: Path, part_format: PartFormat) -> Iterator[PartWriter]:
    """A part that is whole, or not there; raises UsageError where it cannot be written."""
    with writable(path.parent), new_file(path) as file, _SINKS[part_format](file) as sink:
        writer = PartWriter(sink)
        yield writer
        writer.flush()


@final
class _ParquetSink:
    def __init__(self, writer: Any) -> None:  # noqa: ANN401 - pyarrow has no types
        self._writer = writer

    def write(self, table: pyarrow.Table) -> None:
        self._writer.write_table(table, row_group_size=table.num_rows)


@contextmanager
def _parquet(file: BinaryIO) -> Iterator[_Sink]:
    # A dictionary of payloads would cost memory and time, and few repeat.
    coded = ["topic", "producer_name", "schema_version"]
    with pyarrow.parquet.ParquetWriter(file, SCHEMA, use_dictionary=coded) as writer:
        yield _ParquetSink(writer)


_SINKS: Final[dict[str, Callable[[BinaryIO], AbstractContextManager[_Sink]]]] = {
    "parquet": _parquet,
    "avro": avro_sink,
}
