"""The text of one definition, from a file or from inside a manifest, with its positions."""

from __future__ import annotations

import json
import posixpath
from dataclasses import dataclass
from typing import Any, Final, Protocol

from gitops.model.errors import OutsideRepositoryError, UnreadableFileError
from gitops.model.findings import Location
from gitops.repository.definitions.json_positions import JsonPositions
from gitops.repository.documents.reading import Manifest
from gitops.repository.positions import Path, Span, child, parts
from gitops.repository.positions import pointer as json_pointer
from gitops.repository.sources import Sources, resolve
from gitops.repository.yaml.scalar_lines import Scalar

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
        span = JsonPositions("", self.text).nearest(pointer, at_key=at_key)
        return self._place(span, pointer) if span else self.manifest.location(self.path)

    def _place(self, span: Span, inner: str) -> Location:
        parsed = self.manifest.parsed
        scalar = Scalar.of(parsed.text, parsed.values.get(self.path), self.text)
        if scalar is None:
            return self.manifest.location(self.path)
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
    definition: object, manifest: Manifest[Any], path: Path, sources: Sources
) -> DefinitionText | None:
    """What `definition:` at `path` means; None with a finding in the manifest if it fails."""
    if inline := inline_definition(definition, manifest, path):
        return inline
    if not isinstance(definition, str):
        manifest.add("REPO-R019", "the definition holds a number that JSON has not", path)
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
    text = _as_json(definition)
    in_yaml = _InManifest(manifest, path, definition)
    return None if text is None else DefinitionText(text=text, places=in_yaml)


def definition_file(name: str, manifest: Manifest[Any], path: Path, sources: Sources) -> str | None:
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
            hint = "name a file: the definition, not where it lies"
            manifest.add("REPO-R006", f"'{name}' is a folder", path, hint=hint)
        else:
            manifest.add(
                "REPO-R006", f"'{name}' does not exist", path, hint=_near(file, manifest, sources)
            )
    else:
        return file
    return None


def _is_folder(path: str, sources: Sources) -> bool:
    return path == "." or any(each.startswith(f"{path}/") for each in sources.paths)


def _near(file: str, manifest: Manifest[Any], sources: Sources) -> str:
    near = sources.closest(file.replace("\\", "/"))
    if near is None and "\\" in file:
        return "folders are parted by /, on Windows too"
    if near is None:
        return "a path is relative to the manifest's folder"
    return f"did you mean {posixpath.relpath(near, posixpath.dirname(manifest.file) or '.')}?"


def text_of_file(
    file: str, manifest: Manifest[Any], path: Path, sources: Sources
) -> DefinitionText | None:
    """The text of a file exactly as it is; None with a finding if it is not UTF-8."""
    data = sources.data(file)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        message = f"'{file}' is not UTF-8: byte 0x{data[error.start]:02X} at {error.start}"
        manifest.add("REPO-R018", message, path, hint="save the file as UTF-8")
        return None
    return DefinitionText(text=text, places=JsonPositions(file, text), file=file)


def _as_json(value: object) -> str | None:
    try:
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    except ValueError:
        return None
