"""Java's maps: to Avro an array of pairs, unless the keys are text; an object in JSON."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from gitops.replay.kernel.json.scalars import (
    INSTANTS,
    LOCALS,
    NOT_FINITE,
    Scalar,
    check_text,
    scalar,
)
from gitops.replay.kernel.json.times import NO_TIME, is_instant_text, is_local_text
from gitops.replay.kernel.protocol import ValueMismatchError
from gitops.schemas.avro.schema import Array, Enum, Fixed, Map, Primitive, Record, Schema

_PAIR: Final = "org.apache.avro.reflect.Pair"
_WHOLE: Final = re.compile("-?(?:0|[1-9][0-9]*)")
_FRACTION: Final = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE]-?[0-9]+)?")


class EntrySchemas(NamedTuple):
    """What a map holds."""

    key: Schema
    value: Schema


def map_entries(schema: Map) -> EntrySchemas:
    """What a map holds whose keys are text."""
    key = Primitive("string", {"java-class": schema.props.get("java-key-class")})
    return EntrySchemas(key, schema.values)


def entries_of(schema: Schema) -> EntrySchemas | None:
    """What a map holds, also one that Avro's reflection calls an array; None for other types."""
    match schema:
        case Map():
            return map_entries(schema)
        case Array(items=Record() as pair) if pair.name.startswith(_PAIR):
            types = {name: field.type for name, field in pair.by_name.items()}
            return EntrySchemas(**types) if types.keys() == {"key", "value"} else None
        case _:
            return None


@dataclass(frozen=True, slots=True)
class Key:
    """What the names of an object's members have to be: symbols, or texts of a type."""

    symbols: frozenset[str] | None
    scalar: Scalar

    def check(self, name: str) -> None:
        """Refuse what Jackson takes for no key; raises MisfitError."""
        if self.symbols is not None:
            if name not in self.symbols:
                raise ValueMismatchError("the enum does not have the symbol")
        elif self.scalar.form:
            _check_form(self.scalar, name)
        else:
            _check_kind(self.scalar, name)


def key_of(schema: Schema) -> Key | None:
    """The keys of a map; None if any text is one, or nothing is known of their class."""
    match schema:
        case Enum():
            return Key(frozenset(schema.symbols), Scalar(kind="string"))
        case Primitive() | Fixed() if schema.kind not in ("bytes", "fixed", "null"):
            known = scalar(schema)
            return None if known.kind == "string" and not known.form else Key(None, known)
        case _:
            return None


def _check_form(scalar: Scalar, name: str) -> None:
    """As values, but without what Jackson mends in those."""
    if scalar.kind == "string":
        check_text(scalar.form, name)
    elif scalar.form in INSTANTS or scalar.form in LOCALS:
        fits = is_instant_text if scalar.form in INSTANTS else is_local_text
        if not fits(name):
            raise ValueMismatchError(NO_TIME)
    else:
        scalar.take(name)


def _check_kind(scalar: Scalar, name: str) -> None:
    read = _READ[scalar.kind]
    try:
        scalar.take(read(name))
    except (KeyError, ValueError):
        raise ValueMismatchError(f"the text is no {scalar.kind}") from None


def _whole(name: str) -> int:
    if not _WHOLE.fullmatch(name):
        raise ValueError(name)
    return int(name)


def _fraction(name: str) -> float | str:
    if name in NOT_FINITE:
        return name
    if not _FRACTION.fullmatch(name):
        raise ValueError(name)
    return float(name)


_READ: Final[Mapping[str, Callable[[str], object]]] = {
    "boolean": {"true": True, "false": False}.__getitem__,
    "int": _whole,
    "long": _whole,
    "float": _fraction,
    "double": _fraction,
}
