"""Avro schemas as values, and their logical types."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Final, TypeGuard

from msgspec import Struct, field

from gitops.schemas.avro.json_text import Json

# Avro schemas as values: what the parser makes and what equality and resolution read.
#
# Nodes compare by identity, since a recursive schema contains itself; `equality.equal` compares
# them as Avro for Java does. Definitions share the nodes of fields and types that say the same:
# nobody may change a parsed schema, and where a node stands is known only to `Places`.

PRIMITIVES: Final = frozenset(
    {"null", "boolean", "int", "long", "float", "double", "bytes", "string"}
)


class Missing(Struct, eq=False, frozen=True, gc=False):
    """The type of MISSING: a field without a default, which `null` is not."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = Missing()

NO_PROPS: Final[Mapping[str, Json]] = {}
"""The properties of most nodes: one empty mapping for all, instead of one for each."""


# The parser makes some hundred nodes for a definition: their members may be given by position,
# since Python takes about a third longer for names.


class Primitive(Struct, eq=False, gc=False):
    """`kind` is the type's name."""

    kind: str
    props: Mapping[str, Json] = field(default_factory=dict)


class Array(Struct, eq=False):
    """An array of `items`."""

    items: Schema
    props: Mapping[str, Json] = field(default_factory=dict)
    kind: str = "array"


class Map(Struct, eq=False):
    """A map from text to `values`."""

    values: Schema
    props: Mapping[str, Json] = field(default_factory=dict)
    kind: str = "map"


class Union(Struct, eq=False):
    """A union; a union has no properties. `facts` as for a record.

    `any_default`: a default may be of any branch, not of the first alone (from Avro 1.12.0 on).
    """

    branches: tuple[Schema, ...]
    props: Mapping[str, Json] = field(default_factory=dict)
    kind: str = "union"
    facts: Facts | None = None
    any_default: bool = False

    @property
    def default_branches(self) -> tuple[Schema, ...]:
        """The branches that a default may be of."""
        return self.branches if self.any_default else self.branches[:1]


class Enum(Struct, eq=False, gc=False):
    """`name` is the full name; `default` None where there is none."""

    name: str
    symbols: tuple[str, ...]
    default: str | None = None
    aliases: tuple[str, ...] = ()
    doc: str | None = None
    props: Mapping[str, Json] = field(default_factory=dict)
    kind: str = "enum"


class Fixed(Struct, eq=False, gc=False):
    """`size` in bytes."""

    name: str
    size: int
    aliases: tuple[str, ...] = ()
    doc: str | None = None
    props: Mapping[str, Json] = field(default_factory=dict)
    kind: str = "fixed"


class Contents(Struct, eq=False):
    """What a field holds that is more than itself: the types that it defines, and aliases.

    `names` are full names in the order of definition. `refers_back`: a record in it names itself
    or one that it stands in.
    """

    names: dict[str, Named]
    has_aliases: bool
    refers_back: bool


class Field(Struct, eq=False):
    """A record's field; `default` is MISSING where there is none.

    A `shared` one means the same wherever it stands, and its default is valid: definitions that
    say it word by word have this one node. `contents` are None where it defines no type and
    neither it nor its type has aliases. `props` are None where there are none: Python's garbage
    collector need not look at a field of a primitive type then.
    """

    name: str
    type: Schema
    default: Json | Missing = MISSING
    doc: str | None = None
    order: str = "ASCENDING"
    aliases: tuple[str, ...] = ()
    props: Mapping[str, Json] | None = None
    shared: bool = False
    contents: Contents | None = None

    @property
    def is_plain(self) -> bool:
        """Whether it is known to stand for itself, without any named type or alias."""
        return self.shared and self.contents is None

    @property
    def has_default(self) -> bool:
        """Whether a default is given; `null` is one."""
        return not isinstance(self.default, Missing)


class Facts(Struct, eq=False):
    """What is known of a whole definition, so that no check has to walk over it.

    `refers_back`: a record in it names itself or one that it stands in. `recurses` is None
    until it is asked for.
    """

    has_aliases: bool
    refers_back: bool
    recurses: bool | None = None


class Record(Struct, eq=False):
    """A record or an error; `fields` is None while it is being read, as in Java.

    `members` are the fields again, so that two records can be told apart at once. `facts` are
    those of the definition whose top it is.
    """

    name: str
    fields: tuple[Field, ...] | None = None
    members: frozenset[Field] = frozenset()
    aliases: tuple[str, ...] = ()
    doc: str | None = None
    props: Mapping[str, Json] = field(default_factory=dict)
    kind: str = "record"
    facts: Facts | None = None
    _by_name: dict[str, Field] | None = None

    def set_fields(self, fields: tuple[Field, ...]) -> bool:
        """Complete the record; answers whether the names are distinct, as they must be."""
        self.fields = fields
        self.members = frozenset(fields)
        return len(set(map(_NAME, fields))) == len(fields)

    @property
    def by_name(self) -> Mapping[str, Field]:
        """The fields of a complete record by their names; most are never asked for them."""
        if self._by_name is None:
            self._by_name = {field.name: field for field in self.all_fields}
        return self._by_name

    @property
    def all_fields(self) -> tuple[Field, ...]:
        """The fields of a complete record."""
        return self.fields or ()


Named = Record | Enum | Fixed
Schema = Primitive | Array | Map | Union | Named
_NAME: Final = attrgetter("name")
_TOPS: Final = (Record, Union)
_NAMED: Final = (Record, Enum, Fixed)


_FEW: Final = 4


def differing_fields(left: Record, right: Record) -> tuple[Collection[Field], Collection[Field]]:
    """The fields of each of two complete records, in order, that they do not share.

    Versions share most fields, which sets tell without a step of Python for each.
    """
    fields, items = left.members, right.members
    return _in_order(fields - items, left.all_fields), _in_order(items - fields, right.all_fields)


def _in_order(some: Collection[Field], fields: tuple[Field, ...]) -> Collection[Field]:
    """One or two of a record's fields are found sooner than all are looked at."""
    if len(some) <= 1:
        return some
    if len(some) <= _FEW:
        return sorted(some, key=fields.index)
    return [field for field in fields if field in some]


def facts_of(schema: Schema) -> Facts:
    """What is known of a definition by its top; the worst where nobody noted it."""
    noted = schema.facts if isinstance(schema, _TOPS) else None
    return noted or Facts(has_aliases=True, refers_back=True)


def named_types(schema: Schema) -> list[Named]:
    """The named types of a definition, the outer before the inner, each once."""
    grouped: dict[int, Named] = {}
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        match node:
            case Record() | Enum() | Fixed() if id(node) not in grouped:
                grouped[id(node)] = node
                inner = node.all_fields if isinstance(node, Record) else ()
                waiting += [field.type for field in reversed(inner)]
            case Array():
                waiting.append(node.items)
            case Map():
                waiting.append(node.values)
            case Union():
                waiting += reversed(node.branches)
            case _:
                pass
    return list(grouped.values())


def short_name(full_name: str) -> str:
    """`a.b.C` → `C`."""
    return full_name.rpartition(".")[2]


def branch_name(schema: Schema) -> str:
    """What a union tells its branches apart by: the full name, else the kind."""
    return schema.name if isinstance(schema, _NAMED) else schema.kind


def describe(schema: Schema) -> str:
    """How a person would write the type in a sentence."""
    if isinstance(schema, Primitive):
        return schema.kind
    match schema:
        case Record() | Enum() | Fixed():
            return f"{schema.kind} {schema.name}"
        case Array():
            return f"array of {describe(schema.items)}"
        case Map():
            return f"map of {describe(schema.values)}"
        case Union():
            return "[" + ", ".join(map(branch_name, schema.branches)) + "]"


# Logical types: which there are, what they stand on, and how many digits fit.


LOGICAL_TYPES: Final[Mapping[str, tuple[str, ...]]] = {
    "decimal": ("bytes", "fixed"),
    "big-decimal": ("bytes",),
    "uuid": ("string", "fixed"),
    "date": ("int",),
    "time-millis": ("int",),
    "time-micros": ("long",),
    "timestamp-millis": ("long",),
    "timestamp-micros": ("long",),
    "timestamp-nanos": ("long",),
    "local-timestamp-millis": ("long",),
    "local-timestamp-micros": ("long",),
    "local-timestamp-nanos": ("long",),
    "duration": ("fixed",),
}
"""The types of Avro's specification 1.12, each with the types that it may stand on."""

_INT: Final = 2**31
_BITS: Final = 8
_WIDEST: Final = 1000
"""Bytes that hold more digits than any precision that people write."""


@dataclass(frozen=True, slots=True)
class Decimal:
    """A logical type with numbers of its own: `scale` digits stand behind the point."""

    precision: int
    scale: int

    def __str__(self) -> str:
        return f"decimal({self.precision}, {self.scale})"


def decimal_of(schema: Schema) -> Decimal | None:
    """The decimal that Avro makes of it: one with senseless numbers is plain (Avro 1.11.4)."""
    if schema.props.get("logicalType") != "decimal" or schema.kind not in ("bytes", "fixed"):
        return None
    precision, scale = schema.props.get("precision"), schema.props.get("scale", 0)
    if not _is_int(precision) or not _is_int(scale):
        return None
    fits = not isinstance(schema, Fixed) or precision <= most_digits(schema.size)
    return Decimal(precision, scale) if 0 <= scale <= precision > 0 and fits else None


def _is_int(value: object) -> TypeGuard[int]:
    """Whether it is an `Integer` of Java's."""
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < _INT


def logical_type_of(schema: Schema) -> str:
    """The logical type that the values have for Avro, empty where it ignores it (Avro 1.11.4)."""
    name = schema.props.get("logicalType")
    if name == "decimal":
        return "" if decimal_of(schema) is None else "decimal"
    return name if isinstance(name, str) and schema.kind in LOGICAL_TYPES.get(name, ()) else ""


def most_digits(size: int) -> int:
    """How many decimal digits fit into a fixed for certain, as Java's `maxPrecision` counts."""
    return len(str(2 ** (_BITS * min(size, _WIDEST) - 1) - 1)) - 1 if size else 0
