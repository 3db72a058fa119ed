"""The row of AVRO in the table of schema types, and what JSON and PROTOBUF take from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Final

from gitops.model.decision import StoredSchema
from gitops.model.plan import SchemaChange
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.schemas.avro import compatibility, equality
from gitops.schemas.avro.diff import differences
from gitops.schemas.avro.errors import AvroParseError
from gitops.schemas.avro.parser import parse, parse_data
from gitops.schemas.avro.review import avro_changes
from gitops.schemas.avro.review_definition import review_defaults, review_recursion
from gitops.schemas.avro.review_types import Wire
from gitops.schemas.avro.schema import Record, Schema
from gitops.schemas.row import (
    DefinitionForm,
    InvalidSchemaDataError,
    Reason,
    Remark,
    SchemaTypeRow,
    blocking_text,
    text_of,
    whole_change,
)
from gitops.schemas.strategies import reads_forward


def read_valid(schema: StoredSchema) -> Schema:
    """The definition that the broker's validator has read; raises InvalidSchemaDataError."""
    try:
        return parse_data(schema.data)
    except AvroParseError as error:
        raise InvalidSchemaDataError(f"not a valid Avro schema: {error}") from None


def _validate(schema: StoredSchema) -> None:
    if read_valid(schema).kind == "union":
        raise InvalidSchemaDataError("an AVRO schema cannot be a union at the top")


def read_definition(schema: StoredSchema) -> Schema:
    """A definition as equality reads it, with its defaults; raises AvroParseError."""
    return parse_data(schema.data, validate_defaults=True)


def equal(one: StoredSchema, other: StoredSchema) -> bool:
    """Java's equality of two definitions; raises AvroParseError."""
    return equality.equal(read_definition(one), read_definition(other))


def read_or_none(schema: StoredSchema) -> Schema | None:
    """A definition as the checker reads it, None if it is not one."""
    try:
        return parse_data(schema.data)
    except AvroParseError:
        return None


def names(schema: StoredSchema) -> tuple[str, ...]:
    """The full name of a record and its aliases; none for other definitions."""
    top = read_or_none(schema)
    if not isinstance(top, Record):
        return ()
    namespace = top.name.rpartition(".")[0]
    qualified = (f"{namespace}.{one}" if namespace else one for one in top.aliases)
    return (top.name, *top.aliases, *qualified)


def review_half(schema: StoredSchema) -> tuple[Remark, ...]:
    """Why nothing follows a definition, its defaults apart."""
    try:
        return review_recursion(parse(text_of(schema)))
    except AvroParseError:
        return ()


def _review(schema: StoredSchema) -> tuple[Remark, ...]:
    return (*review_defaults(text_of(schema), "AVRO-P002"), *review_half(schema))


def review_half_defaults(schema: StoredSchema) -> tuple[Remark, ...]:
    """About defaults in a half of a KEY_VALUE, which poison nothing.

    The broker never looks at them (Pulsar 4.0.7); a reader that needs one does.
    """
    return review_defaults(text_of(schema), "KV-W003")


def change_review(
    wire: Wire,
) -> Callable[[StoredSchema, StoredSchema, Strategy], tuple[Remark, ...]]:
    """The review of a change for messages that are laid out like this."""

    def review(old: StoredSchema, new: StoredSchema, strategy: Strategy) -> tuple[Remark, ...]:
        if old.data == new.data:
            return ()
        try:
            before, after = parse(text_of(old)), parse(text_of(new))
            return avro_changes(before, after, wire=wire, forward=reads_forward(strategy))
        except (AvroParseError, RecursionError):  # the broker fails on it, which says enough
            return ()

    return review


def diff(old: StoredSchema, new: StoredSchema) -> Iterator[SchemaChange]:
    """The differences; of what is no definition only that it differs."""
    if old.data == new.data:
        return
    try:
        yield from differences(parse(text_of(old)), parse(text_of(new)))
    except AvroParseError:
        yield from whole_change(old, new)


def resolve(writer: StoredSchema, reader: StoredSchema) -> tuple[Reason, ...]:
    """Why Avro's resolution fails; nothing where one of both is no definition."""
    written, read = read_or_none(writer), read_or_none(reader)
    if written is None or read is None:
        return ()
    return compatibility.can_read(written, read).reasons


def reader_check(wire: Wire) -> Callable[[StoredSchema, StoredSchema], str | None]:
    """Why a consumer fails on messages that are laid out like this.

    By Avro's resolution; JSON is read by names, and what Avro resolves JSON readers take. Symbols
    that the reader lacks pass the broker and stop a consumer (Avro 1.11.4).
    """

    def why(reader: StoredSchema, writer: StoredSchema) -> str | None:
        return _why_unreadable(wire, reader.data, writer.data)

    return why


@lru_cache(maxsize=4096)
def _why_unreadable(wire: Wire, reader: bytes, writer: bytes) -> str | None:
    if reader == writer:
        return None
    try:
        read, written = parse_data(reader), parse_data(writer)
    except AvroParseError as error:
        return f"a definition is no schema: {error}"
    for reason in compatibility.can_read(written, read).reasons:
        path = f"at '{reason.path}': " if reason.path else ""
        return f"{path}{reason.message}"
    return blocking_text(avro_changes(written, read, wire=wire))


AVRO: Final = SchemaTypeRow(
    validate=_validate,
    form=DefinitionForm.AVRO,
    definition=read_definition,
    equal=equal,
    check=compatibility.check,
    crashes_on_null=True,
    review=_review,
    review_half=review_half,
    review_half_defaults=review_half_defaults,
    review_change=change_review(Wire.AVRO),
    diff=diff,
    names=names,
    resolve=resolve,
    why_unreadable=reader_check(Wire.AVRO),
)
