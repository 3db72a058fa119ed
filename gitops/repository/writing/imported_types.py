"""Types of imported definitions that files of the repository define, too.

A name has one definition among the `.avsc` files that share it (REPO-R022), and a registry may
have any number of them, since each of its schemas is whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import chain
from typing import Any, Final

from gitops.model.names import TopicName
from gitops.model.schema import SchemaInfo
from gitops.model.state import RegistryState, Repository
from gitops.ports import FileTree
from gitops.repository.definitions.shared_types import WITH_MANIFESTS, SharedTypes, named_types
from gitops.repository.file_trees import OverlaidTree, SelectedTree
from gitops.repository.formatting.files import LeftAloneError, format_definition
from gitops.repository.loader import load
from gitops.repository.tracked_files import TrackedFiles
from gitops.repository.writing.topic_rewriter import is_same_definition
from gitops.repository.writing.type_references import fold_references
from gitops.schemas.avro.json_text import JsonTextError, read_json

_AVRO: Final = ".avsc"


class TypesInUse:
    """The named types that definitions of a repository share, or may."""

    def __init__(self, tree: FileTree, repository: Repository) -> None:
        self._tree = tree
        users = [set(topic.definitions) for topic in repository.topics.values()]
        users += [set(client.definitions) for client in repository.clients]
        uses = Counter(chain.from_iterable(users))
        known = [path for path in tree.paths() if path.endswith(_AVRO)]
        apart = [path for path in known if not path.startswith(WITH_MANIFESTS)]
        self._apart = SelectedTree(tree, apart)
        in_use = SelectedTree(tree, [*apart, *(path for path in known if uses[path] > 1)])
        self._types = SharedTypes(TrackedFiles(in_use))

    def referring(self, files: Mapping[str, bytes], state: RegistryState) -> dict[str, bytes]:
        """New `files` with references to the types that the registry has as `types/` has them."""
        changed = {}
        for path, (_, info) in self._definitions(files, state).items():
            text = files[path].decode()
            if any(self._types.named(name) for name, _ in _types(text)):
                same = partial(is_same_definition, info)
                paths = self._apart.paths()
                folded = fold_references(text, path, paths, self._apart, same)
                # A file of a shared type that had to change would change others.
                if not folded.shared:
                    changed[path] = folded.text.encode()
        return {**files, **changed}

    def redefined(
        self, files: Mapping[str, bytes], state: RegistryState
    ) -> dict[TopicName, tuple[str, ...]]:
        """The topics whose new definitions give such types another meaning, and their names."""
        grouped: dict[TopicName, set[str]] = {}
        for path, (topic, _) in self._definitions(files, state).items():
            for name, node in _types(files[path].decode()):
                if any(shared_type.node != node for shared_type in self._types.named(name)):
                    grouped.setdefault(topic, set()).add(name)
        return {topic: tuple(sorted(names)) for topic, names in grouped.items()}

    def _definitions(
        self, files: Mapping[str, bytes], state: RegistryState
    ) -> dict[str, tuple[TopicName, SchemaInfo]]:
        """The `.avsc` among new files, with the topic and the schema that each is of."""
        if not any(self._types.names):
            return {}
        loaded = load(OverlaidTree(self._tree, files))
        return {
            path: (topic, held.history.latest.info)
            for topic, held in state.topics.items()
            if topic in loaded.topics and held.history.latest
            for path in loaded.topics[topic].definitions
            if path in files and path.endswith(_AVRO)
        }


def avsc_layout(path: str, data: bytes, info: SchemaInfo) -> bytes:
    """A definition that is not in an `.avsc` file in the layout of one, where it stays the same."""
    try:
        after = format_definition(path, data, ordered=False)
    except (LeftAloneError, RecursionError):
        return data
    return after if is_same_definition(info, data.decode(), after.decode()) else data


def _types(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        yield from ((name, node) for name, _, node in named_types(read_json(text)))
    except (JsonTextError, RecursionError):
        return
