"""Avro schemas as values: what the parser makes and what equality and resolution read.

Nodes compare by identity, since a recursive schema contains itself; `canonical.key` compares
them as Avro for Java does. `pointer` says where in the definition a node stands. Definitions
share the nodes of fields that are the same at the same place: nobody may change a parsed schema.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from itertools import compress, count
from operator import is_not
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

NO_PROPS: Final[Mapping[str, Json]] = {}
"""The properties of most nodes: one empty mapping for all, instead of one for each."""


# The parser makes some hundred nodes for a definition: their members may be given by position,
# since Python takes about a third longer for names.


@dataclass(slots=True, eq=False)
class Primitive:
    """`kind` is the type's name."""

    kind: str
    props: Mapping[str, Json] = field(default_factory=dict)
    pointer: str = ""


@dataclass(slots=True, eq=False)
class Array:
    """An array of `items`."""

    items: Schema
    props: Mapping[str, Json] = field(default_factory=dict)
    pointer: str = ""
    kind: str = "array"


@dataclass(slots=True, eq=False)
class Map:
    """A map from text to `values`."""

    values: Schema
    props: Mapping[str, Json] = field(default_factory=dict)
    pointer: str = ""
    kind: str = "map"


@dataclass(slots=True, eq=False)
class Union:
    """A union; a union has no properties. `facts` as for a record."""

    branches: tuple[Schema, ...]
    props: Mapping[str, Json] = field(default_factory=dict)
    pointer: str = ""
    kind: str = "union"
    facts: Facts | None = None


@dataclass(slots=True, eq=False)
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


@dataclass(slots=True, eq=False)
class Fixed:
    """`size` in bytes."""

    name: str
    size: int
    aliases: tuple[str, ...] = ()
    doc: str | None = None
    props: Mapping[str, Json] = field(default_factory=dict)
    pointer: str = ""
    kind: str = "fixed"


@dataclass(slots=True, eq=False)
class Contents:
    """What a field holds that is more than itself: the types that it defines, and aliases.

    `refers_back`: a record in it names itself or one that it stands in.
    """

    names: tuple[Named, ...]
    has_aliases: bool
    refers_back: bool


@dataclass(slots=True, eq=False)
class Field:
    """A record's field; `default` is MISSING where there is none.

    Fields with one `likeness` say the same, wherever they stand: what their types contain is the
    same too, and their defaults are valid. A field whose type needs a name from outside has
    none. `contents` are None where it defines no type and neither it nor its type has aliases.
    `key` is for `canonical`.
    """

    name: str
    type: Schema
    default: Json | Missing = MISSING
    order: str = "ASCENDING"
    aliases: tuple[str, ...] = ()
    doc: str | None = None
    props: Mapping[str, Json] = field(default_factory=dict)
    pointer: str = ""
    likeness: bytes | None = None
    contents: Contents | None = None
    key: Hashable = None

    @property
    def is_plain(self) -> bool:
        """Whether it is known to stand for itself, without any named type or alias."""
        return self.likeness is not None and self.contents is None

    @property
    def has_default(self) -> bool:
        """Whether a default is given; `null` is one."""
        return not isinstance(self.default, Missing)


@dataclass(slots=True, eq=False)
class Facts:
    """What is known of a whole definition, so that no check has to walk over it.

    `refers_back`: a record in it names itself or one that it stands in. The rest is None until
    it is asked for.
    """

    has_aliases: bool
    refers_back: bool
    recurses: bool | None = None
    key: Hashable = None


@dataclass(slots=True, eq=False)
class Record:
    """A record or an error; `fields` is None while it is being read, as in Java.

    `facts` are those of the definition whose top it is.
    """

    name: str
    fields: tuple[Field, ...] | None = None
    by_name: Mapping[str, Field] = field(default_factory=dict)
    aliases: tuple[str, ...] = ()
    doc: str | None = None
    props: Mapping[str, Json] = field(default_factory=dict)
    pointer: str = ""
    kind: str = "record"
    facts: Facts | None = None

    def set_fields(self, fields: tuple[Field, ...]) -> None:
        """Complete the record; names must be distinct."""
        self.fields = fields
        self.by_name = {f.name: f for f in fields}

    @property
    def all_fields(self) -> tuple[Field, ...]:
        """The fields of a complete record."""
        return self.fields or ()

    def differing(self, other: Record) -> list[Field]:
        """The fields, in order, that complete `other` does not have just so.

        Versions mostly begin with fields that are the same objects, which Python skips without a
        step for each.
        """
        mine, theirs = self.all_fields, other.all_fields
        shortest = min(len(mine), len(theirs))
        first = next(compress(count(), map(is_not, mine, theirs)), shortest)
        return [
            field
            for field in mine[first:]
            if field.likeness is None
            or (same := other.by_name.get(field.name)) is None
            or same.likeness != field.likeness
        ]


Named = Record | Enum | Fixed
Schema = Primitive | Array | Map | Union | Named
_NAMED: Final = (Record, Enum, Fixed)


def facts_of(schema: Schema) -> Facts:
    """What is known of a definition by its top; the worst where nobody noted it."""
    noted = schema.facts if isinstance(schema, Record | Union) else None
    return noted or Facts(has_aliases=True, refers_back=True)


def short_name(full_name: str) -> str:
    """`a.b.C` → `C`."""
    return full_name.rpartition(".")[2]


def branch_name(schema: Schema) -> str:
    """What a union tells its branches apart by: the full name, else the kind."""
    return schema.name if isinstance(schema, _NAMED) else schema.kind


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
