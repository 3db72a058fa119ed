"""How large the pages of a Parquet file become in memory, by their headers.

They are looked at before Arrow reads them. A page says its sizes itself (parquet-format 2.12,
PageHeader, in Thrift's compact protocol); what the footer says of them may be anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, Final, NamedTuple

from gitops.replay.sources.part import Part, UnreadableError
from gitops.replay.sources.telling import AGAIN

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


class Largest(NamedTuple):
    """Bytes of a column chunk's dictionary and of its largest other page, 0 where there is none."""

    dictionary: int
    page: int


def check_pages(part: Part, chunk: Any) -> Largest:  # noqa: ANN401 - pyarrow has no types
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
    return Largest(dictionary, largest)


def _too_large(file: str, column: str, page: Page) -> str:
    most = MOST_DICTIONARY if page.is_dictionary else MOST_PAGE
    told = (
        f"{file} has a page of '{column}' that is {page.unpacked >> 20} MiB when it is unpacked, "
        f"more than {most >> 20} MiB"
    )
    return f"{told}: write the column without a dictionary" if page.is_dictionary else told


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
            reading = _Reading(file.read(window))
            numbers = reading.struct(0)
            page = Page(numbers[1] == _DICTIONARY, numbers[2], numbers[3])
        except (IndexError, KeyError):
            continue
        if page.unpacked >= 0 and page.packed >= 0:
            return page, reading.at
    raise UnreadableError(f"{name} is broken: there is no page at byte {at}", AGAIN)


class _Reading:
    """Thrift's compact protocol, as far as the numbers of a struct; raises IndexError."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.at = 0

    def struct(self, depth: int) -> dict[int, int]:
        """The numbers among its fields, by the field's own number."""
        if depth > _DEEPEST:
            raise IndexError
        found: dict[int, int] = {}
        field = 0
        while head := self._byte():
            field = field + (head >> 4) if head >> 4 else self._number()
            kind = head & 15
            if kind in _NUMBERS:
                found[field] = self._number()
            else:
                self._skip(kind, depth)
        return found

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
