"""A schema from a builder, in Python as in Java's `SchemaBuilder.record(…)`.

    from gitops.builder import record

    order = (
        record("com.acme.Order")
        .field("id", "string")
        .optional("note", "string")
        .build("AVRO")
    )

The text is that of Pulsar's RecordSchemaBuilder (4.0.7), byte for byte, but for numbers that Java
prints with an E.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Literal, Self

from gitops.extraction.avro_defaults import DefaultMismatchError, Defaults
from gitops.extraction.avro_types import Avro
from gitops.model.errors import UsageError
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.repository.definitions.protobuf import java_order
from gitops.schemas.payload import to_stored
from gitops.schemas.row import InvalidSchemaDataError
from gitops.schemas.types import TYPES

FieldType = Literal[
    "string", "bytes", "boolean", "int", "long", "float", "double", "date", "time", "timestamp"
]
"""Pulsar's STRING, BYTES, BOOLEAN, INT32, INT64, FLOAT, DOUBLE, DATE, TIME and TIMESTAMP."""

Default = str | int | float | bool
"""A default of a field."""

_LOGICAL: Final[Mapping[str, Mapping[str, str]]] = {
    "date": {"type": "int", "logicalType": "date"},
    "time": {"type": "int", "logicalType": "time-millis"},
    "timestamp": {"type": "long", "logicalType": "timestamp-millis"},
}
_PLAIN: Final = ("string", "bytes", "boolean", "int", "long", "float", "double")
_DEFAULTS: Final = Defaults(lambda _: None)


def record(name: str, doc: str | None = None) -> RecordBuilder:
    """A builder for a record; `name` may contain a namespace, as in `com.acme.Order`."""
    return RecordBuilder(name, doc)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Field:
    name: str
    type: FieldType | RecordBuilder
    is_optional: bool
    default: Default | None
    doc: str | None
    properties: Mapping[str, str]


class RecordBuilder:
    """Gathers the fields of a record; every method but `build` answers the builder itself.

    A record that is the type of several fields is one: what a field gives it, it has everywhere.
    """

    def __init__(self, name: str, doc: str | None = None) -> None:
        self._space, _, self._name = name.rpartition(".")
        self._doc = doc
        self._fields: list[_Field] = []
        self._aliases: list[str] = []
        self._type_properties: dict[str, str] = {}
        self._properties: dict[str, str] = {}

    def property(self, key: str, value: str) -> Self:
        """A property of the schema, which Pulsar keeps beside the definition."""
        self._properties[key] = value
        return self

    def field(  # noqa: PLR0913 - each is a method of Pulsar's FieldSchemaBuilder
        self,
        name: str,
        type: FieldType | RecordBuilder,  # noqa: A002 - Pulsar's own word
        *,
        default: Default | None = None,
        doc: str | None = None,
        aliases: Sequence[str] = (),
        properties: Mapping[str, str] | None = None,
        is_optional: bool = False,
    ) -> Self:
        """A field, never null unless `is_optional`.

        `aliases` are other names of a record, `properties` those of the field's type, as Pulsar
        has them. Raises UsageError for what Pulsar's builder refuses.
        """
        ordered = {key: (properties or {})[key] for key in java_order(list(properties or {}))}
        if isinstance(type, RecordBuilder):
            type._aliases += aliases  # noqa: SLF001 - of the same class
            type._type_properties |= ordered  # noqa: SLF001 - as above
        elif aliases:
            hint = "leave them out: only a record has aliases"
            raise UsageError(f"the field {name} of {self._name} cannot have aliases", hint=hint)
        given = _Field(
            name=name,
            type=type,
            is_optional=is_optional,
            default=default,
            doc=doc,
            properties=ordered,
        )
        self._fields.append(given)
        return self

    def optional(
        self,
        name: str,
        type: FieldType | RecordBuilder,  # noqa: A002 - Pulsar's own word
        *,
        default: Default | None = None,
        doc: str | None = None,
        properties: Mapping[str, str] | None = None,
    ) -> Self:
        """A field that may be null, and is null where data lacks it, unless `default` is given."""
        return self.field(
            name, type, default=default, doc=doc, properties=properties, is_optional=True
        )

    def build(self, schema_type: Literal["AVRO", "JSON"]) -> SchemaInfo:
        """The schema; raises UsageError for what Pulsar would not accept."""
        if schema_type not in ("AVRO", "JSON"):
            raise UsageError(
                f"a record has no schema of type {schema_type}", hint='build "AVRO" or "JSON"'
            )
        content = self._definition("", {})
        text = json.dumps(content, separators=(",", ":"), ensure_ascii=False)
        info = SchemaInfo(
            type=SchemaType(schema_type), schema=text, properties=dict(self._properties)
        )
        try:
            TYPES.validate(to_stored(info))
        except InvalidSchemaDataError as error:
            raise UsageError(f"Pulsar would not accept the record {self._name}: {error}") from error
        return info

    def _definition(self, space: str, known: dict[str, RecordBuilder]) -> Avro:
        """The record at its first place inside a namespace, its name at others."""
        full = f"{self._space}.{self._name}" if self._space else self._name
        if full in known:
            if known[full] is not self:
                hint = "use one builder for all of its fields, or another name"
                raise UsageError(f"two records have the name {full}", hint=hint)
            return self._name if self._space == space else full
        known[full] = self
        made: dict[str, Any] = {"type": "record", "name": self._name}
        if self._space != space:
            made["namespace"] = self._space
        if self._doc is not None:
            made["doc"] = self._doc
        made["fields"] = [_field_definition(field, self._space, known) for field in self._fields]
        aliases = {"aliases": list(dict.fromkeys(self._aliases))} if self._aliases else {}
        return made | self._type_properties | aliases


def _field_definition(
    given: _Field, space: str, known: dict[str, RecordBuilder]
) -> dict[str, Avro]:
    base = _base_type(given, space, known)
    made = {"name": given.name, "type": base}
    if given.is_optional:
        made["type"] = ["null", base] if given.default is None else [base, "null"]
    if given.doc is not None:
        made["doc"] = given.doc
    if given.default is not None:
        made["default"] = _default(given)
    elif given.is_optional:
        made["default"] = None
    return made


def _base_type(given: _Field, space: str, known: dict[str, RecordBuilder]) -> Avro:
    if isinstance(given.type, RecordBuilder):
        return given.type._definition(space, known)  # noqa: SLF001 - a part of that class
    if given.type in _LOGICAL:
        return {**_LOGICAL[given.type], **given.properties}
    if given.type not in _PLAIN:
        hint = f"types: {', '.join((*_PLAIN, *_LOGICAL))}, or another record(…)"
        raise UsageError(f"the field {given.name} has no type {given.type}", hint=hint)
    return {"type": given.type, **given.properties} if given.properties else given.type


def _default(given: _Field) -> Default:
    """The default in JSON: of plain types but bytes, as Pulsar's builder (4.0.7)."""
    with suppress(DefaultMismatchError):
        if given.type in _PLAIN and given.type != "bytes":
            result: Default = _DEFAULTS.find(given.type, given.default)
            return result
    raise UsageError(
        f"{given.default!r} is not a default of the type {given.type}",
        where=given.name,
        hint="Pulsar's builder has defaults for strings, numbers and booleans",
    )
