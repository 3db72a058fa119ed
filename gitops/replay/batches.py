"""Batches of messages: their columns, their groups by topic and version, their locations."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy
import pyarrow
import pyarrow.compute
from numpy.typing import NDArray

_SMALL: Final = numpy.iinfo(numpy.uint16)


class Group(NamedTuple):
    """Rows of a batch that share topic and version; `rows` are their numbers, None: all rows."""

    topic: str | None
    version: int | None
    rows: pyarrow.Array | None


def groups(batch: pyarrow.RecordBatch) -> Iterator[Group]:
    """Every row is in exactly one of them, in the order that it had."""
    topics, topic_codes = _encode_values(batch.column("topic"))
    versions, version_codes = _encode_values(batch.column("version"))
    if len(topics) == len(versions) == 1:
        if batch.num_rows:
            yield Group(topics[0], versions[0], None)
        return
    codes = topic_codes * len(versions) + version_codes
    if len(topics) * len(versions) <= _SMALL.max:
        codes = codes.astype(_SMALL.dtype)  # NumPy sorts small numbers by counting them
    order = numpy.argsort(codes, kind="stable")
    ordered = codes[order]
    starts = numpy.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    for rows in numpy.split(order, starts):
        topic, version = divmod(int(codes[rows[0]]), len(versions))
        yield Group(topics[topic], versions[version], pyarrow.array(rows))


def _encode_values(column: Any) -> tuple[list[Any], NDArray[numpy.int64]]:  # noqa: ANN401 - pyarrow's
    """The distinct values, and for each row the number of its own."""
    if column.null_count == len(column):
        return [None], numpy.zeros(len(column), numpy.int64)
    coded = column.dictionary_encode()
    values = coded.dictionary.to_pylist()
    codes = coded.indices.fill_null(len(values)).to_numpy(zero_copy_only=False)
    if column.null_count:
        values.append(None)
    return values, codes.astype(numpy.int64)


# The batches that sources yield: one row is one message, and nothing is left out.
#
# Columns: `topic` (null: that of the manifest), `version` (null: not known), `key` (of KEY_VALUE
# SEPARATED only), `payload` (null: a message without one), `file` and `row`, which together say
# where the message is: `file#row`, or `file` alone where `row` is null. `file` may be a message
# id.


NAMES: Final = pyarrow.dictionary(pyarrow.int32(), pyarrow.string())

SCHEMA: Final = pyarrow.schema(
    [
        ("topic", NAMES),
        ("version", pyarrow.int64()),
        ("key", pyarrow.binary()),
        ("payload", pyarrow.binary()),
        ("file", NAMES),
        ("row", pyarrow.int64()),
    ]
)

MOST_ROWS: Final = 65_536
"""In a batch: enough to outweigh what a call of the kernel costs, also where topics are mixed."""

MOST_BYTES: Final = 32 * 1024 * 1024
"""Of the payloads of a batch, so that memory is bounded whatever their size."""


def batch(payload: Any, file: Any, **columns: Any) -> pyarrow.RecordBatch:  # noqa: ANN401
    """A batch of arrays of one length; columns that are not given are null.

    `file` is one name for all rows, or an array of names.
    """
    rows = len(payload)
    columns = {**columns, "payload": payload, "file": _names(file, rows)}
    return pyarrow.RecordBatch.from_arrays(
        [
            pyarrow.nulls(rows, value.type)
            if columns.get(value.name) is None
            else columns[value.name].cast(value.type)
            for value in SCHEMA
        ],
        schema=SCHEMA,
    )


def _names(file: Any, rows: int) -> Any:  # noqa: ANN401 - pyarrow has no types
    if not isinstance(file, str):
        return file
    indices = pyarrow.array(numpy.zeros(rows, numpy.int32))
    return pyarrow.DictionaryArray.from_arrays(indices, pyarrow.array([file], pyarrow.string()))


def texts(column: Any) -> pyarrow.DictionaryArray:  # noqa: ANN401
    """A column of names; what is not UTF-8 in them is replaced.

    Raises ArrowNotImplementedError for types that are no text, such as lists.
    """
    if not pyarrow.types.is_dictionary(column.type):
        column = _text_bytes(column).dictionary_encode()
    decoded = [
        None if value is None else value.decode("utf-8", "replace")
        for value in _text_bytes(column.dictionary).to_pylist()
    ]
    return pyarrow.DictionaryArray.from_arrays(
        column.indices.cast(pyarrow.int32()), pyarrow.array(decoded, pyarrow.string())
    )


def _text_bytes(column: Any) -> pyarrow.BinaryArray:  # noqa: ANN401
    """Bytes and text as they are, numbers as text."""
    try:
        return as_bytes(column)
    except pyarrow.ArrowNotImplementedError:
        return column.cast(pyarrow.string()).cast(pyarrow.binary())


def as_bytes(column: Any) -> pyarrow.BinaryArray:  # noqa: ANN401
    """A column of bytes or text of any type; raises ArrowNotImplementedError for others."""
    if isinstance(column, pyarrow.ExtensionArray):
        column = column.storage
    if pyarrow.types.is_dictionary(column.type):
        values = as_bytes(column.dictionary)
        return pyarrow.DictionaryArray.from_arrays(column.indices, values).dictionary_decode()
    return column.cast(pyarrow.binary())


def rows_from(first: int, rows: int) -> pyarrow.Array:
    """A column `row` that counts on from `first`."""
    return pyarrow.array(numpy.arange(first, first + rows, dtype=numpy.int64))


class MessageLocations:
    """Where the rows of a batch, or of a part of it, are: its columns `file` and `row`.

    `rows` are the numbers of the part's rows; None: all.
    """

    def __init__(
        self,
        file: pyarrow.DictionaryArray,
        row: pyarrow.Array,
        rows: NDArray[numpy.int64] | None = None,
    ) -> None:
        self._file = file
        self._row = row
        self._rows = rows

    @classmethod
    def of(cls, batch: pyarrow.RecordBatch) -> MessageLocations:
        """Those of a whole batch."""
        return cls(batch.column("file"), batch.column("row"))

    def take(self, rows: pyarrow.Array) -> MessageLocations:
        """Those of some rows."""
        taken = rows.to_numpy().astype(numpy.int64, copy=False)
        return MessageLocations(
            self._file, self._row, taken if self._rows is None else self._rows[taken]
        )

    def where(self, index: int) -> str:
        """How a person finds the message."""
        at = index if self._rows is None else int(self._rows[index])
        file, row = self._file[at].as_py() or "", self._row[at].as_py()
        return file if row is None else f"{file}#{row}"

    def lowest(self, rows: NDArray[numpy.int64]) -> tuple[str, int, NDArray[numpy.int64]]:
        """The lowest place of some rows: its file, its row (-1: none), and which rows stand there.

        Files sort as text.
        """
        at = rows if self._rows is None else self._rows.take(rows)
        if self.are_in_order:
            positions = numpy.zeros(1, numpy.int64)
        else:
            positions = _lowest_rows(self._file_ranks.take(at))
            positions = positions.take(_lowest_rows(self._row_numbers.take(at.take(positions))))
        first = int(at[positions[0]])
        return self._file[first].as_py() or "", int(self._row_numbers[first]), rows.take(positions)

    @cached_property
    def _file_ranks(self) -> NDArray[numpy.int64]:
        names = self._file.dictionary.fill_null("")
        ranks = pyarrow.compute.rank(names, tiebreaker="dense").to_numpy().astype(numpy.int64)
        indices = self._file.indices.fill_null(len(names)).to_numpy(zero_copy_only=False)
        codes: NDArray[numpy.int64] = numpy.append(ranks, 0).take(indices)
        return codes

    @cached_property
    def _row_numbers(self) -> NDArray[numpy.int64]:
        numbers: NDArray[numpy.int64] = self._row.fill_null(-1).to_numpy(zero_copy_only=False)
        return numbers

    @cached_property
    def are_in_order(self) -> bool:
        """Whether they are rows of one file, ascending, as a source reads them."""
        if len(self._file.dictionary) != 1 or self._row.null_count:
            return False
        rows = self._row.to_numpy()
        return bool((rows[1:] > rows[:-1]).all())  # what Spark hands over has numbers of any order

    def hashes(self) -> NDArray[numpy.uint64]:
        """A number for each place that nothing but the place decides."""
        names = [_hash_name(name or "") for name in self._file.dictionary.to_pylist()]
        table = numpy.array([*names, 0], numpy.uint64)
        indices = self._file.indices.fill_null(len(names)).to_numpy(zero_copy_only=False)
        rows = self._row.fill_null(-1).to_numpy(zero_copy_only=False).astype(numpy.uint64)
        if self._rows is not None:
            indices, rows = indices[self._rows], rows[self._rows]
        return _mix_bits(table[indices] + _mix_bits(rows))


def _lowest_rows(numbers: NDArray[numpy.int64]) -> NDArray[numpy.int64]:
    """Where the lowest of them stands."""
    return numpy.flatnonzero(numbers == numbers.min())


def _hash_name(name: str) -> int:
    import hashlib

    digest = hashlib.blake2b(name.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def _mix_bits(numbers: NDArray[numpy.uint64]) -> NDArray[numpy.uint64]:
    """SplitMix64's last step: every bit of the input moves half of those of the output."""
    mixed = numbers + numpy.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> numpy.uint64(31))
