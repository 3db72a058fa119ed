"""The writer seen with the reader's aliases: Avro 1.11.4's Schema.applyAliases.

The broker applies them once. Where Java reads data they are applied twice, by its DatumReader and
then by the Resolver, so that a chain of two is followed and a swap comes out as it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from msgspec.structs import replace

from gitops.schemas.avro import fields
from gitops.schemas.avro.equality import equal
from gitops.schemas.avro.errors import AvroParseError, JavaError
from gitops.schemas.avro.fields import IncompleteRecordError, is_valid_default
from gitops.schemas.avro.json_text import Json
from gitops.schemas.avro.names import check_name, problem
from gitops.schemas.avro.node_parser import make_union
from gitops.schemas.avro.pointers import Pointers
from gitops.schemas.avro.schema import (
    Array,
    Enum,
    Field,
    Fixed,
    Map,
    Missing,
    Record,
    Schema,
    Union,
    facts_of,
    named_types,
    short_name,
)


def apply_aliases(writer: Schema, reader: Schema, *, may_repeat: bool = False) -> Schema:
    """The writer with names and fields renamed as the reader's aliases say.

    `may_repeat`: a schema that has one name twice can be written down (Avro 1.12).

    Raises AvroParseError where the renamed writer is no valid schema: its defaults are checked
    again, two fields can end with one name, a union can get one name twice.
    """
    aliases = aliases_for(writer, reader)
    return apply_to(writer, aliases, may_repeat=may_repeat)


def apply_to(writer: Schema, aliases: Aliases, *, may_repeat: bool = False) -> Schema:
    """The same with the aliases of a reader that the writer is only a part for."""
    if not (aliases.names or aliases.fields):
        return writer
    return _Rewriter(aliases, writer, may_repeat=may_repeat).schema(writer, "")


def aliases_for(writer: Schema, reader: Schema) -> Aliases:
    """The reader's aliases, as far as they count: none do where the two are equal."""
    aliases = Aliases()
    if facts_of(reader).has_aliases:
        aliases.collect(reader, set())
    if (aliases.names or aliases.fields) and equal(writer, reader):
        return Aliases()
    return aliases


def apply_data_aliases(writer: Schema, reader: Schema) -> Schema:
    """The writer as Java's DatumReader hands it to the Resolver, which applies the aliases again.

    An invalid one stays as it is: the Resolver fails on it in turn.
    """
    try:
        return apply_aliases(writer, reader)
    except (AvroParseError, RecursionError):
        return writer


def data_aliases_for(writer: Schema, reader: Schema) -> Aliases:
    """The reader's aliases as far as they count where data is read, both steps in one."""
    once = aliases_for(writer, reader)
    twice = once.followed_twice()
    if twice == once:  # as nearly always
        return once
    try:
        renamed = apply_to(writer, once)
    except (AvroParseError, RecursionError):
        return once
    return once if equal(renamed, reader) else twice


def clashing_alias(writer: Schema, reader: Schema) -> str:
    """Where the reader has an alias for something that the writer has beside the new name.

    A pointer to its `aliases`; empty where the clash is another.
    """
    written = {named_type.name: named_type for named_type in named_types(writer)}
    places = Pointers(reader)
    for read in named_types(reader):
        if read.name in written and any(alias in written for alias in read.aliases):
            return f"{places.pointer(read)}/aliases"
        old = next((written[name] for name in (read.name, *read.aliases) if name in written), None)
        if isinstance(read, Record) and isinstance(old, Record):
            for item in read.all_fields:
                if item.name in old.by_name and any(alias in old.by_name for alias in item.aliases):
                    return f"{places.field(read, item)}/aliases"
    return ""


@dataclass(slots=True)
class Aliases:
    """Old full name → new full name; record's full name → old field → new field."""

    names: dict[str, str] = field(default_factory=dict)
    fields: dict[str, dict[str, str]] = field(default_factory=dict)

    def name(self, written: str) -> str:
        """The full name that a writer's type gets."""
        return self.names.get(written, written)

    def fields_of(self, written: Record) -> Mapping[str, str]:
        """Old field → new field, for a writer's record.

        They are found by the name that the record gets: without an alias for the record, a record
        that has changed its name has no field aliases either.
        """
        return self.fields.get(self.name(written.name), _NONE)

    def followed_twice(self) -> Aliases:
        """What a name becomes after two steps."""
        return Aliases(
            names={old: self.name(new) for old, new in self.names.items()},
            fields={
                record: {old: names.get(new, new) for old, new in names.items()}
                for record, names in self.fields.items()
            },
        )

    def collect(self, schema: Schema, seen: set[int]) -> None:
        """Note what a definition says; `seen` are the records that were looked into.

        By identity: from Avro 1.12 on a record inside itself can have its name.
        """
        if isinstance(schema, Record | Enum | Fixed):
            self.names.update(dict.fromkeys(schema.aliases, schema.name))
        match schema:
            case Record() if id(schema) not in seen:
                seen.add(id(schema))
                self._record(schema, seen)
            case Array():
                self.collect(schema.items, seen)
            case Map():
                self.collect(schema.values, seen)
            case Union():
                for branch in schema.branches:
                    self.collect(branch, seen)
            case _:
                pass

    def _record(self, record: Record, seen: set[int]) -> None:
        for item in record.all_fields:
            for alias in item.aliases:
                self.fields.setdefault(record.name, {})[alias] = item.name
            self.collect(item.type, seen)
        if record.name in self.fields:
            for alias in record.aliases:
                self.fields[alias] = self.fields[record.name]


_NONE: Final[Mapping[str, str]] = {}


class _Rewriter:
    def __init__(self, aliases: Aliases, writer: Schema, *, may_repeat: bool) -> None:
        self.aliases = aliases
        self.may_repeat = may_repeat
        self.places = Pointers(writer)
        # By identity: a writer that was renamed before can have two records of one name.
        self.seen: dict[int, Record] = {}

    def schema(self, schema: Schema, at: str) -> Schema:
        """The schema that stands at pointer `at`, renamed."""
        match schema:
            case Record():
                return self.seen.get(id(schema)) or self._record(schema)
            case Enum() | Fixed():
                return self._renamed(schema, at)
            case Array():
                return replace(schema, items=self.schema(schema.items, f"{at}/items"))
            case Map():
                return replace(schema, values=self.schema(schema.values, f"{at}/values"))
            case Union():
                branches = [self.schema(b, f"{at}/{i}") for i, b in enumerate(schema.branches)]
                return make_union(tuple(branches), at, any_default=schema.any_default)
            case _:
                return schema

    def _renamed(self, schema: Enum | Fixed, at: str) -> Schema:
        name = self.aliases.names.get(schema.name)
        if name is None:
            return schema
        symbols = schema.symbols if isinstance(schema, Enum) else ()
        _check_names((short_name(name), *symbols), at)
        return replace(schema, name=name, aliases=())

    def _record(self, record: Record) -> Record:
        renamed = Record(name=self.aliases.name(record.name), props=record.props)
        _check_names([short_name(renamed.name)], "")
        self.seen[id(record)] = renamed
        new_names = self.aliases.fields_of(record)
        rewritten = tuple(
            self._field(record, f, new_names.get(f.name, f.name)) for f in record.all_fields
        )
        if not renamed.set_fields(rewritten):
            message = f"the aliases give two fields of {renamed.name} the same name"
            where = self.places.pointer(record)
            raise problem("duplicate-field", message, where, java=JavaError.RUNTIME)
        return renamed

    def _field(self, record: Record, old: Field, name: str) -> Field:
        if name == old.name and old.is_plain:
            _check_names([name], "")
            return old  # nothing in it can be renamed, and its default is valid
        at = self.places.field(record, old)
        kind = self.schema(old.type, f"{at}/type")
        _check_names([name], at)
        if old.has_default:
            self._check_default(name, kind, old, at)
        return Field(name, kind, old.default, old.doc, old.order, (), old.props)

    def _check_default(self, name: str, kind: Schema, old: Field, at: str) -> None:
        """Java writes the type down to say that a default is none of it, which can fail first."""
        if (
            not self.may_repeat
            and _is_refused(kind, old.default)
            and (twice := _defined_twice(kind))
        ):
            raise problem("redefined", f"{twice} is defined twice", at)
        fields.check_default(name, kind, old.default, at)


def _check_names(names: Iterable[str], at: str) -> None:
    """Java makes the writer anew, by Avro's own rule for names: it has no `$`, also in 1.12."""
    for name in names:
        check_name(name, at)


def _is_refused(kind: Schema, default: Json | Missing) -> bool:
    """Whether Java looks at the default and says that it is none."""
    try:
        return not is_valid_default(kind, default)
    except IncompleteRecordError:
        return False


def _defined_twice(schema: Schema) -> str | None:
    """The name for which Java's Schema.toString throws "Can't redefine"; None if it does not.

    It stops at a record whose fields are not known yet: that ends in another exception.
    """
    known: dict[str, Schema] = {}
    for named in named_types(schema):
        first = known.setdefault(named.name, named)
        if first is not named and not equal(first, named):
            return named.name
        if isinstance(named, Record) and named.fields is None:
            return None
    return None
