"""Shared types inside a definition, put back as the names by which files of a repository use them.

A registry has no references: what it holds is whole.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from gitops.ports import FileTree
from gitops.repository.definitions.shared_types import SharedType, SharedTypes, named_types
from gitops.repository.file_trees import OverlaidTree
from gitops.repository.positions import parts
from gitops.repository.tracked_files import TrackedFiles
from gitops.schemas.avro.json_text import JsonTextError, read_json

Same = Callable[[str, str], bool]
"""Whether two whole definitions are the same schema."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferencedDefinition:
    """A definition with references, and the files of shared types that have to change for it."""

    text: str
    shared: Mapping[str, bytes] = field(default_factory=dict)


def fold_references(
    text: str, file: str, used: Collection[str], tree: FileTree, same: Same
) -> ReferencedDefinition:
    """A whole definition as it is written in `file`, with the types of the files in `used`.

    A type that is not what its file has goes into that file. The text is as it was where it
    cannot be read.
    """
    try:
        return _ReferenceFolder(text, file, used, tree, same).fold()
    except (JsonTextError, RecursionError):
        return ReferencedDefinition(text=text)


class _ReferenceFolder:
    """One definition on its way, from the innermost type outwards."""

    def __init__(
        self, text: str, file: str, used: Collection[str], tree: FileTree, same: Same
    ) -> None:
        self._whole = text
        self._file = file
        self._used = used
        self._tree = tree
        self._same = same

    def fold(self) -> ReferencedDefinition:
        definition = ReferencedDefinition(text=self._whole)
        for name in _inner_first(read_json(self._whole)):
            shared = self._shared_type(name, definition)
            if shared is not None:
                definition = self._with(shared, definition)
        return definition

    def _shared_type(self, name: str, definition: ReferencedDefinition) -> SharedType | None:
        known = SharedTypes(self._sources(definition)).named(name)
        return next((shared_type for shared_type in known if shared_type.file in self._used), None)

    def _with(self, shared: SharedType, result: ReferencedDefinition) -> ReferencedDefinition:
        """With a reference to the type if it is the same; else with the type in its file."""
        definition = read_json(result.text)
        at, node = next((p, n) for name, p, n in named_types(definition) if name == shared.name)
        text = _text(_replace(definition, at, shared.name))
        for tried in (
            ReferencedDefinition(text=text, shared=result.shared),
            ReferencedDefinition(
                text=text,
                shared={**result.shared, shared.file: self._change_file(shared, node, result)},
            ),
        ):
            if self._is_whole(tried):
                return tried
        return result

    def _change_file(
        self, shared: SharedType, node: dict[str, Any], definition: ReferencedDefinition
    ) -> bytes:
        """The file of a shared type with another definition of it."""
        space, _, simple = shared.name.rpartition(".")
        named = {**node, "name": simple, **({"namespace": space} if space else {})}
        content = read_json(self._sources(definition).data(shared.file).decode())
        return _text(_replace(content, shared.pointer, named)).encode()

    def _is_whole(self, definition: ReferencedDefinition) -> bool:
        expansion = SharedTypes(self._sources(definition)).expand(definition.text, self._file)
        return not expansion.problems and self._same(expansion.text, self._whole)

    def _sources(self, definition: ReferencedDefinition) -> TrackedFiles:
        own = {self._file: definition.text.encode("utf-8", "replace")}
        return TrackedFiles(OverlaidTree(self._tree, {**definition.shared, **own}))


def _inner_first(definition: object) -> list[str]:
    """The types below the outermost, each behind those inside it and those in front of it."""
    order: list[str] = []
    around: list[tuple[str, str]] = []
    for name, at, _ in named_types(definition):
        while around and not at.startswith(f"{around[-1][0]}/"):
            order.append(around.pop()[1])
        if at:
            around.append((at, name))
    return order + [name for _, name in reversed(around)]


def _replace(node: Any, pointer: str, value: object) -> Any:  # noqa: ANN401 - JSON
    """A copy with another value at a pointer, which is there."""
    if not pointer:
        return value
    first, *others = parts(pointer)
    below = "".join(f"/{other}" for other in others)
    if isinstance(node, list):
        index = int(first)
        return [*node[:index], _replace(node[index], below, value), *node[index + 1 :]]
    return {**node, first: _replace(node[first], below, value)}


def _text(node: object) -> str:
    return json.dumps(node, separators=(",", ":"), ensure_ascii=False)
