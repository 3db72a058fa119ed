"""Types: what a reader of one makes of the values of another (Protobuf's encoding)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from gitops.compatibility.protobuf_native.descriptors import Type
from gitops.compatibility.protobuf_native.rendering import render_type
from gitops.compatibility.protobuf_native.schema import Field, short_name
from gitops.compatibility.review.protobuf_native_place import Change
from gitops.compatibility.review.remark import Remark

_VARINT: Final = frozenset((Type.INT32, Type.INT64, Type.UINT32, Type.UINT64, Type.BOOL, Type.ENUM))
_ZIGZAG: Final = frozenset((Type.SINT32, Type.SINT64))
_LENGTH: Final = frozenset((Type.STRING, Type.BYTES, Type.MESSAGE))
_FAMILIES: Final = (
    _VARINT,
    _ZIGZAG,
    frozenset((Type.FIXED32, Type.SFIXED32)),
    frozenset((Type.FIXED64, Type.SFIXED64)),
    _LENGTH,
)
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
class Reading:
    """What readers do; `lost`: no value comes out right, otherwise some do.

    `fails`: on some values they stop, instead of reading other ones.
    """

    what: str
    lost: bool = False
    fails: bool = False


def remarks(old: Field, new: Field, at: Change) -> Iterator[Remark]:
    """About a field whose type is another one; two messages are compared by their fields."""
    back = reading(old, new)
    forth = reading(new, old) if at.forward else None
    found = [f"consumers with the new schema {back.what}"] if back else []
    if forth is not None and not (back and back.lost):
        found.append(f"consumers with the old schema {forth.what}")
    if found:
        remark = at.remark(
            "PROTO-W004" if back and back.lost else "PROTO-W005",
            f"{render_type(old)} becomes {render_type(new)}, which Pulsar does not compare: "
            + "; ".join(found),
            old=old,
            new=new,
            hint=f"keep {render_type(old)}, or add a field with another name and number",
        )
        yield replace(remark, stops_readers=back is not None and back.fails)


def reading(writer: Field, reader: Field) -> Reading | None:
    """What becomes of the writer's values; None where all of them come out as they were."""
    if writer.type is reader.type:
        return None
    if not _together(writer.type, reader.type, _WIRE_TYPES):
        return _other_wire_type(writer, reader)
    if not _together(writer.type, reader.type, _FAMILIES):
        return Reading(_misread(writer, reader), lost=True)
    if writer.type in _LENGTH:
        return _length_delimited(writer, reader)
    what = _number(writer, reader)
    return Reading(what) if what else None


def _together(one: Type, other: Type, families: tuple[frozenset[Type], ...]) -> bool:
    return any(one in family and other in family for family in families)


def _other_wire_type(writer: Field, reader: Field) -> Reading:
    if writer.packed or (reader.repeated and reader.type not in _LENGTH):
        return Reading("lose the values, read other ones or fail", lost=True, fails=True)
    return Reading("do not find the value, which is laid out in another way", lost=True)


def _misread(writer: Field, reader: Field) -> str:
    if reader.type in _ZIGZAG:
        return "read other numbers, 1 as -1"
    if writer.type in _ZIGZAG:
        return "read other numbers, 1 as 2"
    return f"take its bits for a {reader.type.name.lower()}"


def _length_delimited(writer: Field, reader: Field) -> Reading | None:
    match writer.type, reader.type:
        case Type.STRING, Type.BYTES:
            return None
        case Type.BYTES, Type.STRING:
            return Reading("fail on bytes that are no UTF-8, or get other text", fails=True)
        case Type.MESSAGE, Type.BYTES:
            return Reading("get the encoded message and none of its fields")
        case Type.BYTES, Type.MESSAGE:
            return Reading(f"fail on bytes that are no encoded {render_type(reader)}", fails=True)
        case Type.MESSAGE, _:
            return Reading("take the encoded message for text, or fail", lost=True, fails=True)
        case _:
            return Reading("take the text for an encoded message and fail", lost=True, fails=True)


def _number(writer: Field, reader: Field) -> str:
    if reader.enum is not None:
        return _into_enum(reader)
    if reader.type is Type.BOOL:
        return "read every number but 0 as true"
    if writer.type in _SMALL:
        return ""
    if writer.type in _WIDE and reader.type not in _WIDE:
        return "get numbers cut to 32 bits"
    if reader.type in _UNSIGNED and writer.type not in _UNSIGNED:
        return "read negative numbers as large ones"
    if writer.type in _UNSIGNED and reader.type not in _UNSIGNED:
        wider = reader.type in _WIDE and writer.type not in _WIDE
        return "" if wider else "read large numbers as negative ones"
    return ""


def _into_enum(reader: Field) -> str:
    name = short_name(reader.enum.full_name) if reader.enum else ""
    if reader.enum and reader.enum.closed:
        return f"drop numbers that {name} does not name"
    return f"get numbers that {name} does not name"
