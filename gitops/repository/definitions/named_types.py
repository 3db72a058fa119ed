"""Named types inside Avro definitions that were read as JSON: their names, and where they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

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
            waiting += [(each, namespace, f"{at}/{i}") for i, each in enumerate(here)][::-1]
        if not isinstance(here, dict):
            continue
        inner = namespace
        if kind_of(here) in NAMED and (name := full_name(here, namespace)):
            yield name, at, here
            inner = namespace_of(name)
        below = [(c[key], inner, at + step) for step, c, key in children(here)]
        waiting += below[::-1]
