"""What a reader's message makes of the fields that a writer's message has, by number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from gitops.replay.kernel.protobuf.definition import is_opaque, numbers_of
from gitops.replay.kernel.verdicts import join_path
from gitops.schemas.protobuf_native.descriptors import Label, Type
from gitops.schemas.protobuf_native.schema import Field, Message
from gitops.schemas.protobuf_native.wire_format import (
    FIXED32,
    FIXED64,
    LENGTH_DELIMITED,
    START_GROUP,
    VARINT,
)

_MANY: Final = 20_000
"""Fields after which messages that were met before share the paths that they had there."""

VARINTS: Final = frozenset(
    {
        Type.INT32,
        Type.INT64,
        Type.UINT32,
        Type.UINT64,
        Type.SINT32,
        Type.SINT64,
        Type.BOOL,
        Type.ENUM,
    }
)
FIXED32S: Final = frozenset({Type.FLOAT, Type.FIXED32, Type.SFIXED32})
FIXED64S: Final = frozenset({Type.DOUBLE, Type.FIXED64, Type.SFIXED64})

WIRE_TYPES: Final[Mapping[Type, int]] = {
    **dict.fromkeys(VARINTS, VARINT),
    **dict.fromkeys(FIXED32S, FIXED32),
    **dict.fromkeys(FIXED64S, FIXED64),
    Type.STRING: LENGTH_DELIMITED,
    Type.BYTES: LENGTH_DELIMITED,
    Type.MESSAGE: LENGTH_DELIMITED,
    Type.GROUP: START_GROUP,
}
"""How the value of a type stands on the wire."""


@dataclass(slots=True, eq=False, kw_only=True)
class Slot:
    """A field of the reader, and the writer's of the same number.

    `written` is None where the writer has none, or one whose values stand on the wire in another
    way, so that the reader passes them over.

    `path` is the field's, `item` that of a single value: `tags[]`, `attrs{}`, or the field's.
    `inner` is the plan of the message that it holds. `names` are those of an enum's numbers,
    `written_names` the writer's; None where there are none or they are not known.
    """

    field: Field
    written: Field | None
    path: str
    item: str
    inner: Fields | None = None
    names: dict[int, list[str]] | None = None
    written_names: dict[int, list[str]] | None = None

    @property
    def required(self) -> bool:
        """Whether a message without it cannot be read."""
        return self.field.label is Label.REQUIRED

    @property
    def retyped(self) -> bool:
        """Whether the writer's type is another one."""
        return self.written is not None and self.written.type is not self.field.type


class Oneof(NamedTuple):
    """A oneof of the reader and the numbers of its fields."""

    name: str
    path: str
    numbers: tuple[int, ...]


@dataclass(slots=True, eq=False, kw_only=True)
class Fields:
    """A message: `slots` by number, `dropped` the paths of fields that only the writer has.

    `opaque`: nothing is known of it. `entry`: it is an entry of a map.
    """

    path: str
    opaque: bool = False
    entry: bool = False
    slots: dict[int, Slot] = field(default_factory=dict)
    dropped: dict[int, str] = field(default_factory=dict)
    oneofs: list[Oneof] = field(default_factory=list)
    siblings: dict[int, tuple[int, ...]] = field(default_factory=dict)


def pair(writer: Message, reader: Message) -> Fields:
    """The plan of a reader; extensions are fields that no reader knows of itself."""
    return _Pairer().message(writer, reader, "")


class _Pairer:
    def __init__(self) -> None:
        self._within: dict[tuple[int, int], Fields] = {}
        self._made: dict[tuple[int, int], Fields] = {}
        self._fields = 0

    def message(self, writer: Message | None, reader: Message, path: str) -> Fields:
        both = (id(writer), id(reader))
        known = (self._within if self._fields < _MANY else self._made).get(both)
        if known is not None:
            return known
        made = Fields(path=path, entry=reader.map_entry)
        self._within[both] = self._made[both] = made
        written = {element.number: element for element in writer.fields} if writer else {}
        for item in reader.fields:
            if not _is_extension(item):
                is_value = reader.map_entry and item.name == "value"
                own = path if is_value else join_path(path, item.name)
                made.slots[item.number] = self._slot(written.get(item.number), item, own)
        made.dropped = {
            number: join_path(path, element.name)
            for number, element in written.items()
            if number not in made.slots
        }
        for index, name in enumerate(reader.oneofs):
            numbers = tuple(
                slot.field.number for slot in made.slots.values() if _is_in(slot, index)
            )
            if numbers:
                made.oneofs.append(Oneof(name, join_path(path, name), numbers))
                made.siblings |= {
                    number: tuple(n for n in numbers if n != number) for number in numbers
                }
        del self._within[both]
        return made

    def _slot(self, written: Field | None, element: Field, own: str) -> Slot:
        self._fields += 1
        if written is not None and WIRE_TYPES[written.type] != WIRE_TYPES[element.type]:
            written = None
        item = own
        if element.repeated:
            item = f"{own}{{}}" if element.entry is not None else f"{own}[]"
        slot = Slot(field=element, written=written, path=own, item=item, names=numbers_of(element))
        if written is not None:
            slot.written_names = numbers_of(written)
        if element.message is not None:
            slot.inner = self.message(written.message if written else None, element.message, item)
        elif is_opaque(element):
            slot.inner = Fields(path=item, opaque=True)
        return slot


def _is_extension(item: Field) -> bool:
    return item.name.startswith("[")


def _is_in(slot: Slot, oneof: int) -> bool:
    return slot.field.oneof == oneof
