"""JSON to schema: each kind of node, with every problem of a definition at once."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from typing import ClassVar, Final, TypeVar

from gitops.schemas.avro import fields
from gitops.schemas.avro.errors import AvroParseError, AvroProblem, JavaError
from gitops.schemas.avro.json_text import Json, check_end, read_value
from gitops.schemas.avro.names import (
    SHARED,
    SIGNS,
    Names,
    References,
    check_name,
    check_not_primitive,
    full_name,
    problem,
)
from gitops.schemas.avro.schema import (
    MISSING,
    NO_PROPS,
    Array,
    Enum,
    Field,
    Fixed,
    Map,
    Named,
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
_INTS: Final = range(-(2**31), 2**31)
_LONGEST: Final = 2**31 - 1 - 8
"""Java makes no longer arrays, and so Avro 1.11.4 no longer fixed."""


def _plain_unions(*, any_default: bool) -> dict[tuple[str, str], Union]:
    return {
        (primitive.kind, other_primitive.kind): Union(
            (primitive, other_primitive), NO_PROPS, any_default=any_default
        )
        for primitive, other_primitive in permutations(SHARED.values(), 2)
    }


_PLAIN_UNIONS: Final = {rule: _plain_unions(any_default=rule) for rule in (False, True)}
_WRITTEN: Final = {list: "a list", dict: "an object", bool: "a boolean", type(None): "null"}
"""What stands where a text is wanted; all else is a number."""

_READERS: Final = {kind: kind for kind in ("record", "enum", "fixed", "array", "map")} | {
    "error": "record"
}
"""The methods that read what is no primitive, which a version of Avro may have of its own."""

_T = TypeVar("_T")
_Read = Callable[[dict[str, Json], str], Schema]


class Reader:
    """One reading of one definition, by the rules of Avro 1.11.4.

    A strict one refuses invalid defaults. The other takes them and says so in `defaults_valid`.
    `signs` are what names may have beside letters and digits; `any_default` as for Union.
    `known_while_open`: a record may be referred to, and not be defined again, before its fields
    are read.
    """

    signs: ClassVar[str] = SIGNS
    any_default: ClassVar[bool] = False
    known_while_open: ClassVar[bool] = True

    def __init__(self, *, strict: bool) -> None:
        self.names = Names()
        self.strict = strict
        self.defaults_valid = True

    def read_text(self, text: str, *, limited: bool) -> Schema:
        """The schema that a text defines; raises AvroParseError and JsonTextError.

        Not `limited`: Jackson's limits are not looked at.
        """
        value, end = read_value(text, limited=limited)
        schema = self.finish(self.schema(value, ""))
        check_end(text, end)
        return schema

    def finish(self, schema: Schema) -> Schema:
        """The whole schema, once all of it is read; raises AvroParseError."""
        return schema

    def schema(self, node: Json, at: str) -> Schema:
        """The schema that `node` at pointer `at` stands for; raises AvroParseError."""
        if isinstance(node, str):
            return SHARED.get(node) or self.reference(node, at)
        if isinstance(node, dict):
            return self._object(node, at)
        if isinstance(node, list):
            return self._union(node, at)
        raise problem("no-schema", "expected a type: a name, an object or a list", at)

    def reference(self, name: str, at: str) -> Schema:
        """The type that a text in the place of a schema names."""
        schema = self.names.find(name, at)
        if schema is None:
            raise problem("undefined-name", f"'{name}' is not a defined type", at, name=name)
        return schema

    def _object(self, node: dict[str, Json], at: str) -> Schema:
        kind = node.get("type")
        if not isinstance(kind, str):
            raise _no_type(node, at)
        if kind in SHARED:
            return Primitive(kind, fields.props(node, _RESERVED))
        if kind in _READERS:
            space = self.names.space
            read: _Read = getattr(self, _READERS[kind])
            try:
                return read(node, at)
            finally:
                self.names.space = space
        return self.object_reference(kind, at)

    def object_reference(self, name: str, at: str) -> Schema:
        """The type that an object names as its own."""
        named = self.names.find_named(name, at, "type")
        if named is None:
            message = f"'{name}' is neither a type nor a defined name"
            raise problem("undefined-name", message, f"{at}/type", name=name)
        return named

    def _enter(self, node: dict[str, Json], at: str) -> str:
        """The full name of a named type, whose namespace then encloses what it contains."""
        name = node.get("name")
        if not isinstance(name, str):
            raise problem("no-name", f"this {node['type']} has no name", at)
        return self.enter(name, fields.text(node, "namespace"), at)

    def enter(self, name: str, given: str | None, at: str) -> str:
        """The full name of a type of this name; its namespace encloses what is read next."""
        space = self.names.space if given is None else given
        full = full_name(name, space, at, "name", signs=self.signs)
        if "." in name:
            self.names.space = full.rpartition(".")[0] or None
        elif given is not None:
            self.names.space = given or None
        return full

    def _aliases(self, node: dict[str, Json], at: str) -> tuple[str, ...]:
        if "aliases" not in node:
            return ()
        texts = fields.aliases(node, at)
        if texts:
            self.names.met.append(References(has_aliases=True))
        space, signs = self.names.space, self.signs
        return tuple(full_name(alias, space, at, "aliases", signs=signs) for alias in texts)

    def record(self, node: dict[str, Json], at: str) -> Schema:
        """A record or an error."""
        record = Record(
            name=self._enter(node, at),
            props=fields.props(node, _RESERVED),
            doc=fields.text(node, "doc"),
        )
        self.open(record, at)
        members = node.get("fields")
        if not isinstance(members, list):
            raise problem("no-fields", f"record {record.name} has no list of fields", at)
        self.complete(record, members, at)
        record.aliases = self._aliases(node, at)
        if not self.known_while_open:
            self.define(record, at)
        return record

    def define(self, named: Named, at: str) -> None:
        """Make a type known that is at `at`; raises AvroParseError if its name is taken."""
        self.names.add(named, at)

    def open(self, record: Record, at: str) -> None:
        """Begin a record whose fields are read next."""
        if self.known_while_open:
            self.define(record, at)
        else:
            check_not_primitive(record.name, at)

    def complete(self, record: Record, members: list[Json], at: str) -> None:
        """Read the fields of a record."""
        read = self.read_fields(members, at)
        if not record.set_fields(read):
            _refuse_twice(read, record.name, at)

    def read_fields(self, members: list[Json], at: str) -> tuple[Field, ...]:
        """The fields of a record."""
        return _each(self.read_field, members, f"{at}/fields")

    def read_field(self, node: Json, at: str) -> Field:
        """A record's field."""
        member = node if isinstance(node, dict) else {}
        name = member.get("name")
        if not isinstance(name, str):
            raise problem("no-name", "a field needs a text 'name'", at)
        if "type" not in member:
            raise problem("no-type", f"field '{name}' has no type", at)
        kind = self.schema(member["type"], f"{at}/type")
        field = fields.read(member, kind, at, validate=self.strict, signs=self.signs)
        if field.aliases:
            self.names.met.append(References(has_aliases=True))
        return self.check_default(field)

    def check_default(self, field: Field) -> Field:
        """The field, and note whether its default is valid."""
        # Behind an invalid default others are not looked at: they could have no end.
        if field.default is not MISSING and self.defaults_valid:
            self.defaults_valid = fields.has_valid_default(field)
        return field

    def enum(self, node: dict[str, Json], at: str) -> Schema:
        """An enum; its default must be a symbol."""
        name = self._enter(node, at)
        given = node.get("symbols")
        if not isinstance(given, list):
            raise problem("no-symbols", f"enum {name} has no list of symbols", at)
        enum = self.new_enum(name, given, fields.text(node, "default"), at)
        enum.doc, enum.props = fields.text(node, "doc"), fields.props(node, _RESERVED_ENUM)
        enum.aliases = self._aliases(node, at)
        self.define(enum, at)
        return enum

    def new_enum(self, name: str, given: list[Json], default: str | None, at: str) -> Enum:
        """An enum of that full name, which is not known yet."""
        check_not_primitive(name, at)
        symbols = _symbols(given, f"{at}/symbols", self.signs)
        if default is not None and default not in symbols:
            message = f"the default '{default}' of enum {name} is not one of its symbols"
            raise problem("enum-default", message, f"{at}/default")
        return Enum(name, symbols, default)

    def fixed(self, node: dict[str, Json], at: str) -> Schema:
        """A fixed, of no bytes at least."""
        name = self._enter(node, at)
        size = node.get("size")
        if not isinstance(size, int) or isinstance(size, bool) or size not in _INTS:
            raise problem("bad-size", f"fixed {name} needs a whole number as its size", at)
        if size < 0:
            message = f"the size of fixed {name} is negative"
            raise problem("bad-size", message, f"{at}/size", java=JavaError.RUNTIME)
        if size > _LONGEST:
            message = f"fixed {name} is longer than the {_LONGEST} bytes that Java accepts"
            raise problem("bad-size", message, f"{at}/size", java=JavaError.RUNTIME)
        fixed = Fixed(
            name=name,
            size=size,
            doc=fields.text(node, "doc"),
            props=fields.props(node, _RESERVED),
        )
        fixed.aliases = self._aliases(node, at)
        self.define(fixed, at)
        return fixed

    def array(self, node: dict[str, Json], at: str) -> Schema:
        """An array."""
        if "items" not in node:
            raise problem("no-items", "an array needs 'items'", at)
        items = self.schema(node["items"], f"{at}/items")
        return Array(items, fields.props(node, _RESERVED))

    def map(self, node: dict[str, Json], at: str) -> Schema:
        """A map."""
        if "values" not in node:
            raise problem("no-values", "a map needs 'values'", at)
        values = self.schema(node["values"], f"{at}/values")
        return Map(values, fields.props(node, _RESERVED))

    def _union(self, node: list[Json], at: str) -> Schema:
        pair = len(node) == 2  # noqa: PLR2004 - null and a type, as most unions
        if pair and isinstance(node[0], str) and isinstance(node[1], str):
            known = _PLAIN_UNIONS[self.any_default].get((node[0], node[1]))
            if known is not None:
                return known
        return make_union(_each(self.schema, node, at), at, any_default=self.any_default)


def _no_type(node: dict[str, Json], at: str) -> AvroParseError:
    if "type" not in node:
        return problem("no-type", "an object in the place of a type has no 'type'", at)
    written = _WRITTEN.get(type(node["type"]), "a number")
    return problem("bad-type", f"'type' must be a name here, not {written}", f"{at}/type")


def make_union(branches: tuple[Schema, ...], at: str, *, any_default: bool) -> Union:
    """A union of these; unions in it and branches of one name are refused, as Java does."""
    names = {branch_name(branch) for branch in branches}
    if len(names) < len(branches) or "union" in names:
        _refuse(branches, at)
    return Union(branches, NO_PROPS, any_default=any_default)


def _refuse(branches: tuple[Schema, ...], at: str) -> None:
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


def _refuse_twice(read: tuple[Field, ...], record: str, at: str) -> None:
    seen: set[str] = set()
    for index, field in enumerate(read):
        if field.name in seen:
            message, where = (
                f"record {record} has two fields '{field.name}'",
                f"{at}/fields/{index}",
            )
            raise problem("duplicate-field", message, where, java=JavaError.RUNTIME)
        seen.add(field.name)


def _symbols(given: list[Json], at: str, signs: str) -> tuple[str, ...]:
    if _are_plain_names(given):
        return tuple(given)
    symbols: dict[str, None] = {}
    for index, symbol in enumerate(given):
        if not isinstance(symbol, str):
            raise problem("bad-name", "a symbol must be text", f"{at}/{index}")
        if check_name(symbol, at, index, signs=signs) in symbols:
            message = f"symbol '{symbol}' occurs twice"
            raise problem("duplicate-symbol", message, f"{at}/{index}")
        symbols[symbol] = None
    return tuple(symbols)


def _are_plain_names(given: list[Json]) -> bool:
    """Whether nothing is wrong with the symbols, which is the rule and quickly told."""
    try:
        return (
            "".join(given).isascii()
            and all(map(str.isidentifier, given))
            and (len(set(given)) == len(given))
        )
    except TypeError:
        return False


def _each(read: Callable[[Json, str], _T], nodes: list[Json], at: str) -> tuple[_T, ...]:
    """Read all; problems of one part do not hide those of another."""
    ts: list[_T] = []
    problems: list[AvroProblem] = []
    for index, node in enumerate(nodes):
        try:
            ts.append(read(node, f"{at}/{index}"))
        except AvroParseError as error:
            problems.extend(error.problems)
    if problems:
        raise AvroParseError(tuple(problems))
    return tuple(ts)
