"""Writes batches of messages to the parts of a capture, with bounded memory."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final, Protocol, final

import pyarrow
import pyarrow.parquet

from gitops.messaging.capture_avro import avro_sink
from gitops.messaging.capture_files import PartFormat, new_file, writable
from gitops.messaging.capture_schema import SCHEMA

GROUP_BYTES: Final = 4 * 1024 * 1024
"""Bytes of the messages that are held until they are written, as one row group."""

GROUP_ROWS: Final = 32 * 1024
PART_BYTES: Final = 256 * 1024 * 1024
"""Bytes of the messages of one part."""


class _Sink(Protocol):
    def write(self, table: pyarrow.Table) -> None:
        """Append some messages."""
        ...


@final
class _SummedFile:
    """A file that is written from its begin to its end, and SHA-256 of what was."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.sum: Final = hashlib.sha256()

    def write(self, data: bytes) -> int:
        self.sum.update(data)
        return self._file.write(data)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever else a file has
        return getattr(self._file, name)


@final
class PartWriter:
    """One part: appears under its name when the block of `open_part` is done."""

    def __init__(self, sink: _Sink, file: _SummedFile, thread: Executor) -> None:
        self._sink = sink
        self._file = file
        self._waiting: list[pyarrow.RecordBatch] = []
        self._rows = self._bytes = 0
        self._thread = thread
        self._writing: Future[None] | None = None
        self.size = 0

    @property
    def is_full(self) -> bool:
        """Whether the next messages are those of another part."""
        return self.size >= PART_BYTES

    @property
    def checksum(self) -> str:
        """SHA-256 of all that is written, in hexadecimal digits."""
        return self._file.sum.hexdigest()

    def write(self, batch: pyarrow.RecordBatch) -> None:
        """Append messages."""
        self._waiting.append(batch)
        self._rows += batch.num_rows
        self._bytes += batch.nbytes
        self.size += batch.nbytes
        if self._bytes >= GROUP_BYTES or self._rows >= GROUP_ROWS:
            self.flush()

    def flush(self) -> None:
        """Write what waits in the thread, once it is done with what came before."""
        self.settle()
        if self._waiting:
            table = pyarrow.Table.from_batches(self._waiting)
            self._writing = self._thread.submit(self._sink.write, table)
        self._waiting, self._rows, self._bytes = [], 0, 0

    def settle(self) -> None:
        """Wait for the thread; raises what it raised."""
        if self._writing:
            self._writing.result()
        self._writing = None


@contextmanager
def open_part(path: Path, part_format: PartFormat) -> Iterator[PartWriter]:
    """A part that is whole, or not there; raises UsageError where it cannot be written."""
    with (
        writable(path.parent),
        new_file(path) as file,
        _SINKS[part_format](summed := _SummedFile(file)) as sink,
        ThreadPoolExecutor(1, "capture") as thread,
    ):
        writer = PartWriter(sink, summed, thread)
        yield writer
        writer.flush()
        writer.settle()


@final
class _ParquetSink:
    def __init__(self, writer: Any) -> None:  # noqa: ANN401 - pyarrow has no types
        self._writer = writer

    def write(self, table: pyarrow.Table) -> None:
        self._writer.write_table(table, row_group_size=table.num_rows)
        # Arrow keeps what it encoded with, and some 30 MiB more from group to group (26.0).
        pyarrow.default_memory_pool().release_unused()


@contextmanager
def _parquet(file: _SummedFile) -> Iterator[_Sink]:
    # A dictionary of payloads would cost memory and time, and few repeat.
    coded = ["topic", "producer_name", "schema_version"]
    with pyarrow.parquet.ParquetWriter(file, SCHEMA, use_dictionary=coded) as writer:
        yield _ParquetSink(writer)


_SINKS: Final[dict[str, Callable[[_SummedFile], AbstractContextManager[_Sink]]]] = {
    "parquet": _parquet,
    "avro": avro_sink,
}
