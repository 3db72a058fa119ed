"""Places inside `.proto` files, found only when somebody asks."""

from __future__ import annotations

import posixpath
import re
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
        self._texts: dict[str, _Text] = {}
        self._known_spans: dict[str, Mapping[_Path, Sequence[int]]] = {}

    def at_pointer(self, pointer: str) -> Location:
        """The place of a message, an enum, a field or a value: `/shop.Order/quantity`.

        What is not there (any more) is found at what is around it, else at the first line.
        """
        for names in _outwards(parts(pointer)):
            place = self._places.get(names)
            location = place and self._location(place, pointer)
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
        files = [FileDescriptorProto.FromString(data) for data in compiled.files]
        return {file.name: file for file in files}

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
        span = self._spans(place.file).get((*place.path, _NAME))
        if file is None or span is None:
            return None
        if file not in self._texts:
            self._texts[file] = _Text(self._sources.data(file).decode("utf-8", "replace"))
        text = self._texts[file]
        items = text.characters(span)
        line, column = text.lines.position(items.start)
        length = text.lines.length_on_line(items)
        return Location(file=file, line=line, column=column, length=length, pointer=pointer)

    def _spans(self, name: str) -> Mapping[_Path, Sequence[int]]:
        """Where the parts of a file stand, as protoc counts; of several the first."""
        if name not in self._known_spans:
            locations = reversed(self._files[name].source_code_info.location)
            self._known_spans[name] = {
                tuple(location.path): location.span for location in locations
            }
        return self._known_spans[name]

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
    messages: Iterable[DescriptorProto], scope: str, path: _Path
) -> Iterator[tuple[tuple[str, ...], _Path]]:
    """Messages and what is in them; the entries of a map stand in no file."""
    for index, message in enumerate(messages):
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
    enums: Iterable[EnumDescriptorProto], scope: str, path: _Path
) -> Iterator[tuple[tuple[str, ...], _Path]]:
    for index, enum in enumerate(enums):
        name = _join(scope, enum.name)
        yield (name,), (*path, index)
        for number, value in enumerate(enum.value):
            yield (name, value.name), (*path, index, _VALUES, number)


def _join(scope: str, name: str) -> str:
    return f"{scope}.{name}" if scope else name


class _Text:
    """A file's text without its byte order mark, and where its lines are."""

    def __init__(self, text: str) -> None:
        self._mark = len(text) - len(text.removeprefix("\ufeff"))  # it counts for protoc alone
        self._text = text
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self.lines = Lines(text[self._mark :])

    def characters(self, span: Sequence[int]) -> Span:
        """A span of protoc, whose columns are bytes and whose tabs reach on, as offsets."""
        first, start, *end = span
        last, stop = end if len(end) > 1 else (first, end[0])
        return Span(self._offset(first, start) - self._mark, self._offset(last, stop) - self._mark)

    def _offset(self, line: int, column: int) -> int:
        at, reached = self._starts[min(line, len(self._starts) - 1)], 0
        while reached < column and at < len(self._text):
            char = self._text[at]
            reached += _TAB - reached % _TAB if char == "\t" else len(char.encode())
            at += 1
        return at
