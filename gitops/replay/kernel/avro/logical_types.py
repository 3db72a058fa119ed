"""What logical types and Java's classes make of values, and how a person writes them."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, NamedTuple

import numpy

from gitops.replay.kernel.avro.values import UnionValue
from gitops.replay.kernel.json.scalars import JAVA_TEXTS, check_text
from gitops.replay.kernel.protocol import ValueChange, ValueMismatchError
from gitops.schemas.avro.schema import (
    Array,
    Map,
    Record,
    Schema,
    Union,
    branch_name,
    decimal_of,
    logical_type_of,
)
from gitops.schemas.java_text import java_text

# What the values of a type stand for, and how a person writes them.

DAY_UNITS: Final = {"time-millis": 86_400_000, "time-micros": 86_400_000_000}
"""How many a day has."""

_NUMPY_UNITS: Final = {"millis": "ms", "micros": "us", "nanos": "ns"}
_NOT_A_TIME: Final = -(2**63)
"""NumPy's; Java has none."""

_MOST_SHOWN: Final = 400
"""Bytes of a decimal that are shown as a number."""

_UUID_BYTES: Final = 16
_DURATION_BYTES: Final = 12


@dataclass(frozen=True, slots=True)
class Meaning:
    """What the values of a type stand for; `logical` is empty where they are what the kind says."""

    kind: str
    logical: str = ""
    scale: int = 0
    label: str = ""

    def __str__(self) -> str:
        return self.label or self.logical or self.kind

    @property
    def quantity(self) -> str:
        """The same for those that differ by a factor: `timestamp`, `decimal`."""
        return _stem(self.logical)

    def text(self, value: Any) -> Any:  # noqa: ANN401 - as the schema says
        """The value, or the bytes of text, as a person writes it."""
        write = _TEXTS.get(self.logical or self.kind)
        return value if write is None else write(self, value)


def value_meaning(schema: Schema) -> Meaning:
    """What its values stand for. A UUID that is text is text."""
    logical = logical_type_of(schema)
    if logical == "uuid" and schema.kind == "string":
        logical = ""
    decimal = decimal_of(schema)
    if decimal is None:
        return Meaning(schema.kind, logical)
    return Meaning(schema.kind, logical, decimal.scale, str(decimal))


def _stem(logical: str) -> str:
    stem, _, unit = logical.rpartition("-")
    return stem if unit in _NUMPY_UNITS else logical


def _date(_meaning: Meaning, value: int) -> str:
    return str(numpy.array(value).astype("datetime64[D]"))


def _moment(meaning: Meaning, value: int) -> str:
    """As Java writes it: without the zeros at the end, `Z` for a point in time."""
    if value == _NOT_A_TIME:
        return str(value)
    unit = _NUMPY_UNITS[meaning.logical.rpartition("-")[2]]
    text = _short(str(numpy.array(value).astype(f"datetime64[{unit}]")))
    return text if meaning.logical.startswith("local-") else f"{text}Z"


def _time(meaning: Meaning, value: int) -> str:
    """A number that is none of a day's as it is."""
    if not 0 <= value < DAY_UNITS[meaning.logical]:
        return f"{value} {meaning.logical.rpartition('-')[2]}"
    return _moment(meaning, value).partition("T")[2].removesuffix("Z")


def _short(text: str) -> str:
    whole, point, fraction = text.partition(".")
    fraction = fraction.rstrip("0")
    return f"{whole}{point}{fraction}" if fraction else whole


def _decimal(meaning: Meaning, value: bytes) -> str:
    if not value or len(value) > _MOST_SHOWN:
        return value.hex()
    number = int.from_bytes(value, "big", signed=True)
    digits = f"{abs(number):0{meaning.scale + 1}}"
    whole, fraction = digits[: len(digits) - meaning.scale], digits[len(digits) - meaning.scale :]
    return f"{'-' * (number < 0)}{whole}{'.' * bool(fraction)}{fraction}"


def _text(_meaning: Meaning, value: bytes) -> str:
    return java_text(value)


def _uuid(_meaning: Meaning, value: bytes) -> str:
    return str(uuid.UUID(bytes=value)) if len(value) == _UUID_BYTES else value.hex()


def _duration(_meaning: Meaning, value: bytes) -> str:
    """Three numbers of 32 bits, the lowest byte first."""
    if len(value) != _DURATION_BYTES:
        return value.hex()
    parts = [int.from_bytes(value[at : at + 4], "little") for at in (0, 4, 8)]
    return "{} months, {} days, {} ms".format(*parts)


_TEXTS: Final[Mapping[str, Callable[[Meaning, Any], str]]] = {
    "string": _text,
    "date": _date,
    "decimal": _decimal,
    "uuid": _uuid,
    "duration": _duration,
    **dict.fromkeys(("time-millis", "time-micros"), _time),
    **{
        f"{kind}-{unit}": _moment
        for kind in ("timestamp", "local-timestamp")
        for unit in _NUMPY_UNITS
    },
}


def replace_decimals(schema: Schema, value: Any) -> Any:  # noqa: ANN401 - as the schema says
    """The value with a Decimal for the bytes of each; RecursionError for one that is too deep."""
    match schema:
        case Union():
            return _decimals_in_branch(schema, value)
        case Record():
            types = schema.by_name
            return {name: replace_decimals(types[name].type, item) for name, item in value.items()}
        case Array():
            return [replace_decimals(schema.items, item) for item in value]
        case Map():
            return {name: replace_decimals(schema.values, item) for name, item in value.items()}
    if decimal_of(schema) is None or not 0 < len(value) <= _MOST_SHOWN:
        return value
    return Decimal(value_meaning(schema).text(value))


def _decimals_in_branch(union: Union, value: Any) -> Any:  # noqa: ANN401
    if value is None:
        return None
    if isinstance(value, UnionValue):
        branch = next(schema for schema in union.branches if branch_name(schema) == value.branch)
        return value._replace(value=replace_decimals(branch, value.value))
    return replace_decimals(
        next(schema for schema in union.branches if schema.kind != "null"), value
    )


# What Java's classes make of values: logical types, and classes that a definition names.
#
# As Pulsar's `Schema.AVRO(Pojo)` reads (client 4.0.7, Avro 1.11.4): the reader's definition
# decides, also in unions, arrays, maps and defaults. Readers of generic records look at none of
# it.


NO_UUID: Final = "the text is not a UUID"
NO_DIGITS: Final = "a decimal of no bytes"
NO_TIME_OF_DAY: Final = "a time that is not within a day"
UUID_OF_BYTES: Final = "Avro for Java reads a UUID from text only"
CUT: Final = "the Java class has fewer bits"

_BITS: Final = {"java.lang.Byte": 8, "java.lang.Short": 16, "java.lang.Character": 16}
_UNSIGNED: Final = "java.lang.Character"
_GROUPS: Final = (8, 4, 4, 4, 12)
_UUID: Final = re.compile("-".join(f"0*[0-9A-Fa-f]{{1,{size}}}" for size in _GROUPS))
_LONGEST_UUID: Final = 36


class Check(NamedTuple):
    """What a value has to be: within `most`, text of a `form`, or of some bytes."""

    reason: str
    form: str = ""
    most: int | None = None

    def refuses(self, value: Any) -> bool:  # noqa: ANN401 - as the schema says
        """Whether Java's class does not take it."""
        if self.most is not None:
            return not 0 <= value < self.most
        if self.form == "uuid":
            return not is_uuid(value)
        if self.form:
            return not _is_form(self.form, value)
        return not value


class Change(NamedTuple):
    """Values that mean something else to the reader; 0 is the same in every unit."""

    before: Meaning
    after: Meaning
    zero_stays: bool

    def of(self, value: Any) -> ValueChange:  # noqa: ANN401 - as the schema says
        """What becomes of a value, as a person writes it."""
        return ValueChange(self.reason, self.before.text(value), self.after.text(value))

    @property
    def reason(self) -> str:
        """Without a value."""
        return f"{self.before} is read as {self.after}"

    def concerns(self, value: Any) -> bool:  # noqa: ANN401 - as the schema says
        """Whether a value that was written is another one to the reader."""
        if not self.zero_stays:
            return True
        return any(value) if isinstance(value, bytes) else bool(value)


class NarrowClass(NamedTuple):
    """A Java class of fewer bits than an int, into which Java cuts it."""

    bits: int
    signed: bool

    def apply(self, value: int) -> int:
        """The number that is left."""
        low = value & ((1 << self.bits) - 1)
        return low - (1 << self.bits) if self.signed and low >> (self.bits - 1) else low


@dataclass(frozen=True, slots=True, kw_only=True)
class Sense:
    """What is asked of the values of a place, and how they differ from what was written."""

    check: Check | None = None
    change: Change | None = None
    cut: NarrowClass | None = None

    @property
    def may_be_no_text(self) -> bool:
        """Whether bytes that are not UTF-8 count by themselves: they are in no UUID."""
        return self.change is None and (self.check is None or self.check.form != "uuid")


def sense_of(writer: Schema, reader: Schema) -> Sense | None:
    """Of two types without parts, of which the reader's takes the writer's; None: nothing."""
    change = _change_of(value_meaning(writer), value_meaning(reader))
    cut = None if change else _cut_of(reader)
    sense = Sense(check=check_of(reader), change=change, cut=cut)
    return None if sense == Sense() else sense


def accepts_no_value(schema: Schema) -> bool:
    """Whether Java's classes take no value of the type: a UUID that is no text.

    Avro for Java 1.11.4 takes that logical type for any type, and converts text alone.
    """
    if schema.kind in ("string", "null") or _java_class(schema):
        return False
    return schema.props.get("logicalType") == "uuid"


def check_of(schema: Schema) -> Check | None:
    """What Java's class asks of a value of that type.

    With a `java-class`, whichever it is, Avro's own conversions are not asked; nor is that of a
    UUID where `avro.java.string` is given (Avro 1.11.4). A class that nobody has is not looked for.
    """
    if java := _java_class(schema):
        form = JAVA_TEXTS.get(java) if schema.kind == "string" else None
        return Check(_reason_of(form), form=form) if form else None
    known = logical_type_of(schema)
    if known == "uuid" and schema.kind == "string":
        return None if "avro.java.string" in schema.props else Check(NO_UUID, form="uuid")
    if known in DAY_UNITS:
        return Check(NO_TIME_OF_DAY, most=DAY_UNITS[known])
    return Check(NO_DIGITS) if known == "decimal" and schema.kind == "bytes" else None


def _java_class(schema: Schema) -> str:
    """The class that the type names; empty for none."""
    java = schema.props.get("java-class")
    return java if isinstance(java, str) else ""


def refused_default(schema: Schema, value: Any, path: str) -> tuple[str, str] | None:  # noqa: ANN401
    """The first value in a default that Java's classes do not take: its path, and the reason."""
    value = value.value if isinstance(value, UnionValue) else value
    for inner, item, at in _parts(schema, value, path):
        if texts := refused_default(inner, item, at):
            return texts
    if accepts_no_value(schema):
        return path, UUID_OF_BYTES
    check = check_of(schema)
    return (path, check.reason) if check is not None and check.refuses(value) else None


def _parts(schema: Schema, value: Any, path: str) -> Iterator[tuple[Schema, Any, str]]:  # noqa: ANN401
    """What a default holds; of a union it is a value of the first branch."""
    match schema:
        case Union():
            yield schema.branches[0], value, path
        case Record():
            for field in schema.all_fields:
                yield field.type, value[field.name], f"{path}.{field.name}" if path else field.name
        case Array():
            yield from ((schema.items, item, f"{path}[]") for item in value)
        case Map():
            yield from ((schema.values, item, f"{path}{{}}") for item in value.values())


def is_uuid(text: str) -> bool:
    """Whether Java's `UUID.fromString` takes it, without cutting digits off: groups may be short.

    Of ASCII; Java takes other digits too.
    """
    return len(text) <= _LONGEST_UUID and _UUID.fullmatch(text) is not None


def _is_form(form: str, text: str) -> bool:
    try:
        check_text(form, text)
    except ValueMismatchError:
        return False
    return True


def _reason_of(form: str) -> str:
    """As the kernel of JSON words it."""
    try:
        check_text(form, "\0")
    except ValueMismatchError as error:
        return str(error)
    raise ValueError(form)


def _cut_of(schema: Schema) -> NarrowClass | None:
    java = _java_class(schema)
    bits = _BITS.get(java) if schema.kind == "int" else None
    return NarrowClass(bits, java != _UNSIGNED) if bits else None


def _change_of(before: Meaning, after: Meaning) -> Change | None:
    """None where both mean the same, and where neither means more than its kind."""
    if (before.logical, before.scale) == (after.logical, after.scale):
        return None
    return Change(before, after, zero_stays=before.quantity == after.quantity)
