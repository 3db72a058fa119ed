"""Whether a default that a reader needs can be used: encoded and decoded, as Avro for Java does.

This is laxer in some ways and stricter in others than `fields.is_valid_default`.
"""

from __future__ import annotations

from gitops.schemas.avro.fields import is_number
from gitops.schemas.avro.json_text import Json
from gitops.schemas.avro.recursion import recurses_directly
from gitops.schemas.avro.schema import (
    Array,
    Enum,
    Field,
    Fixed,
    Map,
    Missing,
    Primitive,
    Record,
    Schema,
    Union,
)


class UnusableDefaultError(ValueError):
    """A default does not fit its `field` of `record`; `overflow`: Java runs out of stack."""

    def __init__(
        self, record: Record, field: Field, message: str, *, overflow: bool = False
    ) -> None:
        super().__init__(message)
        self.record = record
        self.field = field
        self.overflow = overflow


class _MisfitError(ValueError):
    pass


class _EndlessError(ValueError):
    pass


def check_usable(record: Record, field: Field) -> None:
    """Raises UnusableDefaultError."""
    if field.default is None and _takes_null(field.type):
        return
    try:
        _Encoding().value(field.type, field.default)
    except _MisfitError as error:
        raise UnusableDefaultError(record, field, str(error)) from None
    except _EndlessError as error:
        raise UnusableDefaultError(record, field, str(error), overflow=True) from None
    if recurses_directly(field.type):
        raise UnusableDefaultError(record, field, "the type contains itself", overflow=True)


def _takes_null(schema: Schema) -> bool:
    first = schema.branches[0] if isinstance(schema, Union) and schema.branches else schema
    return first.kind == "null"


class _Encoding:
    """One default on its way into bytes; `own` are the fields whose own default is being written.

    A default that calls for itself again has no end; one that was `written` need not be again,
    since records that default to records could take time without end.
    """

    def __init__(self) -> None:
        self.own: set[int] = set()
        self.written: set[int] = set()

    def value(self, schema: Schema, value: Json | Missing) -> None:
        match schema:
            case Record():
                self._record(schema, value)
            case Enum():
                _encode_symbol(schema, value)
            case Array():
                for item in _items_of(value):
                    self.value(schema.items, item)
            case Map():
                self._map(schema, value)
            case Union():
                self._union(schema, value)
            case Fixed() | Primitive():
                _encode_scalar(schema.kind, value)

    def _union(self, union: Union, value: Json | Missing) -> None:
        if not union.branches:
            raise _MisfitError("an empty union has no value")
        if not union.any_default:
            self.value(union.branches[0], value)
            return
        branch = next((schema for schema in union.branches if _may_be(schema, value)), None)
        if branch is None:
            raise _MisfitError(f"no branch accepts {value!r}")
        self.value(branch, value)

    def _record(self, record: Record, value: Json | Missing) -> None:
        given = value if isinstance(value, dict) else {}
        for field in record.all_fields:
            if field.name in given:
                self.value(field.type, given[field.name])
            else:
                self._own_default(field)

    def _own_default(self, field: Field) -> None:
        if isinstance(field.default, Missing):
            raise _MisfitError(f"there is no default for '{field.name}'")
        if id(field) in self.written:
            return
        if id(field) in self.own:
            raise _EndlessError(f"the default of '{field.name}' contains itself")
        self.own.add(id(field))
        self.value(field.type, field.default)
        self.own.discard(id(field))
        self.written.add(id(field))

    def _map(self, schema: Map, value: Json | Missing) -> None:
        if isinstance(value, list) and value:
            # The count of the list is written and no entry after it, so decoding runs dry.
            raise _MisfitError("a list is not a map")
        for inner in value.values() if isinstance(value, dict) else ():
            self.value(schema.values, inner)


def _may_be(branch: Schema, value: Json | Missing) -> bool:
    """Whether Avro 1.12.0 tries this branch: a record, enum, array or map takes anything."""
    if isinstance(branch, Fixed | Primitive):
        return _is_scalar(branch.kind, value)
    return True


def _encode_symbol(enum: Enum, value: Json | Missing) -> None:
    if value not in enum.symbols:
        raise _MisfitError(f"{value!r} is not a symbol of {enum.name}")


def _items_of(value: Json | Missing) -> list[Json]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _encode_scalar(kind: str, value: Json | Missing) -> None:
    if not _is_scalar(kind, value):
        raise _MisfitError(f"{value!r} is not a {kind}")


def _is_scalar(kind: str, value: Json | Missing) -> bool:
    match kind:
        case "null":
            return value is None
        case "boolean":
            return isinstance(value, bool)
        case "int" | "long" | "float" | "double":
            return not isinstance(value, Missing) and is_number(value)
        case _:
            return isinstance(value, str)
