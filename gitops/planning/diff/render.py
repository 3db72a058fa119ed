"""Avro types and defaults as short text."""

from __future__ import annotations

import json
from collections.abc import Mapping

from gitops.compatibility.avro.json_text import Json
from gitops.compatibility.avro.schema import (
    Array,
    Enum,
    Field,
    Fixed,
    Map,
    Missing,
    Record,
    Schema,
    Union,
    short_name,
)


def render_type(schema: Schema) -> str:
    """`long`, `[null, string]`, `array<Item>`, `bytes (decimal 10,2)` and so on."""
    return _plain(schema) + _logical(schema.props)


def render_field(field: Field) -> str:
    """The type, and the default if there is one."""
    return render_type(field.type) + render_default(field.default)


def render_default(default: Json | Missing) -> str:
    """` = null`, or nothing where there is none."""
    return "" if isinstance(default, Missing) else f" = {render_json(default)}"


def render_json(value: Json) -> str:
    """Compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _plain(schema: Schema) -> str:
    match schema:
        case Record() | Enum() | Fixed():
            return short_name(schema.name)
        case Array():
            return f"array<{render_type(schema.items)}>"
        case Map():
            return f"map<{render_type(schema.values)}>"
        case Union():
            return "[" + ", ".join(render_type(branch) for branch in schema.branches) + "]"
        case _:
            return schema.kind


def _logical(props: Mapping[str, Json]) -> str:
    logical = props.get("logicalType")
    if not isinstance(logical, str):
        return ""
    numbers = [str(props[key]) for key in ("precision", "scale") if key in props]
    return f" ({' '.join([logical, ','.join(numbers)]).strip()})"
