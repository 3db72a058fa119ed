"""Parquet files: one message a row, one part a row group, and pages of a bounded size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, BinaryIO, Final, NamedTuple

import numpy
import pyarrow
import pyarrow.compute
import pyarrow.parquet
from numpy.typing import NDArray

from gitops.replay.batches import MOST_BYTES, MOST_ROWS
from gitops.replay.sources.files import open_seekable
from gitops.replay.sources.source import Part, UnreadableError, Versions
from gitops.replay.sources.source_errors import AGAIN, first_line, unreadable_file
from gitops.replay.sources.tables import PAYLOAD, check_payload, columns_of, kind_of, to_batch

# How large the pages of a Parquet file become in memory, by their headers.
#
# They are looked at before Arrow reads them. A page says its sizes itself (parquet-format 2.12,
# PageHeader, in Thrift's compact protocol); what the footer says of them may be anything.

MOST_PAGE: Final = 512 * 1024 * 1024
"""Bytes of a page; writers end one at about 1 MiB."""

MOST_DICTIONARY: Final = 256 * 1024 * 1024
"""Bytes of a dictionary, which Arrow holds four times while it reads it; most end at 1 MiB."""

_DICTIONARY: Final = 2
_WINDOWS: Final = (4 * 1024, 4 * 1024 * 1024)
_DEEPEST: Final = 8
_STRUCT: Final = 12
_FIXED: Final = {1: 0, 2: 0, 3: 1, 7: 8}
"""Bytes that values of a type take: true and false, a byte, a double."""

_NUMBERS: Final = (4, 5, 6)
_BINARY: Final = 8
_LISTS: Final = (9, 10)
_LONG_LIST: Final = 15


class Page(NamedTuple):
    """Its sizes in bytes, in memory and in the file."""

    is_dictionary: bool
    unpacked: int
    packed: int


class PageSizes(NamedTuple):
    """Bytes of a column chunk's dictionary and of its largest other page, 0 where there is none."""

    dictionary: int
    page: int


def check_pages(part: Part, chunk: Any) -> PageSizes:  # noqa: ANN401 - pyarrow has no types
    """How large the pages of a column chunk are in memory.

    Raises UnreadableError for a page that is too large, or none; OSError.
    """
    dictionary = largest = 0
    with open(part.file.uri, "rb") as file:  # noqa: PTH123 - the address of the file is a text
        for page in _pages(file, chunk, part.file.name):
            if page.unpacked > (MOST_DICTIONARY if page.is_dictionary else MOST_PAGE):
                raise UnreadableError(_too_large(part.file.name, chunk.path_in_schema, page))
            if page.is_dictionary:
                dictionary = max(dictionary, page.unpacked)
            else:
                largest = max(largest, page.unpacked)
    return PageSizes(dictionary, largest)


def _too_large(file: str, column: str, page: Page) -> str:
    most = MOST_DICTIONARY if page.is_dictionary else MOST_PAGE
    text = (
        f"{file} has a page of '{column}' that is {page.unpacked >> 20} MiB when it is unpacked, "
        f"more than {most >> 20} MiB"
    )
    return f"{text}: write the column without a dictionary" if page.is_dictionary else text


def _pages(file: BinaryIO, chunk: Any, name: str) -> Iterator[Page]:  # noqa: ANN401
    at = chunk.data_page_offset
    if not at and not chunk.num_values:
        return  # a row group without rows, of which pyarrow writes a dictionary at most
    if chunk.has_dictionary_page and 0 < (chunk.dictionary_page_offset or 0) < at:
        at = chunk.dictionary_page_offset
    end = at + chunk.total_compressed_size
    while at < end:
        page, size = _page(file, at, name)
        yield page
        at += size + page.packed


def _page(file: BinaryIO, at: int, name: str) -> tuple[Page, int]:
    """With the size of its header."""
    for window in _WINDOWS:
        file.seek(at)
        try:
            reading = _ThriftReader(file.read(window))
            numbers = reading.struct(0)
            page = Page(numbers[1] == _DICTIONARY, numbers[2], numbers[3])
        except (IndexError, KeyError):
            continue
        if page.unpacked >= 0 and page.packed >= 0:
            return page, reading.at
    raise UnreadableError(f"{name} is broken: there is no page at byte {at}", AGAIN)


class _ThriftReader:
    """Thrift's compact protocol, as far as the numbers of a struct; raises IndexError."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.at = 0

    def struct(self, depth: int) -> dict[int, int]:
        """The numbers among its fields, by the field's own number."""
        if depth > _DEEPEST:
            raise IndexError
        grouped: dict[int, int] = {}
        field = 0
        while head := self._byte():
            field = field + (head >> 4) if head >> 4 else self._number()
            kind = head & 15
            if kind in _NUMBERS:
                grouped[field] = self._number()
            else:
                self._skip(kind, depth)
        return grouped

    def _skip(self, kind: int, depth: int) -> None:
        if kind in _NUMBERS:
            self._varint()
        elif kind == _BINARY:
            self._pass(self._varint())
        elif kind in _LISTS:
            head = self._byte()
            count = head >> 4 if head >> 4 != _LONG_LIST else self._varint()
            for _ in range(count):
                self._skip(head & 15, depth + 1)
        elif kind == _STRUCT:
            self.struct(depth + 1)
        else:
            self._pass(_FIXED[kind])

    def _byte(self) -> int:
        self.at += 1
        return self._data[self.at - 1]

    def _pass(self, size: int) -> None:
        self.at += size
        if self.at > len(self._data):
            raise IndexError

    def _varint(self) -> int:
        number = shift = 0
        while True:
            byte = self._byte()
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:  # noqa: PLR2004 - the highest bit says that there is more
                return number

    def _number(self) -> int:
        number = self._varint()
        return (number >> 1) ^ -(number & 1)


# Parquet files: one message a row, one part a row group.


_CODED: Final = (pyarrow.string(), pyarrow.binary())
_MOST_DECODED: Final = 256 * 1024 * 1024
"""Bytes that the values of one column may have in a batch."""

_MOST_UNPACKED: Final = 64 * 1024 * 1024 * 1024
"""Bytes that the values of a row group may have; some minutes are to be enough for it."""

_BUFFER: Final = 64 * 1024
_SHARING: Final = "DELTA_BYTE_ARRAY"
_USUAL_PAGE: Final = 1024 * 1024


class ParquetSource:
    """With the columns `topic`, `schema_version` and `payload`, or those that `columns` names."""

    def parts(self, whole: Part) -> Iterator[Part]:
        """The row groups."""
        with _opened(whole) as file:
            first = 1
            for number in range(file.metadata.num_row_groups):
                group = file.metadata.row_group(number)
                yield replace(
                    whole,
                    group=number,
                    first_row=first,
                    rows=group.num_rows,
                    bytes=group.total_byte_size,
                )
                first += group.num_rows

    def batches(self, part: Part, versions: Versions) -> Iterator[pyarrow.RecordBatch]:
        """The messages of a row group."""
        with _opened(part) as file:
            keys = versions.need_keys(part.owners)
            names = columns_of(part, file.schema_arrow.names, keys=keys)
            check_payload(kind_of(file.schema_arrow.field(names[PAYLOAD])), part, names[PAYLOAD])
            metadata = file.metadata
            large = _large(part, metadata, names) if "://" not in part.file.uri else []
            rows = min(_rows(part), _rows_alike(part, metadata, names))
            coded = _coded(file.schema_arrow, names, large)
        with _opened(part, metadata=metadata, read_dictionary=coded) as file:
            at = part.first_row
            value = file.iter_batches(
                batch_size=rows,
                row_groups=[part.group],
                columns=list(names.values()),
                use_threads=False,
            )
            try:
                for batch in _cut(part, value, large) if large else value:
                    yield to_batch(batch, names, part.file.name, at)
                    at += batch.num_rows
            except (pyarrow.ArrowException, OSError) as error:
                raise UnreadableError(
                    f"{part.file.name} is broken: {first_line(error)}", AGAIN
                ) from error


def _rows(part: Part) -> int:
    """So many that a batch of average messages stays small."""
    average = part.bytes // max(part.rows, 1) + 1
    return max(1, min(MOST_ROWS, MOST_BYTES // average))


def _rows_alike(part: Part, metadata: Any, names: Mapping[str, str]) -> int:  # noqa: ANN401
    """So many that a batch stays bounded where values share what they begin with.

    A page has it once: each of its values may be as large as the page.
    """
    group = metadata.row_group(part.group)
    chunks = (group.column(number) for number in range(group.num_columns))
    shared = [
        chunk
        for chunk in chunks
        if chunk.path_in_schema in names.values() and _SHARING in chunk.encodings
    ]
    if not shared:
        return MOST_ROWS
    if "://" in part.file.uri:
        return _MOST_DECODED // _USUAL_PAGE
    largest = sum(check_pages(part, value).page for value in shared)
    return max(1, _MOST_DECODED // max(largest, _USUAL_PAGE))


def _coded(schema: pyarrow.Schema, names: Mapping[str, str], large: list[str]) -> list[str]:
    """Columns of values that repeat, which Arrow leaves as they are in the file."""
    topics = [column for name, column in names.items() if name == "topic"]
    return [*(column for column in topics if schema.field(column).type in _CODED), *large]


def _large(part: Part, metadata: Any, names: Mapping[str, str]) -> list[str]:  # noqa: ANN401
    """Columns of a file of this machine whose batches may be larger than their pages are.

    One value of a dictionary may stand in a million rows, and be as large as the dictionary.
    """
    group = metadata.row_group(part.group)
    chunks = [group.column(number) for number in range(group.num_columns)]
    rows = min(_rows(part), group.num_rows)
    return [
        chunk.path_in_schema
        for chunk in chunks
        if chunk.path_in_schema in names.values()
        and rows * check_pages(part, chunk).dictionary > _MOST_DECODED
        and rows * _longest(part, metadata, chunk.path_in_schema) > _MOST_DECODED
    ]


def _longest(part: Part, metadata: Any, column: str) -> int:  # noqa: ANN401
    """Bytes of the largest value of a column's dictionary."""
    options = {"read_dictionary": [column], "pre_buffer": False, "buffer_size": _BUFFER}
    with _opened(part, metadata=metadata, **options) as file:
        first = next(file.iter_batches(1, [part.group], [column], use_threads=False), None)
        if first is None or not pyarrow.types.is_dictionary(first.column(0).type):
            return 0
        return int(_lengths(first.column(0).dictionary).max())


def _cut(
    part: Part, batches: Iterator[pyarrow.RecordBatch], large: list[str]
) -> Iterator[pyarrow.RecordBatch]:
    """Batches of columns that are still coded, so that each is small when it is not."""
    unpacked = 0
    for batch in batches:
        sizes = numpy.zeros(batch.num_rows, numpy.int64)
        for column in map(batch.column, large):
            sizes += _lengths(column.dictionary)[column.indices.fill_null(-1).to_numpy()]
        unpacked += int(sizes.sum())
        if unpacked > _MOST_UNPACKED:
            raise UnreadableError(
                f"{part.file.name} is more than {_MOST_UNPACKED >> 30} GiB when it is unpacked"
            )
        ends = numpy.cumsum(sizes)
        start = 0
        while start < batch.num_rows:
            before = int(ends[start - 1]) if start else 0
            end = max(start + 1, int(numpy.searchsorted(ends, before + MOST_BYTES, "right")))
            yield batch.slice(start, end - start)
            start = end


def _lengths(values: Any) -> NDArray[numpy.int64]:  # noqa: ANN401
    """Of a dictionary's values, in bytes, and of none at its end."""
    lengths = pyarrow.compute.binary_length(values).fill_null(0)
    return numpy.append(lengths.to_numpy(zero_copy_only=False).astype(numpy.int64), 0)


def _opened(part: Part, **options: Any) -> Any:  # noqa: ANN401 - pyarrow has no types
    source = open_seekable(part.file)
    try:
        return pyarrow.parquet.ParquetFile(source, **options)
    except (pyarrow.ArrowException, OSError) as error:
        raise unreadable_file(part) from error
