"""Where a place in the schema that a registry gets stands in the files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gitops.compatibility.avro.json_text import JsonTextError
from gitops.model.errors import UnreadableFileError
from gitops.model.findings import Location
from gitops.model.names import TopicName
from gitops.model.repository import TopicSource
from gitops.ports import FileTree
from gitops.repository.definitions.json_positions import JsonPositions
from gitops.repository.definitions.proto_positions import ProtoPositions
from gitops.repository.definitions.shared_types import SharedTypes
from gitops.repository.sources import Sources


class Locator:
    """Finds places of definitions; reads files again, since only few are ever asked for."""

    def __init__(self, tree: FileTree, topics: Mapping[TopicName, TopicSource]) -> None:
        self._topics = topics
        self._sources = Sources(tree)
        self._shared = SharedTypes(self._sources)

    def locate(self, topic: TopicName, pointer: str) -> Location | None:
        """The place of a JSON pointer into a topic's schema.

        A place in a shared type is in that type's own file; a definition that stands in the
        manifest is found at the manifest. A pointer into a KEY_VALUE begins with its half.
        """
        source = self._topics.get(topic)
        if source is None:
            return None
        files, inner = source.definitions, pointer
        if source.halves:
            half, slash, rest = pointer.removeprefix("/").partition("/")
            files, inner = source.halves.get(half, ()), slash + rest
        return self._in_files(files, inner) if files else source.manifest

    def _in_files(self, files: Sequence[str], pointer: str) -> Location:
        if files[0].endswith(".proto"):
            return ProtoPositions(self._sources, files[0]).at_pointer(pointer)
        file, there = self._origin(files, pointer)
        try:
            text = self._sources.data(file).decode("utf-8", "replace")
        except UnreadableFileError:
            return Location(file=file)
        return JsonPositions(file, text).at_pointer(there)

    def _origin(self, files: Sequence[str], pointer: str) -> tuple[str, str]:
        own, *shared = files
        if not shared:
            return own, pointer
        try:
            text = self._sources.data(own).decode("utf-8", "replace")
            file, there = self._shared.expand(text, own).origin(pointer)
        except (UnreadableFileError, JsonTextError, RecursionError):
            return own, ""
        return file or own, there
