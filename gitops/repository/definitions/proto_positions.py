"""Places inside `.proto` files, found only when somebody asks."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from gitops.model.errors import UnreadableFileError
from gitops.model.findings import Location
from gitops.repository.definitions.protoc import Protoc
from gitops.repository.positions import Lines, Span, parts
from gitops.repository.tracked_files import TrackedFiles

if TYPE_CHECKING:
    from google.protobuf.descriptor_pb2 import (
        DescriptorProto,
        EnumDescriptorProto,
        FileDescriptorProto,
    )

_NAME: Final = 1
"""The number of `name` in every descriptor."""

_FILE_MESSAGES, _FILE_ENUMS, _FILE_EXTENSIONS = 4, 5, 7
_FIELDS, _NESTED, _ENUMS, _EXTENSIONS = 2, 3, 4, 6
_VALUES: Final = 2
_TAB: Final = 8

_Path = tuple[int, ...]
"""The way to a part of a file's descriptor: numbers of fields and indexes."""


class _Place(NamedTuple):
    """A file as protoc names it, and a part of its descriptor."""

    file: str
    path: _Path


class ProtoPositions:
    """The lines of a `.proto` file of a repository and of all that it imports."""

    def __init__(self, sources: TrackedFiles, file: str) -> None:
        self._sources = sources
        self._file = file

    def at_pointer(self, pointer: str) -> Location:
        """The place of a message, an enum, a field or a value: `/shop.Order/quantity`.

        What is not there (any more) is found at what is around it, else at the first line.
        """
        for names in _outwards(parts(pointer)):
            found = self._places.get(names)
            location = found and self._location(found, pointer)
            if location:
                return location
        return Location(file=self._file, line=1, column=1, pointer=pointer)

    @cached_property
    def _files(self) -> Mapping[str, FileDescriptorProto]:
        from google.protobuf.descriptor_pb2 import FileDescriptorProto

        protoc = Protoc(self._sources)
        try:
            compiled = protoc.compile(self._file, source_info=True)
        finally:
            protoc.close()
        found = [FileDescriptorProto.FromString(data) for data in compiled.files]
        return {file.name: file for file in found}

    @cached_property
    def _places(self) -> Mapping[tuple[str, ...], _Place]:
        if not Protoc.is_installed():
            return {}
        return {
            names: _Place(name, path)
            for name, file in self._files.items()
            for names, path in _positions_of_file(file)
        }

    def _location(self, place: _Place, pointer: str) -> Location | None:
        """The place of the part's name; None for a file that comes with protoc."""
        file = self._path_of(place.file)
        wanted = (*place.path, _NAME)
        info = self._files[place.file].source_code_info
        span = next((one.span for one in info.location if tuple(one.path) == wanted), None)
        if file is None or span is None:
            return None
        text = self._sources.data(file).decode("utf-8", "replace")
        mark = len(text) - len(text.removeprefix("\ufeff"))  # it counts for protoc alone
        found = Span(*(offset - mark for offset in _characters(text, span)))
        lines = Lines(text[mark:])
        line, column = lines.position(found.start)
        length = lines.length_on_line(found)
        return Location(file=file, line=line, column=column, length=length, pointer=pointer)

    def _path_of(self, name: str) -> str | None:
        """What protoc calls so: it looks into the file's own folder first, then into the root."""
        for path in (posixpath.join(posixpath.dirname(self._file), name), name):
            try:
                if path in self._sources and self._sources.data(path) is not None:
                    return path
            except UnreadableFileError:
                continue
        return None


def _outwards(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The names, then those of what is around them."""
    if len(names) > 1:
        yield tuple(names)
    name = names[0] if names else ""
    while name:
        yield (name,)
        name = name.rpartition(".")[0]


def _positions_of_file(file: FileDescriptorProto) -> Iterator[tuple[tuple[str, ...], _Path]]:
    for index, extension in enumerate(file.extension):
        yield (_join(file.package, extension.name),), (_FILE_EXTENSIONS, index)
    yield from _enums(file.enum_type, file.package, (_FILE_ENUMS,))
    yield from _messages(file.message_type, file.package, (_FILE_MESSAGES,))


def _messages(
    found: Iterable[DescriptorProto], scope: str, path: _Path
) -> Iterator[tuple[tuple[str, ...], _Path]]:
    """Messages and what is in them; the entries of a map stand in no file."""
    for index, message in enumerate(found):
        if message.options.map_entry:
            continue
        name, here = _join(scope, message.name), (*path, index)
        yield (name,), here
        for number, field in enumerate(message.field):
            yield (name, field.name), (*here, _FIELDS, number)
        for number, extension in enumerate(message.extension):
            yield (_join(name, extension.name),), (*here, _EXTENSIONS, number)
        yield from _enums(message.enum_type, name, (*here, _ENUMS))
        yield from _messages(message.nested_type, name, (*here, _NESTED))


def _enums(
    found: Iterable[EnumDescriptorProto], scope: str, path: _Path
) -> Iterator[tuple[tuple[str, ...], _Path]]:
    for index, enum in enumerate(found):
        name = _join(scope, enum.name)
        yield (name,), (*path, index)
        for number, value in enumerate(enum.value):
            yield (name, value.name), (*path, index, _VALUES, number)


def _join(scope: str, name: str) -> str:
    return f"{scope}.{name}" if scope else name


def _characters(text: str, span: Sequence[int]) -> Span:
    """A span of protoc, whose columns are bytes and whose tabs reach on, as offsets."""
    first, start, *end = span
    last, stop = end if len(end) > 1 else (first, end[0])
    return Span(_offset(text, first, start), _offset(text, last, stop))


def _offset(text: str, line: int, column: int) -> int:
    at = 0
    for _ in range(line):
        at = text.find("\n", at) + 1
    reached = 0
    while reached < column and at < len(text):
        step = _TAB - reached % _TAB if text[at] == "\t" else len(text[at].encode())
        reached, at = reached + step, at + 1
    return at
