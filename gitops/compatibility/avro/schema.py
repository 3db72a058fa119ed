"""Avro schemas as values: what the parser makes and what equality and resolution read.

Nodes compare by identity, since a recursive schema contains itself; `canonical.key` compares
them as Avro for Java does. `pointer` says where in the definition a node stands.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from gitops.compatibility.avro.json_text import Json

PRIMITIVES: Final = frozenset(
    {"null", "boolean", "int", "long", "float", "double", "bytes", "string"}
)


class Missing:
    """The type of MISSING: a field without a default, which `null` is not."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = Missing()


@dataclass(slots=True, eq=False, kw_only=True)
class Primitive:
    """`kind` is the type's name."""

    kind: str
    props: Mapping[str, Json] = field(default_factory=dict)
    pointer: str = ""


@dataclass(slots=True, eq=False, kw_only=True)
class Array:
    """An array of `items`."""

    items: Schema
    props: Mapping[str, Json] = field(default_factory=dict)
    pointer: str = ""
    kind: str = "array"


@dataclass(slots=True, eq=False, kw_only=True)
class Map:
    """A map from text to `values`."""

    values: Schema
    props: Mapping[str, Json] = field(default_factory=dict)
    pointer: str = ""
    kind: str = "map"


@dataclass(slots=True, eq=False, kw_only=True)
class Union:
    """A union; a union has no properties."""

    branches: tuple[Schema, ...]
    props: Mapping[str, Json] = field(default_factory=dict)
    pointer: str = ""
    kind: str = "union"


@dataclass(slots=True, eq=False, kw_only=True)
class Enum:
    """`name` is the full name; `default` None where there is none."""

    name: str
    symbols: tuple[str, ...]
    default: str | None = None
    aliases: tuple[str, ...] = ()
    doc: str | None = None
    props: Mapping[str, Json] = field(default_factory=dict)
    pointer: str = ""
    kind: str = "enum"


@dataclass(slots=True, eq=False, kw_only=True)
class Fixed:
    """`size` in bytes."""

    name: str
    size: int
    aliases: tuple[str, ...] = ()
    doc: str | None = None
    props: Mapping[str, Json] = field(default_factory=dict)
    pointer: str = ""
    kind: str = "fixed"


@dataclass(slots=True, eq=False, kw_only=True)
class Field:
    """A record's field; `default` is MISSING where there is none."""

    name: str
    type: Schema
    default: Json | Missing = MISSING
    order: str = "ASCENDING"
    aliases: tuple[str, ...] = ()
    doc: str | None = None
    props: Mapping[str, Json] = field(default_factory=dict)
    pointer: str = ""

    @property
    def has_default(self) -> bool:
        """Whether a default is given; `null` is one."""
        return not isinstance(self.default, Missing)


@dataclass(slots=True, eq=False, kw_only=True)
class Record:
    """A record or an error; `fields` is None while it is being read, as in Java."""

    name: str
    fields: tuple[Field, ...] | None = None
    by_name: Mapping[str, Field] = field(default_factory=dict)
    aliases: tuple[str, ...] = ()
    doc: str | None = None
    props: Mapping[str, Json] = field(default_factory=dict)
    pointer: str = ""
    kind: str = "record"

    def set_fields(self, fields: tuple[Field, ...]) -> None:
        """Complete the record; names must be distinct."""
        self.fields = fields
        self.by_name = {f.name: f for f in fields}

    @property
    def all_fields(self) -> tuple[Field, ...]:
        """The fields of a complete record."""
        return self.fields or ()


Named = Record | Enum | Fixed
Schema = Primitive | Array | Map | Union | Named


def short_name(full_name: str) -> str:
    """`a.b.C` → `C`."""
    return full_name.rpartition(".")[2]


def branch_name(schema: Schema) -> str:
    """What a union tells its branches apart by: the full name, else the kind."""
    return schema.name if isinstance(schema, Record | Enum | Fixed) else schema.kind


def describe(schema: Schema) -> str:
    """How a person would write the type in a sentence."""
    match schema:
        case Record() | Enum() | Fixed():
            return f"{schema.kind} {schema.name}"
        case Array():
            return f"array of {describe(schema.items)}"
        case Map():
            return f"map of {describe(schema.values)}"
        case Union():
            return "[" + ", ".join(map(branch_name, schema.branches)) + "]"
        case Primitive():
            return schema.kind
