"""KEY_VALUE: between the text of admin REST, the stored pair of bytes, and its two halves."""

from __future__ import annotations

import json
import math
import re
import struct
from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final, TypeVar

from gitops.model.decision import Incompatibility, StoredSchema
from gitops.model.plan import SchemaChange
from gitops.model.schema import SchemaType
from gitops.schemas.client_profiles import Misreading
from gitops.schemas.key_value import gson
from gitops.schemas.row import Remark, RowOf, UndecodableError

_LENGTH: Final = struct.Struct(">i")
_NULL: Final = -1

NO_DEFINITION: Final = '""'
"""What the text of a KEY_VALUE has in place of the definition of a half that has none."""


def pack(deepest: int | None, text: str) -> bytes:
    """The stored bytes for a REST text `{"key": …, "value": …}`; raises UndecodableError.

    `deepest` is how deep the text may nest, None for any depth.
    """
    try:
        pair = gson.read(text, deepest)
        if not isinstance(pair, dict) or "key" not in pair or "value" not in pair:
            raise UndecodableError("a KEY_VALUE definition needs the members 'key' and 'value'")
        halves = (_half(pair["key"]), _half(pair["value"]))
    except gson.GsonError:
        raise UndecodableError("a KEY_VALUE definition is an object of key and value") from None
    except RecursionError:
        raise UndecodableError("a KEY_VALUE definition that nests too deep") from None
    return _packed(halves)


def _packed(halves: Iterable[bytes]) -> bytes:
    return b"".join(_LENGTH.pack(len(half)) + half for half in halves)


def unpack(data: bytes) -> tuple[bytes | None, bytes | None]:
    """The two halves of stored bytes, None for null; raises UndecodableError."""
    key, rest = _take(data)
    value, _ = _take(rest)
    return key, value


def with_half(schema: StoredSchema, name: str, data: bytes) -> StoredSchema:
    """The pair with other data in the half of that name; raises UndecodableError."""
    halves = dict(zip(HALVES, unpack(schema.data), strict=True)) | {name: data}
    return replace(schema, data=_packed(half or b"" for half in halves.values()))


def split(schema: StoredSchema) -> tuple[StoredSchema, StoredSchema]:
    """Key and value as schemas of their own; raises UndecodableError.

    Types stand in the properties, BYTES where they do not (Pulsar 4.0.7).
    """
    key, value = unpack(schema.data)
    return _named(schema, "key", key or b""), _named(schema, "value", value or b"")


def to_text(row_of: RowOf, schema: StoredSchema) -> str:
    """What GET …/schema shows; raises UndecodableError."""
    key, value = (shown_half(row_of, half) for half in split(schema))
    return f'{{"key":{key},"value":{value}}}'


def shown_half(row_of: RowOf, half: StoredSchema) -> str:
    """The definition of a half in that text, as Pulsar 4.0.7 prints it.

    None is shown of a type that needs none, whatever is stored of it. What nobody reads is shown
    as any JSON, and nothing as null (Pulsar 4.2.4).
    """
    row = row_of(half.type)
    if row.is_opaque and not half.data:
        return "null"
    if not half.data or (row.form is None and not row.is_opaque):
        return NO_DEFINITION
    text = half.data.decode("utf-8", "replace")
    try:
        return reprint(text)
    except (ValueError, RecursionError):
        return gson.write(text)


def _take(data: bytes) -> tuple[bytes | None, bytes]:
    if len(data) < _LENGTH.size:
        raise UndecodableError("the KEY_VALUE data ends too early")
    (length,) = _LENGTH.unpack_from(data)
    rest = data[_LENGTH.size :]
    if length == _NULL:
        return None, rest
    if length < 0 or length > len(rest):
        raise UndecodableError("the KEY_VALUE data ends too early")
    return rest[:length], rest[length:]


def _named(schema: StoredSchema, half: str, data: bytes) -> StoredSchema:
    name = schema.properties.get(f"{half}.schema.type", "BYTES")
    try:
        kind = SchemaType(name)
    except ValueError:
        raise UndecodableError(f"'{name}' is not a schema type") from None
    return StoredSchema(type=kind, data=data, properties=_properties(schema, half))


def _properties(schema: StoredSchema, half: str) -> dict[str, str]:
    name = f"{half}.schema.properties"
    text = schema.properties.get(name, "")
    try:
        value = gson.read_as_object(text)
        if value is None:
            return {}
        if isinstance(value, dict):
            return {member: _plain_text(value, name) for member, value in value.items()}
    except gson.GsonError:
        pass
    except RecursionError:
        raise UndecodableError(f"'{name}' nests too deep") from None
    raise UndecodableError(f"'{name}' is not an object")


def _plain_text(value: gson.Json, name: str) -> str:
    """A value as text, also one that stands alone in a list (Gson's `getAsString`)."""
    match value:
        case [only]:
            return _plain_text(only, name)
        case bool():
            return gson.write(value)
        case str():
            return str(value)
        case _:
            raise UndecodableError(f"a value in '{name}' is not text")


def _half(value: gson.Json) -> bytes:
    return b"" if value == "" else gson.write(value).encode("utf-8", "replace")


# JSON as Jackson prints what it has read, which is how Pulsar 4.0.7 shows half a KEY_VALUE.


Json = Any

_PLAIN: Final = range(-3, 7)
"""Powers of ten that Java's Double.toString writes without an exponent."""

_ESCAPED: Final = re.compile(r"\\u00[0-9a-f]{2}")


def reprint(text: str) -> str:
    """The compact text of the same value; raises ValueError, RecursionError.

    Of several members of one name the last counts; a number with a point or an exponent has become
    a Java double.
    """
    return _write(json.loads(text))


def _write(value: Json) -> str:
    match value:
        case dict():
            members = (f"{_write(name)}:{_write(item)}" for name, item in value.items())
            return "{" + ",".join(members) + "}"
        case list():
            return "[" + ",".join(map(_write, value)) + "]"
        case str():
            text = json.dumps(value, ensure_ascii=False)
            return _ESCAPED.sub(lambda match: r"\u" + match[0][2:].upper(), text)
        case float():
            return double_text(value)
        case _:
            return json.dumps(value)


def double_text(number: float) -> str:
    """What Java's Double.toString gives, in quotes where JSON has no such number (Java 19)."""
    if not math.isfinite(number):
        return json.dumps(str(number).replace("inf", "Infinity").replace("nan", "NaN"))
    if number == 0:
        return str(number)
    sign, digits, exponent = Decimal(_shortest(number)).as_tuple()
    shown = "".join(map(str, digits)).rstrip("0")
    power = len(digits) + int(exponent) - 1
    return "-" * sign + (_plain(shown, power) if power in _PLAIN else _scientific(shown, power))


def _shortest(number: float) -> str:
    """The shortest decimal that is read as `number`, of two digits the nearest of them."""
    two = f"{number:.1e}"
    return two if float(two) == number else repr(number)


def _plain(digits: str, power: int) -> str:
    if power < 0:
        return "0." + "0" * (-power - 1) + digits
    padded = digits.ljust(power + 1, "0")
    return f"{padded[: power + 1]}.{padded[power + 1 :] or '0'}"


def _scientific(digits: str, power: int) -> str:
    return f"{digits[0]}.{digits[1:] or '0'}E{power}"


# The halves of a KEY_VALUE, and what is found in one of them as a part of the pair.


HALVES: Final = ("key", "value")

ENCODING: Final = "kv.encoding.type"
"""The property that says how messages carry the key."""

INLINE: Final = "INLINE"
"""What holds without that property."""

_POINTERS: Final = ("pointer", "old_pointer", "reader_pointer", "writer_pointer")
_T = TypeVar("_T", Remark, SchemaChange, Incompatibility, Misreading)


def named_halves(*pairs: StoredSchema) -> tuple[tuple[str, tuple[StoredSchema, ...]], ...]:
    """`key` with the keys of all these, then `value` with the values; raises UndecodableError."""
    return tuple(zip(HALVES, zip(*map(split, pairs), strict=True), strict=True))


def known_halves(
    row_of: RowOf, *pairs: StoredSchema
) -> tuple[tuple[str, tuple[StoredSchema, ...]], ...]:
    """As `named_halves`, of types that the broker line knows; raises UndecodableError."""
    halves = named_halves(*pairs)
    for _, ones in halves:
        for schema in ones:
            if not row_of(schema.type).is_known:
                raise UndecodableError(f"'{schema.type.value}' is not a schema type of this line")
    return halves


def add_half_prefix(t: _T, half: str) -> _T:
    """What was found in a half, with a path and pointers that begin with its name."""
    path = f"{half}.{t.path}" if t.path else half
    pointers: dict[str, Any] = {
        name: f"/{half}{pointer}"
        for name in _POINTERS
        if (pointer := getattr(t, name, None)) is not None
    }
    return replace(t, path=path, **pointers)
