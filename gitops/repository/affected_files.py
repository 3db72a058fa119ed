"""The files that must be read to understand a change, in a repository of any size."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from gitops.model.errors import UnreadableFileError
from gitops.ports import FileTree
from gitops.repository.file_references import (
    FileReferences,
    Kind,
    TextSearch,
    file_references,
    text_piece,
)
from gitops.repository.loading.layout import CONFIG, NAMESPACE_FILE, TENANT_FILE
from gitops.repository.snapshots import SNAPSHOTS, is_broker_path, is_clients_path

# A change of a repository's files, wherever it comes from.


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFile:
    """One file of a change: where it was and where it is, None where it is not.

    Both are given and differ where it was renamed. A submodule is one file here, whatever changes
    in it.
    """

    before: str | None = None
    after: str | None = None
    submodule: bool = False


# The files that must be read to understand a change, out of a repository of any size.
#
# The changed files, what they need, and what needs them, in both versions of the repository. More
# files than that do no harm: what a change reaches is decided once they are loaded.


Search = Callable[[Iterable[str], Iterable[str]], Iterable[str]]
"""From words and endings of files to the unchanged files in which one of the words stands."""

_FREE: Final = (SNAPSHOTS, "samples/")
_DEFINITIONS: Final = (".avsc", ".proto")
_ESCAPES: Final = (("\\u", (".avsc", ".json")), ("\\", (".yaml",)))
"""How a text hides a word from the search."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AffectedFiles:
    """The files to read, and for those that a change leads to, the changed files that do."""

    files: frozenset[str]
    leads: dict[str, frozenset[str]]


def affected_files(
    trees: tuple[FileTree, FileTree],
    changes: Sequence[ChangedFile],
    search: Search,
    folders: Iterable[str] = (),
    reached: Mapping[str, frozenset[str]] = MappingProxyType({}),
) -> AffectedFiles:
    """What a change touches, needs and reaches in `trees`, the old and the new one.

    `folders` are read with all their manifests: those of namespaces whose policies change other
    than by their own file. `reached` are files that are known to be, and what leads there.
    """
    state = _Reach(trees, changes, search)
    state.start(folders)
    for path, leads in reached.items():
        state.add(path, leads)
    state.run()
    return AffectedFiles(
        files=frozenset(state.leads),
        leads={path: frozenset(leads) for path, leads in state.leads.items() if leads},
    )


def is_mentioned(tree: FileTree, path: str, search: Search, without: Collection[str]) -> bool:
    """Whether a file that is in `tree`, and not in `without`, names this one or a type of it.

    What is read to understand a change need not hold all that use a file.
    """
    try:
        own = file_references(path, tree.read(path))
    except UnreadableFileError:
        return False
    candidates = {*search([text_piece(posixpath.basename(path))], Kind.FILE.endings)}
    candidates.update(search(own.defines, Kind.TYPE.endings))
    for candidate in candidates.intersection(tree.paths()).difference(without, [path]):
        with suppress(UnreadableFileError):
            references = file_references(candidate, tree.read(candidate))
            if path in references.files or not references.types.isdisjoint(own.defines):
                return True
    return False


class _Reach:
    """The closure while it is made: path → the changed files that lead there.

    A path to which none leads is needed by another one, and not reached by the change.
    """

    def __init__(
        self, trees: tuple[FileTree, FileTree], changes: Sequence[ChangedFile], search: Search
    ) -> None:
        self.leads: dict[str, set[str]] = {}
        self._trees = trees
        self._search = search
        self._changed = {
            path for change in changes for path in (change.before, change.after) if path
        }
        self._recorded = {e.before for e in changes if e.before and e.before.startswith(SNAPSHOTS)}
        self._known = frozenset(path for tree in trees for path in tree.paths())
        self._folders: dict[str, list[str]] = {}
        for path in self._known:
            self._folders.setdefault(path.rpartition("/")[0], []).append(path)
        self._waiting: list[str] = []
        self._read: dict[str, tuple[FileReferences, ...]] = {}
        self._words = TextSearch()
        self._hits: set[str] = set()

    def start(self, folders: Iterable[str]) -> None:
        """What is read in any case."""
        for path in self._changed:
            self.add(path, {path})
        # Definitions are judged by the releases of recorded brokers; any topic may have clients.
        recorded = (path for path in self._known if is_broker_path(path) or is_clients_path(path))
        for path in (CONFIG, *self._folders.get("waivers", ()), *recorded):
            self.add(path, ())
        for folder in folders:
            self._add_namespace(folder)

    def run(self) -> None:
        """Follow everything to its end, searching once for all words of a round."""
        for word, endings in _ESCAPES:
            self._hits.update(self._search([word], endings))
        while self._waiting:
            while self._waiting:
                self._follow(self._waiting.pop())
            for kind, words in self._words.fresh().items():
                self._hits.update(self._search(words, kind.endings))
            for path in self._hits & self._known:
                self._take(path)

    def add(self, path: str, leads: Iterable[str]) -> None:
        """Read a file, too, to which those lead."""
        if path not in self._known:
            return
        known = self.leads.get(path)
        if known is None or not known.issuperset(leads):
            self.leads.setdefault(path, set()).update(leads)
            self._waiting.append(path)

    def _add_namespace(self, folder: str) -> None:
        """A namespace whose policies change: its topics, and who uses one of them."""
        for path in self._folders.get(folder, ()):
            if path.endswith(".yaml"):
                self.add(path, ())
        namespace = folder.removeprefix("namespaces/")
        for path in self._folders.get("clients", ()):
            if path.endswith(".yaml") and self._uses(path, namespace):
                self.add(path, ())

    def _uses(self, path: str, namespace: str) -> bool:
        try:
            data = self._trees[1].read(path)
        except UnreadableFileError:
            return False
        if namespace.encode() not in data and b"\\" not in data:
            return False
        topics = (topic for mention in self._mentions(path) for topic in mention.topics)
        return any(_manifest_of(topic).startswith(f"namespaces/{namespace}/") for topic in topics)

    def _follow(self, path: str) -> None:
        if path in self._recorded and not is_clients_path(path):
            self._follow_snapshot(path)
        if _is_data(path):
            return
        leads = self.leads[path]
        is_manifest = path.endswith(".yaml")
        if is_manifest and path.startswith("namespaces/"):
            self._follow_manifest(path, leads)
        elif is_manifest and path.startswith(("clients/", "waivers/")):
            self._follow_topics(path, leads)
        elif leads and path != CONFIG:
            self._words.add(Kind.FILE, [posixpath.basename(path)], leads)
            self._words.add(Kind.TYPE, self._affected_types(path), leads)
        for mention in self._mentions(path):
            self._words.add(Kind.TYPE, mention.types, ())
            for file in mention.files:
                self._add_needed(file)

    def _follow_manifest(self, path: str, leads: set[str]) -> None:
        folder, name = posixpath.split(path)
        if name == TENANT_FILE and folder.count("/") == 1:
            return
        self.add(f"{folder}/{NAMESPACE_FILE}", ())
        self.add(f"{posixpath.dirname(folder)}/{TENANT_FILE}", ())
        if name == NAMESPACE_FILE and leads:
            self._add_namespace(folder)
        elif leads:
            topics = {_local(topic) for mention in self._mentions(path) for topic in mention.topics}
            topics.add(name.removesuffix(".yaml"))
            for topic in topics:
                # Perhaps another manifest of the same topic.
                self.add(f"{folder}/{topic}.yaml", ())
            self._words.add(Kind.TOPIC, topics, leads)

    def _follow_snapshot(self, path: str) -> None:
        """What the files want of a record that was there before; they are not reached by it."""
        folder = "/".join(["namespaces", *path.removesuffix(".json").split("/")[2:4]])
        self.add(f"{folder}/{NAMESPACE_FILE}", ())
        for topic in (topic for mention in self._mentions(path) for topic in mention.topics):
            self.add(_manifest_of(topic), ())
            self._words.add(Kind.TOPIC, [_local(topic)], ())

    def _follow_topics(self, path: str, leads: set[str]) -> None:
        """A waiver leads to its topic; a changed client to all others of its topics.

        One whose definition is another now needs them too, without leading there.
        """
        is_waiver, is_changed = path.startswith("waivers/"), path in leads
        for mention in self._mentions(path):
            if leads and not is_waiver:
                self._words.add(Kind.CLIENT, mention.names, leads)
            if not is_changed and not any(self.leads.get(file) for file in mention.files):
                continue
            for topic in mention.topics:
                self.add(_manifest_of(topic), leads if is_waiver else ())
                self._words.add(Kind.TOPIC, [_local(topic)], leads if is_changed else ())

    def _add_needed(self, file: str) -> None:
        self.add(file, ())
        if file not in self._known:
            ending = posixpath.splitext(file)[1]
            for path in self._folders.get(posixpath.dirname(file), ()):
                if ending and path.endswith(ending):
                    # Somebody may have meant it; the hint will say so.
                    self.add(path, ())

    def _affected_types(self, path: str) -> set[str]:
        """The types of a file that differ between both versions; all where it did not change."""
        references = self._mentions(path)
        if path in self._changed and len(references) == len(self._trees):
            old, new = references
            names = {*old.defines, *new.defines}
            return {name for name in names if old.defines.get(name) != new.defines.get(name)}
        return {name for reference in references for name in reference.defines}

    def _take(self, path: str) -> None:
        """Add a file that the search found, if what it says is what was looked for."""
        if _is_data(path) or (path not in self._read and not self._is_worth_parsing(path)):
            return
        for mention in self._mentions(path):
            if any(self._words.is_wanted(Kind.TYPE, name) for name in mention.defines):
                self.add(path, ())
            if any(self._words.is_wanted(Kind.TOPIC, _local(topic)) for topic in mention.topics):
                self.add(path, ())
            if leads := set(self._leading_folder(path, mention)):
                self.add(path, leads)

    def _is_worth_parsing(self, path: str) -> bool:
        try:
            return self._words.may_be_in(self._trees[1].read(path))
        except UnreadableFileError:
            return False

    def _leading_folder(self, path: str, references: FileReferences) -> Iterator[str]:
        for name in references.types:
            yield from self._words.leads(Kind.TYPE, name)
        for file in references.files:
            yield from self.leads.get(file, ())
        for topic in references.topics:
            yield from self._words.leads(Kind.TOPIC, _local(topic))
        if path.startswith("clients/"):
            for name in references.names:
                yield from self._words.leads(Kind.CLIENT, name)

    def _mentions(self, path: str) -> tuple[FileReferences, ...]:
        """What the file mentions in each version that differs; the old one first."""
        if path not in self._read:
            contents: list[bytes] = []
            for tree in self._trees if path in self._changed else self._trees[1:]:
                with suppress(UnreadableFileError):
                    contents.append(tree.read(path))
            self._read[path] = tuple(file_references(path, data) for data in contents)
        return self._read[path]


def _is_data(path: str) -> bool:
    """Whether it is a sample or a recorded history, whatever it mentions."""
    return path.startswith(_FREE) and not path.endswith(_DEFINITIONS)


def _local(topic: str) -> str:
    return topic.rpartition("/")[2]


def _manifest_of(topic: str) -> str:
    namespace, _, name = topic.rpartition("://")[2].rpartition("/")
    return f"namespaces/{namespace}/{name}.yaml"
