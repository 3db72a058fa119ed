"""Text to schema, as strict and as lenient as Avro for Java 1.11.4's Schema.Parser."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Final, TypeVar

from gitops.compatibility.avro import fields
from gitops.compatibility.avro.depth import make_room
from gitops.compatibility.avro.errors import AvroParseError, AvroProblem, JavaError
from gitops.compatibility.avro.json_text import Json, JsonTextError, check_end, read_value
from gitops.compatibility.avro.names import Names, check_name, full_name, problem
from gitops.compatibility.avro.schema import (
    PRIMITIVES,
    Array,
    Enum,
    Field,
    Fixed,
    Map,
    Primitive,
    Record,
    Schema,
    Union,
    branch_name,
)

_RESERVED: Final = frozenset(
    ("doc", "fields", "items", "name", "namespace", "size", "symbols", "values", "type", "aliases")
)
_RESERVED_ENUM: Final = _RESERVED | {"default"}
_MAX_INT: Final = 2**31 - 1
_T = TypeVar("_T")


@lru_cache(maxsize=8192)
def parse(text: str, *, validate_defaults: bool = False) -> Schema:
    """The schema that `text` defines; raises AvroParseError with every problem found.

    Like the broker's checks, it looks at defaults only if told to: a broker takes a first schema
    with an invalid default and fails on every later one (Pulsar 4.0.7).
    """
    make_room(text)
    try:
        value, end = read_value(text)
        schema = _Reader(validate_defaults=validate_defaults).schema(value, "")
        check_end(text, end)
    except JsonTextError as error:
        found = AvroProblem(kind="not-json", message=f"not JSON: {error}", offset=error.offset)
        raise AvroParseError((found,)) from None
    return schema


class _Reader:
    """One reading of one definition."""

    def __init__(self, *, validate_defaults: bool) -> None:
        self.names = Names()
        self.validate_defaults = validate_defaults

    def schema(self, node: Json, at: str) -> Schema:
        if isinstance(node, str):
            return self._reference(node, at)
        if isinstance(node, dict):
            return self._object(node, at)
        if isinstance(node, list):
            return self._union(node, at)
        raise problem("no-schema", "expected a type: a name, an object or a list", at)

    def _reference(self, name: str, at: str) -> Schema:
        found = self.names.find(name, at)
        if found is None:
            raise problem("undefined-name", f"'{name}' is not a defined type", at, name=name)
        return found

    def _object(self, node: dict[str, Json], at: str) -> Schema:
        kind = node.get("type")
        if not isinstance(kind, str):
            raise problem("no-type", "an object in the place of a type needs a text 'type'", at)
        if kind in PRIMITIVES:
            return Primitive(kind=kind, props=_props(node), pointer=at)
        if kind in _READERS:
            space = self.names.space
            try:
                return _READERS[kind](self, node, at)
            finally:
                self.names.space = space
        found = self.names.known.get(full_name(kind, self.names.space, f"{at}/type"))
        if found is None:
            message = f"'{kind}' is neither a type nor a defined name"
            raise problem("undefined-name", message, f"{at}/type", name=kind)
        return found

    def _enter(self, node: dict[str, Json], at: str) -> str:
        """The full name of a named type, whose namespace then encloses what it contains."""
        name = node.get("name")
        if not isinstance(name, str):
            raise problem("no-name", f"this {node['type']} has no name", at)
        given = node.get("namespace")
        space = given if isinstance(given, str) else self.names.space
        full = full_name(name, space, f"{at}/name")
        self.names.space = full.rpartition(".")[0] or None
        return full

    def _aliases(self, node: dict[str, Json], at: str) -> tuple[str, ...]:
        where = f"{at}/aliases"
        return tuple(
            full_name(alias, self.names.space, where) for alias in fields.aliases(node, at)
        )

    def record(self, node: dict[str, Json], at: str) -> Schema:
        record = Record(
            name=self._enter(node, at),
            props=_props(node),
            doc=fields.text(node, "doc"),
            pointer=at,
        )
        self.names.add(record)
        members = node.get("fields")
        if not isinstance(members, list):
            raise problem("no-fields", f"record {record.name} has no list of fields", at)
        space = self.names.space
        read = _collect(lambda i: self._field(members[i], f"{at}/fields/{i}"), range(len(members)))
        record.set_fields(_distinct(read, record.name))
        self.names.space = space
        record.aliases = self._aliases(node, at)
        return record

    def _field(self, node: Json, at: str) -> Field:
        member = node if isinstance(node, dict) else {}
        name = member.get("name")
        if not isinstance(name, str):
            raise problem("no-name", "a field needs a text 'name'", at)
        if "type" not in member:
            raise problem("no-type", f"field '{name}' has no type", at)
        kind = self.schema(member["type"], f"{at}/type")
        return fields.read(member, name, kind, at, validate=self.validate_defaults)

    def enum(self, node: dict[str, Json], at: str) -> Schema:
        name = self._enter(node, at)
        given = node.get("symbols")
        if not isinstance(given, list):
            raise problem("no-symbols", f"enum {name} has no list of symbols", at)
        symbols = _symbols(given, f"{at}/symbols")
        default = fields.text(node, "default")
        if default is not None and default not in symbols:
            message = f"the default '{default}' of enum {name} is not one of its symbols"
            raise problem("enum-default", message, f"{at}/default")
        enum = Enum(
            name=name,
            symbols=symbols,
            default=default,
            doc=fields.text(node, "doc"),
            props=_props(node, _RESERVED_ENUM),
            pointer=at,
        )
        self.names.add(enum)
        enum.aliases = self._aliases(node, at)
        return enum

    def fixed(self, node: dict[str, Json], at: str) -> Schema:
        name = self._enter(node, at)
        size = node.get("size")
        if not isinstance(size, int) or isinstance(size, bool) or abs(size) > _MAX_INT:
            raise problem("bad-size", f"fixed {name} needs a whole number as its size", at)
        if size < 0:
            message = f"the size of fixed {name} is negative"
            raise problem("bad-size", message, f"{at}/size", java=JavaError.RUNTIME)
        fixed = Fixed(
            name=name, size=size, doc=fields.text(node, "doc"), props=_props(node), pointer=at
        )
        self.names.add(fixed)
        fixed.aliases = self._aliases(node, at)
        return fixed

    def array(self, node: dict[str, Json], at: str) -> Schema:
        if "items" not in node:
            raise problem("no-items", "an array needs 'items'", at)
        items = self.schema(node["items"], f"{at}/items")
        return Array(items=items, props=_props(node), pointer=at)

    def map(self, node: dict[str, Json], at: str) -> Schema:
        if "values" not in node:
            raise problem("no-values", "a map needs 'values'", at)
        values = self.schema(node["values"], f"{at}/values")
        return Map(values=values, props=_props(node), pointer=at)

    def _union(self, node: list[Json], at: str) -> Schema:
        branches = _collect(lambda i: self.schema(node[i], f"{at}/{i}"), range(len(node)))
        return make_union(branches, at)


def make_union(branches: tuple[Schema, ...], at: str) -> Union:
    """A union of these; unions in it and branches of one name are refused, as Java does."""
    seen: set[str] = set()
    for index, branch in enumerate(branches):
        where = f"{at}/{index}"
        if isinstance(branch, Union):
            raise problem("nested-union", "a union in a union", where, java=JavaError.RUNTIME)
        name = branch_name(branch)
        if name in seen:
            message = f"the union has '{name}' twice"
            raise problem("duplicate-branch", message, where, java=JavaError.RUNTIME)
        seen.add(name)
    return Union(branches=branches, pointer=at)


def _distinct(read: tuple[Field, ...], record: str) -> tuple[Field, ...]:
    seen: set[str] = set()
    for one in read:
        if one.name in seen:
            message = f"record {record} has two fields '{one.name}'"
            raise problem("duplicate-field", message, one.pointer, java=JavaError.RUNTIME)
        seen.add(one.name)
    return read


def _symbols(given: list[Json], at: str) -> tuple[str, ...]:
    symbols: dict[str, None] = {}
    for index, symbol in enumerate(given):
        where = f"{at}/{index}"
        if not isinstance(symbol, str):
            raise problem("bad-name", "a symbol must be text", where)
        if check_name(symbol, where) in symbols:
            raise problem("duplicate-symbol", f"symbol '{symbol}' stands twice", where)
        symbols[symbol] = None
    return tuple(symbols)


def _props(node: Mapping[str, Json], reserved: frozenset[str] = _RESERVED) -> dict[str, Json]:
    return {key: value for key, value in node.items() if key not in reserved}


def _collect(read: Callable[[int], _T], indexes: Iterable[int]) -> tuple[_T, ...]:
    """Read all; problems of one part do not hide those of another."""
    found: list[_T] = []
    problems: list[AvroProblem] = []
    for index in indexes:
        try:
            found.append(read(index))
        except AvroParseError as error:
            problems.extend(error.problems)
    if problems:
        raise AvroParseError(tuple(problems))
    return tuple(found)


_READERS: Final[dict[str, Callable[[_Reader, dict[str, Json], str], Schema]]] = {
    "record": _Reader.record,
    "error": _Reader.record,
    "enum": _Reader.enum,
    "fixed": _Reader.fixed,
    "array": _Reader.array,
    "map": _Reader.map,
}
