"""The text of one definition, from a file or from inside a manifest, with its positions."""

from __future__ import annotations

import json
import posixpath
import re
from bisect import bisect_right
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from gitops.model.errors import OutsideRepositoryError, UnreadableFileError
from gitops.model.findings import Location
from gitops.repository.definitions.json_positions import positions_in
from gitops.repository.documents.parser import Manifest
from gitops.repository.positions import Path, Span, child, parts
from gitops.repository.positions import pointer as json_pointer
from gitops.repository.tracked_files import TrackedFiles, resolve
from gitops.schemas.protobuf_native.wire_format import (
    DESCRIPTOR_SET,
    DESCRIPTOR_SET_HINT,
    is_descriptor_set,
)

# Where the characters of a scalar's value stand in the text of a YAML file.

_BLOCK: Final = re.compile(r"[|>][^\n]*\n")
_INDENT: Final = re.compile(r"^ *(?=[^ \n])", re.MULTILINE)
_QUOTES: Final = ("'", '"')


@dataclass(frozen=True, slots=True)
class Scalar:
    """The lines of a scalar: where each starts in its value, and in the file."""

    in_value: tuple[int, ...]
    in_file: tuple[int, ...]

    @classmethod
    def of(cls, text: str, span: Span | None, value: str) -> Scalar | None:
        """The lines of what stands at `span`; None where YAML changes more than an indentation.

        A folded scalar is as good as a literal one where each line end becomes one character.
        """
        if span is None:
            return None
        starts, lines = _lines(text[span.start : span.end], _indent(value))
        if not _is_same("\n".join(lines), value):
            return None
        in_value = [0]
        for line in lines[:-1]:
            in_value.append(in_value[-1] + len(line) + 1)
        return cls(tuple(in_value), tuple(span.start + start for start in starts))

    def offset(self, at: int) -> int:
        """The place in the file of a character of the value."""
        line = bisect_right(self.in_value, at) - 1
        return self.in_file[line] + at - self.in_value[line]


def _indent(text: str) -> int:
    """The blanks before the first line that is not blank."""
    match = _INDENT.search(text)
    return len(match[0]) if match else 0


def _lines(raw: str, kept: int) -> tuple[list[int], list[str]]:
    """Where each line's content starts, and the content; the first one's has `kept` blanks."""
    head = _BLOCK.match(raw)
    if head is None:
        quoted = raw.startswith(_QUOTES)
        return [int(quoted)], [raw[1:-1] if quoted else raw]
    body = raw[head.end() :]
    indent, starts, lines, at = _indent(body) - kept, [], [], head.end()
    for line in body.split("\n"):
        cut = min(indent, len(line) - len(line.lstrip(" ")))
        starts.append(at + cut)
        lines.append(line[cut:])
        at += len(line) + 1
    return starts, lines


def _is_same(lines: str, value: str) -> bool:
    """Whether they differ in the kind of white space only, and at the end."""
    return lines.rstrip().replace("\n", " ") == value.rstrip().replace("\n", " ")


_INLINE: Final = ("{", "[", '"')


class _Places(Protocol):
    def at_offset(self, offset: int) -> Location: ...
    def at_pointer(self, pointer: str, *, at_key: bool = False) -> Location: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinitionText:
    """A definition; `file` is None where it stands in the manifest itself."""

    text: str
    places: _Places
    file: str | None = None


@dataclass(frozen=True, slots=True)
class _InScalar:
    """Places of a definition that is a text in a manifest, where YAML has it as it is."""

    manifest: Manifest[Any]
    path: Path
    text: str

    def at_offset(self, offset: int) -> Location:
        return self._place(Span(offset, offset + 1), "")

    def at_pointer(self, pointer: str, *, at_key: bool = False) -> Location:
        span = positions_in("", self.text).nearest(pointer, at_key=at_key)
        return self._place(span, pointer) if span else self.manifest.location(self.path)

    def _place(self, span: Span, inner: str) -> Location:
        parsed = self.manifest.parsed
        scalar = Scalar.of(parsed.text, parsed.values.get(self.path), self.text)
        if scalar is None:
            whole = self.manifest.location(self.path)
            return replace(whole, pointer=json_pointer(self.path) + inner)
        start = scalar.offset(span.start)
        there = Span(start, start + span.end - span.start)
        return self.manifest.location_of(there, json_pointer(self.path) + inner)


@dataclass(frozen=True, slots=True)
class _InManifest:
    """Places of a definition that is part of a manifest's own YAML."""

    manifest: Manifest[Any]
    path: Path
    value: object

    def at_offset(self, _offset: int) -> Location:
        return self.manifest.location(self.path)

    def at_pointer(self, pointer: str, *, at_key: bool = False) -> Location:
        path, here = self.path, self.value
        for part in parts(pointer):
            step = int(part) if isinstance(here, list) and part.isdigit() else part
            try:
                here = child(here, step)
            except KeyError:
                break
            path = (*path, step)
        return self.manifest.location(path, at_key=at_key)


def definition_text(
    definition: object, manifest: Manifest[Any], path: Path, sources: TrackedFiles
) -> DefinitionText | None:
    """What `definition:` at `path` means; None with a finding in the manifest if it fails."""
    if inline := inline_definition(definition, manifest, path):
        return inline
    if not isinstance(definition, str):
        manifest.add("REPO-R019", "the definition contains a number that JSON does not have", path)
        return None
    file = definition_file(definition, manifest, path, sources)
    return None if file is None else text_of_file(file, manifest, path, sources)


def inline_definition(
    definition: object, manifest: Manifest[Any], path: Path
) -> DefinitionText | None:
    """A definition that stands at `path` itself; None for the name of a file, or what has no text.

    Places of a JSON text in a scalar are exact where YAML changes nothing but its indentation.
    """
    if isinstance(definition, str):
        is_text = definition.lstrip().startswith(_INLINE)
        places = _InScalar(manifest, path, definition)
        return DefinitionText(text=definition, places=places) if is_text else None
    text = _to_json(definition)
    in_yaml = _InManifest(manifest, path, definition)
    return None if text is None else DefinitionText(text=text, places=in_yaml)


def definition_file(
    name: str, manifest: Manifest[Any], path: Path, sources: TrackedFiles
) -> str | None:
    """The file, from the root, that a manifest names; None with a finding if there is none."""
    try:
        file = resolve(posixpath.dirname(manifest.file), name)
        sources.data(file)
    except OutsideRepositoryError:
        message = f"'{name}' leads outside the repository"
        manifest.add("REPO-R007", message, path, hint="keep everything inside the repository")
    except UnreadableFileError as error:
        if file in sources:
            manifest.add("REPO-R018", f"'{name}' cannot be read: {error.what}", path)
        elif _is_folder(file, sources):
            hint = "name the definition's file, not its folder"
            manifest.add("REPO-R006", f"'{name}' is a folder", path, hint=hint)
        else:
            manifest.add(
                "REPO-R006", f"'{name}' does not exist", path, hint=_near(file, manifest, sources)
            )
    else:
        return file
    return None


def _is_folder(path: str, sources: TrackedFiles) -> bool:
    return path == "." or any(text.startswith(f"{path}/") for text in sources.paths)


def _near(file: str, manifest: Manifest[Any], sources: TrackedFiles) -> str:
    near = sources.closest(file.replace("\\", "/"))
    if near is None and "\\" in file:
        return "folders are separated by /, on Windows too"
    if near is None:
        return "a path is relative to the manifest's folder"
    return f"did you mean {posixpath.relpath(near, posixpath.dirname(manifest.file) or '.')}?"


def text_of_file(
    file: str, manifest: Manifest[Any], path: Path, sources: TrackedFiles
) -> DefinitionText | None:
    """The text of a file exactly as it is; None with a finding if it is not UTF-8."""
    data = sources.data(file)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        if is_descriptor_set(data):
            message = f"'{file}' is {DESCRIPTOR_SET}"
            manifest.add("REPO-R018", message, path, hint=DESCRIPTOR_SET_HINT)
            return None
        message = f"'{file}' is not UTF-8: byte 0x{data[error.start]:02X} at {error.start}"
        manifest.add("REPO-R018", message, path, hint="save the file as UTF-8")
        return None
    return DefinitionText(text=text, places=positions_in(file, text), file=file)


def _to_json(value: object) -> str | None:
    try:
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    except ValueError:
        return None
