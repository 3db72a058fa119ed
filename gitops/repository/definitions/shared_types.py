"""Types that a definition names and another file defines: found, and put in where first named."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from gitops.model.errors import UnreadableFileError
from gitops.repository.tracked_files import TrackedFiles
from gitops.schemas.avro.json_text import JsonTextError, read_json, read_value

# Named types inside Avro definitions that were read as JSON: their names, and where they are.

NAMED: Final = frozenset({"record", "error", "enum", "fixed"})
PRIMITIVES: Final = frozenset(
    {"null", "boolean", "int", "long", "float", "double", "bytes", "string"}
)


def kind_of(node: dict[str, Any]) -> str:
    """The word in `type`; empty where no text is there, as a union in the place of a name."""
    kind = node.get("type")
    return kind if isinstance(kind, str) else ""


def full_name(node: dict[str, Any], enclosing: str) -> str | None:
    """The full name of a named type; None where it has none."""
    name, namespace = node.get("name"), node.get("namespace")
    if not isinstance(name, str) or not name:
        return None
    if "." in name:
        return name
    space = namespace if isinstance(namespace, str) else enclosing
    return f"{space}.{name}" if space else name


def namespace_of(name: str) -> str:
    """The namespace part of a full name, empty if it has none."""
    return name.rpartition(".")[0]


def children(node: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any] | list[Any], Any]]:
    """The places below a type where types stand: (relative pointer, container, key)."""
    kind = kind_of(node)
    if kind in ("record", "error") and isinstance(node.get("fields"), list):
        for index, item in enumerate(node["fields"]):
            if isinstance(item, dict) and "type" in item:
                yield f"/fields/{index}/type", item, "type"
    elif kind == "array" and "items" in node:
        yield "/items", node, "items"
    elif kind == "map" and "values" in node:
        yield "/values", node, "values"


def named_types(node: Any) -> Iterator[tuple[str, str, dict[str, Any]]]:  # noqa: ANN401 - JSON
    """All named types of a definition: (full name, pointer, node), outer ones first."""
    waiting: list[tuple[Any, str, str]] = [(node, "", "")]
    while waiting:
        here, namespace, at = waiting.pop()
        if isinstance(here, list):
            waiting += [(value, namespace, f"{at}/{i}") for i, value in enumerate(here)][::-1]
        if not isinstance(here, dict):
            continue
        inner = namespace
        if kind_of(here) in NAMED and (name := full_name(here, namespace)):
            yield name, at, here
            inner = namespace_of(name)
        below = [(c[key], inner, at + step) for step, c, key in children(here)]
        waiting += below[::-1]


# Types that a definition names and another file defines: found, and put in where first named.
#
# Pulsar has no references, so the text that it gets must be whole.


WITH_MANIFESTS: Final = ("namespaces/", "clients/")
"""Folders where definitions lie beside the manifests that use them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedType:
    """A named type and where it is defined."""

    name: str
    file: str
    pointer: str
    node: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedTypeProblem:
    """A type that cannot be put in; `pointer` is into the whole text."""

    rule: str
    message: str
    pointer: str
    hint: str = ""


@dataclass(slots=True, kw_only=True)
class Expansion:
    """A definition with shared types put in.

    `origins` maps a pointer into the whole text to the file and the pointer that it comes from.
    """

    text: str = ""
    files: list[str] = field(default_factory=list)
    origins: dict[str, tuple[str, str]] = field(default_factory=dict)
    problems: list[SharedTypeProblem] = field(default_factory=list)

    def origin(self, pointer: str) -> tuple[str | None, str]:
        """The file (None: the definition's own) and the pointer there of a place in the text."""
        at = pointer
        while at not in self.origins:
            if not at:
                return None, pointer
            at = at.rpartition("/")[0]
        file, start = self.origins[at]
        return file, start + pointer[len(at) :]


class SharedTypes:
    """The named types of every `.avsc` file, read when first asked for."""

    def __init__(
        self,
        sources: TrackedFiles,
        former: SharedTypes | None = None,
        changed: Collection[str] = (),
    ) -> None:
        """`former` are those of the same files but for the `changed` ones, which are read anew."""
        self._sources = sources
        self._former = former
        self._changed = changed

    def named(self, name: str) -> list[SharedType]:
        """All definitions of a full name."""
        return self._index.get(name, [])

    @property
    def names(self) -> Iterable[str]:
        """The full names of all of them."""
        return self._index

    @cached_property
    def broken(self) -> Mapping[str, tuple[str, JsonTextError]]:
        """The text and what is wrong with it, of files of shared types that are not JSON.

        Nobody knows what they define, so a type that is not found may be theirs. Definitions
        beside manifests are left out: these tell of them.
        """
        grouped = {}
        for file in self._sources.paths:
            if file.endswith(".avsc") and not file.startswith(WITH_MANIFESTS):
                with suppress(UnreadableFileError, UnicodeDecodeError, RecursionError):
                    text = self._sources.data(file).decode()
                    if wrong := _wrong(text):
                        grouped[file] = text, wrong
        return grouped

    def expand(self, text: str, own_file: str | None) -> Expansion:
        """The value at the start of `text` with shared types put in.

        Raises JsonTextError, RecursionError.
        """
        return _Expander(self, own_file).expand(read_value(text)[0])

    @cached_property
    def _index(self) -> dict[str, list[SharedType]]:
        index: dict[str, list[SharedType]] = {}
        for types in self._by_file.values():
            for shared in types:
                index.setdefault(shared.name, []).append(shared)
        return index

    @cached_property
    def _by_file(self) -> Mapping[str, list[SharedType]]:
        if self._former:
            again = {file: self._types_of(file) for file in self._changed}
            return {**self._former._by_file, **again}  # noqa: SLF001 - of the same class
        files = (file for file in self._sources.paths if file.endswith(".avsc"))
        return {file: self._types_of(file) for file in files}

    def _types_of(self, file: str) -> list[SharedType]:
        try:
            text = self._sources.data(file).decode()
            texts = list(named_types(read_json(text)))
        except (UnreadableFileError, UnicodeDecodeError, JsonTextError, RecursionError):
            # Reported where a manifest names the file; nobody can use what it defines.
            return []
        return [SharedType(name=name, file=file, pointer=at, node=node) for name, at, node in texts]


def _wrong(text: str) -> JsonTextError | None:
    try:
        read_json(text)
    except JsonTextError as error:
        return error
    return None


class _Expander:
    """One expansion: which names are defined so far, and which files are being put in."""

    def __init__(self, shared: SharedTypes, own_file: str | None) -> None:
        self._shared = shared
        self._own: frozenset[str] = frozenset()
        self._open = [own_file or ""]
        self._defined: dict[str, str] = {}
        self._result = Expansion()

    def expand(self, node: Any) -> Expansion:  # noqa: ANN401 - JSON
        self._own = frozenset(name for name, _, _ in named_types(node))
        whole = self._type(node, "", "")
        self._result.text = json.dumps(whole, separators=(",", ":"), ensure_ascii=False)
        return self._result

    def _type(self, node: Any, namespace: str, at: str) -> Any:  # noqa: ANN401 - JSON
        if isinstance(node, str):
            return self._reference(node, namespace, at)
        if isinstance(node, list):
            return [self._type(item, namespace, f"{at}/{i}") for i, item in enumerate(node)]
        if not isinstance(node, dict):
            return node
        kind = kind_of(node)
        if kind in NAMED:
            return self._definition(node, namespace, at)
        if kind and kind not in PRIMITIVES | {"array", "map"}:
            value = self._reference(kind, namespace, at)
            return node if value == kind else value
        return self._members(node, namespace, at)

    def _definition(self, node: dict[str, Any], namespace: str, at: str) -> Any:  # noqa: ANN401
        name = full_name(node, namespace)
        if name is None:
            return node
        if name in self._defined and len(self._open) > 1:
            return name
        self._defined[name] = self._open[-1]
        return self._members(node, namespace_of(name), at)

    def _members(self, node: dict[str, Any], namespace: str, at: str) -> dict[str, Any]:
        copy = dict(node)
        if isinstance(node.get("fields"), list):
            copy["fields"] = [dict(f) if isinstance(f, dict) else f for f in node["fields"]]
        for step, container, key in children(copy):
            container[key] = self._type(container[key], namespace, at + step)
        return copy

    def _reference(self, name: str, namespace: str, at: str) -> Any:  # noqa: ANN401 - JSON
        if name in PRIMITIVES:
            return name
        candidates = [name] if "." in name or not namespace else [f"{namespace}.{name}", name]
        for candidate in candidates:
            if candidate in self._defined:
                return self._known(name, candidate, at)
        for candidate in candidates:
            if candidate not in self._own and (shared_types := self._shared.named(candidate)):
                return self._put_in(name, shared_types, at)
        return name

    def _known(self, name: str, full: str, at: str) -> str:
        file = self._defined[full]
        if file and file != self._open[-1] and file in self._open:
            way = " → ".join([*self._open[self._open.index(file) :], file])
            self._problem("REPO-R021", f"{full} refers to itself through {way}", at)
        return name

    def _put_in(self, name: str, shared_types: list[SharedType], at: str) -> Any:  # noqa: ANN401 - JSON
        first = shared_types[0]
        others = [
            shared_type.file for shared_type in shared_types[1:] if shared_type.node != first.node
        ]
        if others:
            self._result.files += [first.file, *others]
            files = ", ".join([first.file, *others])
            self._problem(
                "REPO-R022", f"{first.name} is defined differently in {files}", at, "keep one"
            )
            return name
        self._result.origins[at] = (first.file, first.pointer)
        if first.file not in self._result.files:
            self._result.files.append(first.file)
        space, _, simple = first.name.rpartition(".")
        self._open.append(first.file)
        whole = self._definition({**first.node, "name": simple, "namespace": space}, space, at)
        self._open.pop()
        return whole

    def _problem(self, rule: str, message: str, pointer: str, hint: str = "") -> None:
        self._result.problems.append(
            SharedTypeProblem(rule=rule, message=message, pointer=pointer, hint=hint)
        )
