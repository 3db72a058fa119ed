"""What a file defines and what it names, as far as that leads to other files.

Read without any judgement: a file that is broken mentions what can still be read in it.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
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
    for name, _, each in named_types(node):
        own.add(name)
        simple = name.rpartition(".")[2]
        defines[simple] = (*defines.get(simple, ()), (name, each))
    named = {
        each[-1].rpartition(".")[2] for each in _references(node) if not own.intersection(each)
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
            waiting += [(each, namespace) for each in here]
        elif isinstance(here, dict):
            name = full_name(here, namespace) if kind_of(here) in NAMED else None
            inner = namespace_of(name) if name else namespace
            waiting += [(container[key], inner) for _, container, key in children(here)]
            waiting.append((here.get("type"), namespace))


def imports(text: str) -> list[str]:
    """What a `.proto` file imports, as it is written."""
    return _IMPORT.findall(text)


def _protobuf_references(path: str, text: str) -> FileReferences:
    found = imports(text)
    beside = {posixpath.normpath(posixpath.join(posixpath.dirname(path), each)) for each in found}
    return FileReferences(files=frozenset({*beside, *map(posixpath.normpath, found)}))


def _manifest_references(path: str, data: bytes) -> FileReferences:
    value = parse_yaml(data).value
    files: set[str] = set()
    topics: set[str] = set()
    names: set[str] = set()
    types: set[str] = set()
    for key, each in _members(value):
        if key == "definition":
            found = _definition_key_references(path, each)
            files |= found.files
            types |= found.types
        elif key == "topic" and isinstance(each, str):
            topics.add(each)
        elif key == "name" and isinstance(each, str):
            names.add(each)
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
            yield from ((str(key), each) for key, each in here.items())
            waiting += [each for key, each in here.items() if key != "definition"]
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
