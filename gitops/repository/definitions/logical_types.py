"""Logical types that Avro for Java passes over in silence, so that plain numbers and bytes remain.

Names of nobody's are taken for somebody's own; only those that are nearly one of Avro's are told.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, TypeGuard

from gitops.compatibility.avro.logical_types import LOGICAL_TYPES, most_digits
from gitops.repository.definitions.ignored import Ignored, types_in
from gitops.repository.definitions.named_types import NAMED, PRIMITIVES
from gitops.repository.suggestions import closest

_PLAIN: Final = PRIMITIVES | NAMED | {"array", "map"}
_NEAR: Final = 0.85
"""Nearer than for other words: a word that is meant must not be told."""

_SIZES: Final = {"duration": 12, "uuid": 16}


def ignored_logical_types(definition: Any) -> Iterator[Ignored]:  # noqa: ANN401 - JSON
    """Every logical type of a definition, read as JSON, that Avro ignores (Avro 1.11.4)."""
    for node, at in types_in(definition):
        yield from _of_type(node, at)
        yield from _of_fields(node, at)


def _of_type(node: dict[str, Any], at: str) -> Iterator[Ignored]:
    name, kind = node.get("logicalType"), node.get("type")
    if not isinstance(name, str) or not isinstance(kind, str):
        return
    where = f"{at}/logicalType"
    bases = LOGICAL_TYPES.get(name)
    if bases is None:
        meant = closest(name, LOGICAL_TYPES, near=_NEAR)
        if meant:
            message = f"unknown logicalType '{name}': the values stay plain {kind}"
            yield Ignored(message, where, f"did you mean {meant}?")
    elif kind in _PLAIN and kind not in bases:
        message = f"logicalType {name} does not go with {kind}: it is ignored"
        yield Ignored(message, where, f"it stands on {' or '.join(bases)}")
    elif name == "decimal":
        yield from _of_decimal(node, at)
    elif kind == "fixed" and name in _SIZES and node.get("size") != _SIZES[name]:
        message = f"logicalType {name} needs a fixed of size {_SIZES[name]}: it is ignored"
        yield Ignored(message, where, f"write size {_SIZES[name]}")


def _of_decimal(node: dict[str, Any], at: str) -> Iterator[Ignored]:
    precision, scale = node.get("precision"), node.get("scale", 0)
    if "precision" not in node:
        message = "a decimal without precision: its logicalType is ignored"
        hint = "add the number of digits, as precision: 12, and scale: 2 for those behind the point"
        yield Ignored(message, f"{at}/logicalType", hint)
    elif not _is_count(precision) or precision == 0:
        message = "the precision of a decimal must be a whole number above 0: it is ignored"
        yield Ignored(message, f"{at}/precision", "write the number of digits")
    elif not _is_count(scale) or scale > precision:
        message = f"the scale of a decimal must be 0 to its precision {precision}: it is ignored"
        hint = "precision counts all digits, scale those behind the point"
        yield Ignored(message, f"{at}/scale", hint)
    elif node["type"] == "fixed" and precision > (most := _most(node.get("size"))):
        message = f"a fixed of size {node.get('size')} holds {most} digits: the decimal is ignored"
        yield Ignored(message, f"{at}/precision", "lower it, or make the fixed larger")


def _most(size: object) -> int:
    return most_digits(size) if _is_count(size) else 0


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _of_fields(node: dict[str, Any], at: str) -> Iterator[Ignored]:
    """A logicalType beside a field's type, where Avro looks for none."""
    fields = node.get("fields")
    for index, field in enumerate(fields if isinstance(fields, list) else ()):
        name = field.get("logicalType") if isinstance(field, dict) else None
        if isinstance(name, str) and name in LOGICAL_TYPES:
            message = f"logicalType {name} stands beside the type of a field: it is ignored"
            kind = field.get("type")
            inner = kind if isinstance(kind, str) else LOGICAL_TYPES[name][0]
            hint = f'put it into the type: {{"type": "{inner}", "logicalType": "{name}"}}'
            yield Ignored(message, f"{at}/fields/{index}/logicalType", hint)
