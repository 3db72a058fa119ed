"""A PROTOBUF_NATIVE definition with every type found, and its fields as people write them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from gitops.schemas.protobuf_native.descriptors import Label, ReservedFields, Type

# A PROTOBUF_NATIVE definition with every type found and every default rule of Protobuf applied.

_NOTHING_RESERVED: Final = ReservedFields()


@dataclass(frozen=True, slots=True, kw_only=True)
class EnumValue:
    """A name and a number, which several names may share."""

    name: str
    number: int


@dataclass(slots=True, eq=False, kw_only=True)
class Enum:
    """`closed`: a reader takes a number that the enum does not name for an unknown field.

    `numbers` are those of the values by name.
    """

    full_name: str
    values: tuple[EnumValue, ...]
    numbers: Mapping[str, int]
    closed: bool = False
    reserved: ReservedFields = _NOTHING_RESERVED


@dataclass(slots=True, eq=False, kw_only=True)
class Message:
    """`fields` in the order of the file, extensions of other files and messages behind them.

    `message_set`: its extensions are laid out as groups (`message_set_wire_format`).
    """

    full_name: str
    fields: tuple[Field, ...] = ()
    oneofs: tuple[str, ...] = ()
    reserved: ReservedFields = _NOTHING_RESERVED
    map_entry: bool = False
    message_set: bool = False


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Field:
    """A field, or an extension, whose name is `[shop.discount]`.

    `named` is the message or enum of the type. `oneof` is an index into the message's oneofs, None
    also for the oneof that stands for an `optional` of proto3. `presence`: a reader can tell an
    unset value from zero. `checks_utf8`: bytes that are not UTF-8 are refused, in whose place
    others get U+FFFD. `closed`: a reader takes a number that its enum does not name for an
    unknown field, as Java does in every proto2 file, wherever the enum is defined. `only_java`: one
    of the two is so for Java alone.
    `pointer` names the place: `/shop.Order/quantity`.
    `json_name` is how JSON calls it, empty where nobody tells.
    """

    name: str
    number: int
    label: Label
    type: Type
    named: Message | Enum | None
    default: str | None
    oneof: int | None
    presence: bool
    packed: bool
    pointer: str
    checks_utf8: bool = False
    closed: bool = False
    only_java: bool = False
    json_name: str = ""

    @property
    def repeated(self) -> bool:
        """Whether there may be several values; a map is repeated."""
        return self.label is Label.REPEATED

    @property
    def message(self) -> Message | None:
        """The message of the type, None where it is a scalar or an enum."""
        return self.named if isinstance(self.named, Message) else None

    @property
    def entry(self) -> Message | None:
        """Where the field is a map: the message of its entries."""
        message = self.message
        return message if message is not None and message.map_entry and self.repeated else None

    @property
    def enum(self) -> Enum | None:
        """The enum of the type."""
        return self.named if isinstance(self.named, Enum) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaFile:
    """What a `.proto` file says about itself."""

    name: str
    package: str
    syntax: str


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Schema:
    """All messages and enums of the root's file and of its imports; the root's file is the last."""

    root: Message
    messages: tuple[Message, ...]
    enums: tuple[Enum, ...]
    files: tuple[SchemaFile, ...] = field(default_factory=tuple)


def pointer(full_name: str, member: str | None = None) -> str:
    """The place of a message, an enum or an extension, or of a field or a value below one."""
    parts = (full_name,) if member is None else (full_name, member)
    return "".join(f"/{part.replace('~', '~0').replace('/', '~1')}" for part in parts)


def short_name(full_name: str) -> str:
    """The name without its package and the messages around it."""
    return full_name.rpartition(".")[2]


# Fields as people write them in a `.proto` file.


_LONGEST: Final = 500
"""Messages may nest without end: what is behind so many characters of a path is left out."""

_LABELS: Final = {Label.REPEATED: "repeated ", Label.REQUIRED: "required "}


def render_type(field: Field) -> str:
    """`int32`, `Item`, `group Item`, `map<string, Item>`: the type without its label."""
    entry = field.entry
    if entry is not None:
        return f"map<{_of_entry(entry, 1)}, {_of_entry(entry, 2)}>"
    if field.named is None:
        return field.type.name.lower()
    name = short_name(field.named.full_name)
    return f"group {name}" if field.type is Type.GROUP else name


def render_labelled_type(field: Field) -> str:
    """`repeated int32`: the type with its label; `optional` is not said."""
    label = "" if field.entry else _LABELS.get(field.label, "")
    return f"{label}{render_type(field)}"


def render_field(field: Field) -> str:
    """`repeated int32 = 7`, with the default if there is one."""
    default = "" if field.default is None else f" [default = {field.default}]"
    return f"{render_labelled_type(field)} = {field.number}{default}"


def join(path: str, name: str) -> str:
    """The path of a field below that of its message."""
    above = path if len(path) < _LONGEST else f"{path[:_LONGEST]}…"
    return f"{above}.{name}" if above else name


def _of_entry(entry: Message, number: int) -> str:
    """Keys have the number 1 and values 2; a hand-made entry may lack one of them."""
    result = next((field for field in entry.fields if field.number == number), None)
    return "?" if result is None or result.entry is not None else render_type(result)
