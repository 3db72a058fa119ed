"""Schemas that the broker takes once and that then stand in the way of every later one.

Seen with Pulsar 4.0.7: the validator lets them in as the first schema of a topic, and equality or
the checker fails on them from then on, the very same text included, until the topic's schema is
deleted.
"""

from __future__ import annotations

from typing import Final

from gitops.model.decision import StoredSchema
from gitops.model.schema import AVRO_DEFINED, SchemaType
from gitops.schemas.avro.errors import AvroParseError, JavaError
from gitops.schemas.avro.parser import parse
from gitops.schemas.avro.pointers import Pointers
from gitops.schemas.avro.recursion import first_loop
from gitops.schemas.json import legacy_parser
from gitops.schemas.remark import Remark


def remarks_on_definition(schema: StoredSchema) -> tuple[Remark, ...]:
    """About a schema that is not a KEY_VALUE."""
    if schema.type not in AVRO_DEFINED:
        return ()
    return (*_invalid_defaults(schema, "AVRO-P002"), *remarks_on_half(schema))


def defaults_of_half(schema: StoredSchema) -> tuple[Remark, ...]:
    """About the defaults in a half of a KEY_VALUE, which poison nothing.

    The broker never looks at them (Pulsar 4.0.7); a reader that needs one does.
    """
    return _invalid_defaults(schema, "KV-W003") if schema.type in AVRO_DEFINED else ()


def remarks_on_half(schema: StoredSchema) -> tuple[Remark, ...]:
    """About a half of a KEY_VALUE, its defaults apart."""
    if schema.type is SchemaType.KEY_VALUE:
        return (_NESTED,)
    if schema.type not in AVRO_DEFINED:
        return ()
    try:
        top = parse(_text(schema))
    except AvroParseError as error:
        return _old_form(schema, error)
    recursive = first_loop(top)
    if recursive is None or schema.type is SchemaType.PROTOBUF:
        return ()
    record, field = recursive
    return (
        Remark(
            rule="AVRO-P003",
            message=f"field '{field.name}' makes {record.name} contain itself with no union, array "
            "or map between: Pulsar takes it as a first schema, and no other one after it",
            path=field.name,
            pointer=Pointers(top).field(record, field),
            hint='put ["null", …] around the inner use of the record',
        ),
    )


_NESTED = Remark(
    rule="KV-P001",
    message="half of a KEY_VALUE is itself a KEY_VALUE: the broker takes the first four letters "
    "of its definition for a length and asks for some two gigabytes of memory",
    hint="make it a record (AVRO or JSON) of both",
)


INVALID_DEFAULTS: Final = {
    "AVRO-P002": "Pulsar takes it as a first schema and then fails on every later one",
    "KV-W003": "Pulsar looks at no default in a KEY_VALUE; readers that need it can fail",
}
"""What the rules about a default that does not fit say of it: of a schema, and of half of one."""


def _invalid_defaults(schema: StoredSchema, rule: str) -> tuple[Remark, ...]:
    try:
        parse(_text(schema), validate_defaults=True)
    except AvroParseError as error:
        return tuple(
            Remark(
                rule=rule,
                message=problem.message,
                pointer=problem.pointer,
                hint=INVALID_DEFAULTS[rule],
            )
            for problem in error.problems
            if problem.kind == "invalid-default"
        )
    return ()


def _old_form(schema: StoredSchema, error: AvroParseError) -> tuple[Remark, ...]:
    """JSON is read as Jackson's JsonSchema only where Avro calls it no schema."""
    if schema.type is not SchemaType.JSON or error.java is not JavaError.SCHEMA_PARSE:
        return ()
    try:
        legacy_parser.read(_text(schema))
    except (legacy_parser.NotJacksonError, legacy_parser.UnknownTypeIdError):
        return ()
    return (
        Remark(
            rule="JSON-P001",
            message="this is a JSON schema in Jackson's form, which old clients wrote: Pulsar "
            "takes it as a first schema, and no other one after it",
            hint="write it as an Avro record",
        ),
    )


def _text(schema: StoredSchema) -> str:
    return schema.data.decode("utf-8", "replace")
