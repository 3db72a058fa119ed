"""What a file defines and names, and words that lead from a changed file to others."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

from gitops.model.errors import OutsideRepositoryError
from gitops.repository.definitions.shared_types import (
    NAMED,
    PRIMITIVES,
    children,
    full_name,
    kind_of,
    named_types,
    namespace_of,
)
from gitops.repository.snapshots import SNAPSHOTS
from gitops.repository.tracked_files import resolve
from gitops.repository.yaml.parser import parse_yaml
from gitops.schemas.avro.json_text import JsonTextError, read_json

_IMPORT: Final = re.compile(r'\bimport\s+(?:public\s+|weak\s+)?["\']([^"\'\n]+)["\']')
_RECORDED: Final = re.compile(r'(?<!\\)"topic"\s*:\s*"([^"\\]+)"')
_INLINE: Final = ("{", "[")
_NOT_TYPES: Final = PRIMITIVES | NAMED | {"array", "map"}


@dataclass(frozen=True, slots=True, kw_only=True)
class FileReferences:
    """What leads from a file to others.

    `defines` are the Avro types that it defines, by simple name; `types` the simple names of those
    that it names and does not define. `files` are paths from the root; of an import in a `.proto`
    both that may be meant. `topics` are names as they are written, with or without tenant and
    namespace; `names` those that a client gives itself.
    """

    defines: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    types: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()
    topics: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()


def file_references(path: str, data: bytes) -> FileReferences:
    """What the file at `path` mentions."""
    if path.startswith(SNAPSHOTS):
        return FileReferences(topics=frozenset(_RECORDED.findall(data.decode("utf-8", "replace"))))
    if path.endswith((".avsc", ".json")):
        return _avro_references(data.decode("utf-8", "replace"))
    if path.endswith(".proto"):
        return _protobuf_references(path, data.decode("utf-8", "replace"))
    if path.endswith((".yaml", ".yml")):
        return _manifest_references(path, data)
    return FileReferences()


def _avro_references(text: str) -> FileReferences:
    try:
        return _definition_references(read_json(text))
    except (JsonTextError, RecursionError):
        return FileReferences()


def _definition_references(node: Any) -> FileReferences:  # noqa: ANN401 - JSON
    defines: dict[str, tuple[object, ...]] = {}
    own: set[str] = set()
    for name, _, mapping in named_types(node):
        own.add(name)
        simple = name.rpartition(".")[2]
        defines[simple] = (*defines.get(simple, ()), (name, mapping))
    named = {
        reference[-1].rpartition(".")[2]
        for reference in _references(node)
        if not own.intersection(reference)
    }
    return FileReferences(defines=defines, types=frozenset(named))


def _references(node: Any) -> Iterator[tuple[str, ...]]:  # noqa: ANN401 - JSON
    """Names that stand for types, each with the full names that may be meant."""
    waiting: list[tuple[Any, str]] = [(node, "")]
    while waiting:
        here, namespace = waiting.pop()
        if isinstance(here, str) and here not in _NOT_TYPES:
            qualified = "." in here or not namespace
            yield (here,) if qualified else (f"{namespace}.{here}", here)
        elif isinstance(here, list):
            waiting += [(value, namespace) for value in here]
        elif isinstance(here, dict):
            name = full_name(here, namespace) if kind_of(here) in NAMED else None
            inner = namespace_of(name) if name else namespace
            waiting += [(container[key], inner) for _, container, key in children(here)]
            waiting.append((here.get("type"), namespace))


def imports(text: str) -> list[str]:
    """What a `.proto` file imports, as it is written."""
    return _IMPORT.findall(text)


def _protobuf_references(path: str, text: str) -> FileReferences:
    texts = imports(text)
    beside = {posixpath.normpath(posixpath.join(posixpath.dirname(path), word)) for word in texts}
    return FileReferences(files=frozenset({*beside, *map(posixpath.normpath, texts)}))


def _manifest_references(path: str, data: bytes) -> FileReferences:
    value = parse_yaml(data).value
    files: set[str] = set()
    topics: set[str] = set()
    names: set[str] = set()
    types: set[str] = set()
    for key, item in _members(value):
        if key == "definition":
            references = _definition_key_references(path, item)
            files |= references.files
            types |= references.types
        elif key == "topic" and isinstance(item, str):
            topics.add(item)
        elif key == "name" and isinstance(item, str):
            names.add(item)
    return FileReferences(
        files=frozenset(files),
        topics=frozenset(topics),
        names=frozenset(names),
        types=frozenset(types),
    )


def _members(value: object) -> Iterator[tuple[str, object]]:
    """Every member of every mapping, whatever it is in; not within definitions."""
    waiting = [value]
    while waiting:
        here = waiting.pop()
        if isinstance(here, dict):
            yield from ((str(key), item) for key, item in here.items())
            waiting += [item for key, item in here.items() if key != "definition"]
        elif isinstance(here, list):
            waiting += here


def _definition_key_references(path: str, given: object) -> FileReferences:
    if isinstance(given, dict | list):
        return _definition_references(given)
    if not isinstance(given, str):
        return FileReferences()
    if given.lstrip().startswith(_INLINE):
        return _avro_references(given)
    try:
        return FileReferences(files=frozenset({resolve(posixpath.dirname(path), given)}))
    except OutsideRepositoryError:
        return FileReferences()


# Words that are looked for in a repository, and the changed files that make them interesting.


_ESCAPE: Final = b"\\"
_MOST: Final = 500
"""With more words a pattern of all of them is slower than a second look at every file."""


class Kind(Enum):
    """What a word is: a type's simple name, a file's name, a topic's local name, a client's."""

    TYPE = "type"
    FILE = "file"
    TOPIC = "topic"
    CLIENT = "client"

    @property
    def endings(self) -> tuple[str, ...]:
        """Of the files in which such a word means something."""
        return _ENDINGS[self]


_ENDINGS: Final = {
    Kind.TYPE: (".avsc", ".json", ".yaml"),
    Kind.FILE: (".proto", ".yaml"),
    Kind.TOPIC: (".yaml",),
    Kind.CLIENT: (".yaml",),
}
_ANYWHERE: Final = rb"(?<![\w.-])"
_BEFORE: Final = {
    Kind.TYPE: rb"(?<![\w-])",
    Kind.FILE: _ANYWHERE,
    Kind.TOPIC: rb"\btopic[\"']?\s*:\s*\S{0,300}?(?<![\w.-])",
    Kind.CLIENT: rb"\bname[\"']?\s*:\s*[\"']?",
}


_SEPARATED: Final = re.compile(r"[\s']+")


def text_piece(word: str) -> str:
    """The longest part of a word that YAML writes as it is.

    Where it folds a line a blank is a line end, and between single quotes a `'` is two.
    """
    return max(_SEPARATED.split(word), key=len) or word


class TextSearch:
    """Each word with the changed files behind it; none where it is only needed by something."""

    def __init__(self) -> None:
        self._leads: dict[tuple[Kind, str], set[str]] = {}
        self._searched: set[tuple[Kind, str]] = set()
        self._pattern: re.Pattern[bytes] | None = None

    def add(self, kind: Kind, words: Iterable[str], leads: Iterable[str]) -> None:
        """Look for these words too."""
        for word in filter(str.strip, words):
            known = self._leads.get((kind, word))
            if known is None:
                self._pattern = None
            self._leads.setdefault((kind, word), set()).update(leads)

    def leads(self, kind: Kind, word: str) -> set[str]:
        """The changed files behind a word."""
        return self._leads.get((kind, word), set())

    def is_wanted(self, kind: Kind, word: str) -> bool:
        """Whether a word is looked for."""
        return (kind, word) in self._leads

    def fresh(self) -> dict[Kind, list[str]]:
        """What nobody has searched for yet, as `piece` has it; it counts as searched now."""
        grouped: dict[Kind, list[str]] = {}
        for kind, word in self._leads.keys() - self._searched:
            grouped.setdefault(kind, []).append(text_piece(word))
        self._searched.update(self._leads)
        return grouped

    def may_be_in(self, data: bytes) -> bool:
        """Whether a file is worth parsing; always where escapes may hide a word."""
        if _ESCAPE in data or len(self._leads) > _MOST:
            return True
        if self._pattern is None:
            self._pattern = re.compile(b"|".join(self._alternatives()))
        return self._pattern.search(data) is not None

    def _alternatives(self) -> Iterable[bytes]:
        for kind, before in _BEFORE.items():
            words = [word for item, word in self._leads if item is kind]
            whole = [word for word in words if text_piece(word) == word]
            parts = [text_piece(word) for word in words if text_piece(word) != word]
            for start, some in ((before, whole), (_ANYWHERE, parts)):
                if some:
                    any_of = b"|".join(re.escape(_bytes(word)) for word in some)
                    yield start + rb"(?:" + any_of + rb")(?![\w-])"


def _bytes(word: str) -> bytes:
    return word.encode("utf-8", "surrogatepass")
