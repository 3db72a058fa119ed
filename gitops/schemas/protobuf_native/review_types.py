"""Changes of types and enums: what a reader of one makes of the values of another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from gitops.schemas.protobuf_native.descriptors import Label, Type
from gitops.schemas.protobuf_native.field_matching import similar_names
from gitops.schemas.protobuf_native.schema import (
    Enum,
    EnumValue,
    Field,
    Message,
    join,
    pointer,
    render_type,
    short_name,
)
from gitops.schemas.row import Remark

# Where a walk over two PROTOBUF_NATIVE definitions is, and what it is asked about.

_VALUE: Final = 2
"""The number of the value in a map's entry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A pair of messages; `forward`: consumers of the old one are to read the new one too.

    `path` leads to the messages. The pointers are set inside the entries of a map, which have no
    place of their own: they are those of the map.
    """

    old: Message
    new: Message
    forward: bool
    path: str = ""
    pointer: str = ""
    old_pointer: str = ""

    def remark(
        self, rule: str, message: str, *, old: Field | None, new: Field | None, hint: str
    ) -> Remark:
        """About a field, of which one side may be missing: its message stands for it."""
        field = new or old
        return Remark(
            rule=rule,
            message=message,
            path=self.path_of(field) if field else self.path,
            pointer=self.pointer or (new.pointer if new else pointer(self.new.full_name)),
            old_pointer=self.old_pointer or (old.pointer if old else pointer(self.old.full_name)),
            hint=hint,
        )

    def path_of(self, field: Field) -> str:
        """`items[].sku`; `labels{}` for the value of a map, `labels.key` for its key."""
        if self.pointer and field.number == _VALUE:
            return f"{self.path}{{}}"
        return join(self.path, field.name)

    def into(self, old: Field, new: Field, messages: tuple[Message, Message]) -> Change:
        """Down into the messages of a field."""
        path, inner = self.path_of(new), replace(self, old=messages[0], new=messages[1])
        if old.entry and new.entry:
            return replace(inner, path=path, pointer=new.pointer, old_pointer=old.pointer)
        items = "[]" if new.repeated else ""
        return replace(inner, path=f"{path}{items}", pointer="", old_pointer="")


# Types: what a reader of one makes of the values of another (Protobuf's encoding).


_VARINT: Final = frozenset((Type.INT32, Type.INT64, Type.UINT32, Type.UINT64, Type.BOOL, Type.ENUM))
_ZIGZAG: Final = frozenset((Type.SINT32, Type.SINT64))
_LENGTH: Final = frozenset((Type.STRING, Type.BYTES, Type.MESSAGE))
_NUMBERS: Final = (
    _VARINT,
    _ZIGZAG,
    frozenset((Type.FIXED32, Type.SFIXED32)),
    frozenset((Type.FIXED64, Type.SFIXED64)),
)
_FAMILIES: Final = (*_NUMBERS, _LENGTH)
"""Types that are laid out alike; the others are each for itself."""

_WIRE_TYPES: Final = (
    _VARINT | _ZIGZAG,
    frozenset((Type.FIXED32, Type.SFIXED32, Type.FLOAT)),
    frozenset((Type.FIXED64, Type.SFIXED64, Type.DOUBLE)),
    _LENGTH,
)
"""Types that are told apart by the schema alone."""

_WIDE: Final = frozenset((Type.INT64, Type.UINT64, Type.SINT64, Type.FIXED64, Type.SFIXED64))
_UNSIGNED: Final = frozenset((Type.UINT32, Type.UINT64, Type.FIXED32, Type.FIXED64))
_SMALL: Final = frozenset((Type.BOOL, Type.ENUM))
"""Numbers that fit into every type of numbers."""


@dataclass(frozen=True, slots=True)
class ReadEffect:
    """What readers do; `lost`: no value comes out right, otherwise some do.

    `fails`: on some values they stop, instead of reading other ones. What is not `lost` Protobuf's
    encoding rules call compatible, under the condition that is told. `breaks`: there are numbers
    that come out as others for certain; of text and nested messages it depends on what is written.
    """

    what: str
    lost: bool = False
    fails: bool = False
    breaks: bool = False


def type_remarks(old: Field, new: Field, at: Change) -> Iterator[Remark]:
    """About a field whose type is another one; two messages are compared by their fields."""
    back = read_effect(old, new)
    forth = read_effect(new, old) if at.forward else None
    if back or forth:
        remark = at.remark(
            "PROTO-W004" if back and back.lost else "PROTO-W005",
            f"{render_type(old)} becomes {render_type(new)}, which Pulsar does not compare: "
            + consumers_text(back.what if back else "", forth.what if forth else ""),
            old=old,
            new=new,
            hint=f"keep {render_type(old)}, or add a field with another name and number",
        )
        yield replace(
            remark,
            stops_readers=_stops(back, at.new, new),
            stops_old_readers=_stops(forth, at.old, old),
            breaks_readers=back is not None and (back.lost or back.breaks),
            breaks_old_readers=forth is not None and (forth.lost or forth.breaks),
        )


def layout_remarks(at: Change) -> Iterator[Remark]:
    """About a message that becomes a message set, whose readers alone know both layouts.

    So it is in Java (protobuf-java 3.25.5), C++ and Python; Go has no message sets.
    """
    if at.old.message_set == at.new.message_set:
        return
    if not at.new.message_set:
        what = "is no message set now"
        effect = consumers_text(
            "do not find its extensions, which older messages have as groups", ""
        )
    elif at.forward:
        what = "becomes a message set"
        effect = consumers_text("", "do not find its extensions, which are groups now")
    else:
        what = "becomes a message set"
        effect = (
            "consumers with the new schema read the extensions of older messages in Java, C++ "
            "and Python; in other languages that is unknown"
        )
    remark = at.remark(
        "PROTO-W004",
        f"{short_name(at.new.full_name)} {what}, which Pulsar does not compare: {effect}",
        old=None,
        new=None,
        hint="keep the option `message_set_wire_format` as it is",
    )
    yield replace(
        remark,
        path=at.path or at.new.full_name,
        breaks_readers=at.old.message_set,
        breaks_old_readers=at.new.message_set,
    )


def utf8_remarks(
    texts: Sequence[tuple[Change, Field, Field]], *, forward: bool
) -> Iterator[Remark]:
    """About strings that readers check now, or no longer: one remark for all of them.

    In most cases a whole file moves to another syntax, and few producers write other bytes than
    UTF-8: hence no reader counts as one that fails.
    """
    stricter = [text for text in texts if _utf8_check(text[1]) < _utf8_check(text[2])]
    if stricter:
        yield _utf8_remark(stricter, "are checked for UTF-8 now", "new")
    looser = [text for text in texts if _utf8_check(text[1]) > _utf8_check(text[2])]
    if looser and forward:
        yield _utf8_remark(looser, "are no longer checked for UTF-8", "old")


def _utf8_check(field: Field) -> int:
    """Who refuses bytes that are not UTF-8: nobody (0), Java alone (1), everybody (2)."""
    if not field.checks_utf8:
        return 0
    return 1 if field.only_java else 2


def _utf8_remark(texts: Sequence[tuple[Change, Field, Field]], change: str, who: str) -> Remark:
    at, old, new = texts[0]
    reader, writer = (new, old) if who == "new" else (old, new)
    where = " in Java" if reader.only_java else " outside Java" if writer.only_java else ""
    others = len(texts) - 1
    strings = f"strings such as '{at.path_of(new)}'" if others else f"'{at.path_of(new)}'"
    return at.remark(
        "PROTO-W005",
        f"{strings} {change if others else change.replace('are', 'is', 1)}, which Pulsar does not "
        f"compare: consumers{where} with the {who} schema fail on bytes that are not UTF-8, which "
        "producers may write where nobody checks",
        old=old,
        new=new,
        hint="make sure that every producer writes UTF-8",
    )


def consumers_text(new: str, old: str) -> str:
    """What consumers with the new schema do, and those with the old one; empty for nothing odd."""
    if new == old:
        return f"consumers with the new or the old schema {new}"
    effects = (("new", new), ("old", old))
    return "; ".join(f"consumers with the {who} schema {what}" for who, what in effects if what)


def _stops(effect: ReadEffect | None, message: Message, reader: Field) -> bool:
    """Whether readers fail, also on a value that they do not find."""
    if effect is None:
        return False
    return effect.fails or (effect.lost and message.map_entry and is_required(reader, message))


def is_required(field: Field, message: Message) -> bool:
    """Whether a parser fails without it: on a map's entry too, whose message needs a field."""
    if not message.map_entry or field.message is None:
        return field.label is Label.REQUIRED
    return any(inner.label is Label.REQUIRED for inner in field.message.fields)


def read_effect(writer: Field, reader: Field) -> ReadEffect | None:
    """What becomes of the writer's values; None where all of them come out as they were."""
    if writer.type is reader.type:
        return None
    if not _together(writer.type, reader.type, _WIRE_TYPES):
        return _other_wire_type(writer, reader)
    if not _together(writer.type, reader.type, _FAMILIES):
        return ReadEffect(_misread(writer, reader), lost=True, fails=needs_value(reader))
    if writer.type in _LENGTH:
        return _length_delimited(writer, reader)
    if reader.enum is not None:
        return _into_enum(writer, reader, reader.enum)
    what = number_effect(writer.type, reader.type)
    return ReadEffect(what, breaks=True) if what else None


def needs_value(reader: Field) -> bool:
    """Whether a number that an enum does not name is a required field that is missing."""
    return reader.closed and reader.label is Label.REQUIRED


def laid_out_alike(left: Type, right: Type) -> bool:
    """Whether Protobuf's encoding rules let fields of either type read the other's values."""
    return _together(left, right, _FAMILIES) and {left, right} != {Type.MESSAGE, Type.STRING}


def _together(left: Type, right: Type, families: tuple[frozenset[Type], ...]) -> bool:
    return any(left in family and right in family for family in families)


def _other_wire_type(writer: Field, reader: Field) -> ReadEffect:
    """A value that is not found is missed where it is required (Protobuf 3.25 for Java).

    Many numbers are packed into one value, which has a length as a text has it.
    """
    has_length = writer.packed or writer.type in _LENGTH
    is_read = reader.type in _LENGTH or (reader.repeated and reader.type is not Type.GROUP)
    if has_length and is_read:
        if _fills_items(writer, reader):
            return ReadEffect("read other values", lost=True)
        return ReadEffect("lose the values, read other ones or fail", lost=True, fails=True)
    if reader.label is Label.REQUIRED:
        what = "fail: they do not find the value, which is laid out in another way and required"
        return ReadEffect(what, lost=True, fails=True)
    return ReadEffect("do not find the value, which is laid out in another way", lost=True)


def _fills_items(writer: Field, reader: Field) -> bool:
    """Whether packed values of the writer are always some of the reader's, or any bytes are."""
    if reader.type is Type.STRING:
        return writer.type is Type.BOOL or not reader.checks_utf8
    if writer.entry and reader.type in _WIRE_TYPES[0]:  # its last byte is that of its value
        return writer.entry.fields[-1].type in _WIRE_TYPES[0]
    is_half = writer.type in _WIRE_TYPES[2] and reader.type in _WIRE_TYPES[1]
    return is_half or reader.type is Type.BYTES


def _misread(writer: Field, reader: Field) -> str:
    if reader.type in _ZIGZAG:
        return "read other numbers, 1 as -1"
    if writer.type in _ZIGZAG:
        return "read other numbers, 1 as 2"
    return f"read its bits as a {reader.type.name.lower()}"


def _length_delimited(writer: Field, reader: Field) -> ReadEffect | None:
    match writer.type, reader.type:
        case Type.STRING, Type.BYTES:
            return None
        case Type.BYTES, Type.STRING:
            if not reader.checks_utf8:
                return ReadEffect("get other text where bytes are no UTF-8")
            return ReadEffect("fail on bytes that are no UTF-8", fails=True)
        case Type.MESSAGE, Type.BYTES:
            return ReadEffect("get the encoded message and none of its fields")
        case Type.BYTES, Type.MESSAGE:
            return ReadEffect(
                f"fail on bytes that are no encoded {render_type(reader)}", fails=True
            )
        case Type.MESSAGE, _:
            fails = reader.checks_utf8
            what = f"read the encoded message as text{', or fail' if fails else ''}"
            return ReadEffect(what, lost=True, fails=fails)
        case _:
            return ReadEffect("read the text as an encoded message and fail", lost=True, fails=True)


def number_effect(writer: Type, reader: Type) -> str:
    """What readers make of some numbers of another type that is laid out alike, empty for none."""
    if writer is reader or Type.ENUM is reader or not _together(writer, reader, _NUMBERS):
        return ""
    if reader is Type.BOOL:
        return "read every number but 0 as true"
    if writer in _SMALL:
        return ""
    if writer in _WIDE and reader not in _WIDE:
        return "get numbers cut to 32 bits"
    if reader in _UNSIGNED and writer not in _UNSIGNED:
        return "read negative numbers as large ones"
    if writer in _UNSIGNED and reader not in _UNSIGNED:
        wider = reader in _WIDE and writer not in _WIDE
        return "" if wider else "read large numbers as negative ones"
    return ""


def _into_enum(writer: Field, reader: Field, enum: Enum) -> ReadEffect | None:
    """An open enum keeps each number."""
    if writer.type is Type.BOOL and {0, 1} <= set(enum.numbers.values()):
        return None
    name = short_name(enum.full_name)
    if needs_value(reader):
        what = f"fail on numbers that {name} does not name, since the field is required"
        return ReadEffect(what, fails=True, breaks=True)
    if enum.closed:
        return ReadEffect(f"drop numbers that {name} does not name", breaks=True)
    return ReadEffect(f"get numbers that {name} does not name")


# Enums: messages carry the number of a value, and readers look up its name.


def enum_remarks(old: Field, new: Field, path: str, *, forward: bool) -> tuple[Remark, ...]:
    """What became of each value; and new ones, where consumers of a closed enum read them."""
    if old.enum is None or new.enum is None:
        return ()
    both = _Enums(old.enum, new.enum, path, needs_value(old), needs_value(new))
    closed = _closed_remarks(old, new, path, forward=forward)
    return (*closed, *both.remarks(forward=forward))


def _closed_remarks(old: Field, new: Field, path: str, *, forward: bool) -> Iterator[Remark]:
    """Only an open enum lets messages have numbers that it does not name."""
    if old.enum is None or new.enum is None or old.closed == new.closed:
        return
    if not (new.closed or forward):
        return
    reader, who, written = (new, "new", "older") if new.closed else (old, "old", "new")
    name = short_name(new.enum.full_name)
    where = " in Java" if reader.only_java else ""
    yield Remark(
        rule="PROTO-W009",
        message=f"{name} becomes {'closed' if new.closed else 'open'}{where}: consumers{where} "
        f"with the {who} schema {_without(needs_value=needs_value(reader))} where {written} "
        "messages have a number that it does not name",
        path=path,
        pointer=pointer(new.enum.full_name),
        old_pointer=pointer(old.enum.full_name),
        hint=f"keep it {'open' if new.closed else 'closed'}, or name every number that messages "
        "have",
    )


@dataclass(slots=True)
class _Enums:
    old: Enum
    new: Enum
    path: str
    old_needs_value: bool
    new_needs_value: bool

    def remarks(self, *, forward: bool) -> Iterator[Remark]:
        later, earlier = self.new.numbers, self.old.numbers
        kept = {number for name, number in earlier.items() if later.get(name) == number}
        there: dict[int, list[str]] = {}
        for value in self.new.values:
            there.setdefault(value.number, []).append(value.name)
        for value in self.old.values:
            now, names = later.get(value.name), there.get(value.number, [])
            if now is not None and now != value.number:
                was_there = [old.name for old in self.old.values if old.number == now]
                remark = self._renumbered(value, now, names, was_there, forward=forward)
                yield replace(
                    remark,
                    breaks_readers=value.number not in kept,
                    breaks_old_readers=now not in kept,
                )
            elif not names:
                yield self._removed(value)
            elif value.number not in kept:  # else it was another name of a value that stays
                is_known = names[0] in earlier
                yield self._other_name(value, names[0], known=is_known, forward=forward)
        if forward and self.old.closed:
            yield from self._added()

    def _removed(self, value: EnumValue) -> Remark:
        reserved = self.new.reserved.has(value.number)
        remark = self._remark(
            "PROTO-W009",
            f"{self._name} loses '{value.name}' = {value.number}: consumers with the new schema "
            f"{self._unknown()}",
            value,
            None,
            "" if reserved else f'add `reserved {value.number};` and `reserved "{value.name}";`',
        )
        fails = self.new_needs_value
        return replace(remark, stops_readers=fails, breaks_readers=fails)

    def _renumbered(
        self,
        value: EnumValue,
        now: int,
        names: list[str],
        was_there: list[str],
        *,
        forward: bool,
    ) -> Remark:
        """`names` are what the old number means now, `was_there` what the new one meant."""
        back = f"read the old number as '{names[0]}'" if names else self._unknown()
        unknown = _unknown(closed=self.old.closed, needs_value=self.old_needs_value)
        forth = f"read the new number as '{was_there[0]}'" if was_there else unknown
        what = consumers_text(back, forth if forward else "")
        remark = self._remark(
            "PROTO-W009",
            f"'{value.name}' of {self._name} changes from {value.number} to {now}: {what}",
            value,
            value.name,
            f"keep the number {value.number}",
        )
        return replace(remark, stops_readers=self.new_needs_value and not names)

    def _other_name(self, value: EnumValue, name: str, *, known: bool, forward: bool) -> Remark:
        if known or not similar_names(value.name, name):
            remark = self._remark(
                "PROTO-W009",
                f"{value.number} of {self._name} means '{name}' instead of '{value.name}': "
                + consumers_text(_AS_OTHER, _AS_OTHER if forward else ""),
                value,
                name,
                f"give '{name}' a number that was never used",
            )
            # A name that the old schema does not have may be a new one for the same value.
            return replace(remark, breaks_readers=known, breaks_old_readers=known)
        return self._remark(
            "PROTO-W011",
            f"'{value.name}' of {self._name} is called '{name}' now: messages are read as before, "
            "JSON and generated code are not",
            value,
            name,
            "",
        )

    def _added(self) -> Iterator[Remark]:
        known = {value.number for value in self.old.values}
        without = _without(needs_value=self.old_needs_value)
        for value in self.new.values:
            if value.number not in known:
                remark = self._remark(
                    "PROTO-W009",
                    f"{self._name} gets '{value.name}' = {value.number}: consumers with the old "
                    f"schema, where the enum is closed, {without}",
                    None,
                    value.name,
                    "upgrade every consumer before a producer writes it",
                )
                fails = self.old_needs_value
                yield replace(remark, stops_old_readers=fails, breaks_old_readers=fails)

    @property
    def _name(self) -> str:
        return short_name(self.new.full_name)

    def _unknown(self) -> str:
        return _unknown(closed=self.new.closed, needs_value=self.new_needs_value)

    def _remark(
        self, rule: str, message: str, old: EnumValue | None, new: str | None, hint: str
    ) -> Remark:
        return Remark(
            rule=rule,
            message=message,
            path=self.path,
            pointer=pointer(self.new.full_name, new),
            old_pointer=pointer(self.old.full_name, old.name if old else None),
            hint=hint,
        )


_AS_OTHER: Final = "read one as the other"


def _unknown(*, closed: bool, needs_value: bool) -> str:
    """What a reader makes of a number that its enum does not name."""
    if needs_value or closed:
        return f"{_without(needs_value=needs_value)}, since the enum is closed"
    return "get a number without a name"


def _without(*, needs_value: bool) -> str:
    return "fail, as the field is required" if needs_value else "read the field as unset"
