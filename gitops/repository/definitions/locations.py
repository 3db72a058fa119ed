"""Where a place in the schema that a registry gets stands in the files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from gitops.model.errors import UnreadableFileError
from gitops.model.findings import Location
from gitops.model.names import TopicName
from gitops.model.state import TopicSource
from gitops.ports import FileTree
from gitops.repository.definitions.json_positions import positions_in
from gitops.repository.definitions.proto_positions import ProtoPositions
from gitops.repository.definitions.shared_types import SharedTypes
from gitops.repository.definitions.text import DefinitionText, inline_definition
from gitops.repository.documents.manifests import TopicDocument
from gitops.repository.documents.parser import Manifest
from gitops.repository.positions import Path, child
from gitops.repository.tracked_files import TrackedFiles
from gitops.schemas.avro.json_text import JsonTextError


class Locator:
    """Finds places of definitions; reads files again, since only few are ever asked for."""

    def __init__(self, tree: FileTree, topics: Mapping[TopicName, TopicSource]) -> None:
        self._topics = topics
        self._sources = TrackedFiles(tree)
        self._shared = SharedTypes(self._sources)
        self._inline = cache(self._read_inline)

    def locate(self, topic: TopicName, pointer: str) -> Location | None:
        """The place of a JSON pointer into a topic's schema.

        A place in a shared type is in that type's own file; a definition that stands in the
        manifest is found there. A pointer into a KEY_VALUE begins with its half.
        """
        source = self._topics.get(topic)
        if source is None:
            return None
        path: Path = ("schema", "definition")
        files, inner = source.definitions, pointer
        if source.halves:
            half, slash, rest = pointer.removeprefix("/").partition("/")
            path = ("schema", half, "definition")
            files, inner = source.halves.get(half, ()), slash + rest
        if given := self._inline(source.manifest.file, path):
            return self._location_in_text(given, None, files, inner)
        return self._location_in_files(files, inner) if files else source.manifest

    def _read_inline(self, file: str, path: Path) -> DefinitionText | None:
        """The definition that a manifest holds itself, if it does."""
        try:
            manifest = Manifest(file, self._sources.data(file), TopicDocument)
            value = manifest.parsed.value
            for step in path:
                value = child(value, step)
        except (UnreadableFileError, KeyError):
            return None
        return inline_definition(value, manifest, path)

    def _location_in_files(self, files: Sequence[str], pointer: str) -> Location:
        own, *shared = files
        if own.endswith(".proto"):
            return ProtoPositions(self._sources, own).at_pointer(pointer)
        try:
            text = self._sources.data(own).decode("utf-8", "replace")
        except UnreadableFileError:
            return Location(file=own)
        given = DefinitionText(text=text, places=positions_in(own, text), file=own)
        return self._location_in_text(given, own, shared, pointer)

    def _location_in_text(
        self, given: DefinitionText, own: str | None, shared: Sequence[str], pointer: str
    ) -> Location:
        """The place in a definition, or in one of the shared types that are put into it."""
        try:
            whole = self._shared.expand(given.text, own) if shared else None
        except (JsonTextError, RecursionError):
            return given.places.at_pointer("")
        file, there = whole.origin(pointer) if whole else (None, pointer)
        if file is None:
            return given.places.at_pointer(there)
        try:
            text = self._sources.data(file).decode("utf-8", "replace")
        except UnreadableFileError:
            return Location(file=file)
        return positions_in(file, text).at_pointer(there)
