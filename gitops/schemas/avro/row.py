"""The row of AVRO in the table of schema types, and what JSON and PROTOBUF take from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache

from gitops.model.decision import StoredSchema
from gitops.model.plan import SchemaChange
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.schemas.avro import compatibility, equality
from gitops.schemas.avro.aliases import apply_data_aliases
from gitops.schemas.avro.client_reading import find_misreadings
from gitops.schemas.avro.diff import differences
from gitops.schemas.avro.errors import AvroParseError
from gitops.schemas.avro.parser import AvroParser
from gitops.schemas.avro.review import avro_changes, used_defaults
from gitops.schemas.avro.review_clients import client_remarks
from gitops.schemas.avro.review_definition import review_defaults, review_recursion, review_top
from gitops.schemas.avro.review_logical_defaults import review_logical_defaults
from gitops.schemas.avro.review_types import Wire
from gitops.schemas.avro.schema import Record, Schema
from gitops.schemas.client_profiles import Decoding, Misreading
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
from gitops.schemas.strategies import LabelledSchema, Outcome, reads_forward


class AvroDefinitions:
    """What there is to do with Avro definitions, read by the parser of one broker line."""

    def __init__(self, parser: AvroParser) -> None:
        self._parser = parser

    def read_valid(self, schema: StoredSchema) -> Schema:
        """The definition that the broker's validator has read; raises InvalidSchemaDataError."""
        try:
            return self._parser.parse_data(schema.data)
        except AvroParseError as error:
            raise InvalidSchemaDataError(f"not a valid Avro schema: {error}") from None

    def read(self, schema: StoredSchema) -> Schema:
        """A definition as equality reads it, with its defaults; raises AvroParseError."""
        return self._parser.parse_data(schema.data, validate_defaults=True)

    def equal(self, left: StoredSchema, right: StoredSchema) -> bool:
        """Java's equality of two definitions; raises AvroParseError."""
        return equality.equal(self.read(left), self.read(right))

    def check(
        self, existing: Sequence[LabelledSchema], candidate: LabelledSchema, strategy: Strategy
    ) -> Outcome:
        """The broker's checker, also for JSON as Avro and for halves of KEY_VALUE."""
        return compatibility.check(self._parser, existing, candidate, strategy)

    def names(self, schema: StoredSchema) -> tuple[str, ...]:
        """The full name of a record and its aliases; none for other definitions."""
        top = self.read_or_none(schema)
        if not isinstance(top, Record):
            return ()
        namespace = top.name.rpartition(".")[0]
        qualified = (f"{namespace}.{alias}" if namespace else alias for alias in top.aliases)
        return (top.name, *top.aliases, *qualified)

    def review(self, schema: StoredSchema) -> tuple[Remark, ...]:
        """Why nothing follows a definition."""
        return (*self.review_defaults(schema), *self.review_half(schema))

    def review_defaults(self, schema: StoredSchema) -> tuple[Remark, ...]:
        """The defaults of a definition that equality reads."""
        return review_defaults(self._parser, text_of(schema), "AVRO-P002")

    def review_half(self, schema: StoredSchema) -> tuple[Remark, ...]:
        """Why nothing follows a definition, its defaults apart."""
        top = self.read_or_none(schema)
        return () if top is None else review_recursion(top)

    def review_half_defaults(self, schema: StoredSchema) -> tuple[Remark, ...]:
        """About defaults and the top of a half of a KEY_VALUE, which poison nothing.

        The broker never looks at the defaults (Pulsar 4.0.7); a reader that needs one does.
        """
        top = self.read_or_none(schema)
        return (
            *review_defaults(self._parser, text_of(schema), "KV-W003"),
            *(review_top(top, is_half=True) if top else ()),
            *self.review_logical_defaults(schema),
        )

    def review_logical_defaults(self, schema: StoredSchema) -> tuple[Remark, ...]:
        """Defaults that Java cannot turn into the value of their logical type."""
        if b'"logicalType"' not in schema.data or b'"default"' not in schema.data:
            return ()
        top = self.read_or_none(schema)
        return () if top is None else review_logical_defaults(top)

    def review_accepted(self, schema: StoredSchema) -> tuple[Remark, ...]:
        """What no broker looks at and blocks no later version, but harms some clients."""
        top = self.read_or_none(schema)
        return (*review_top(top), *self.review_logical_defaults(schema)) if top else ()

    def change_review(
        self, wire: Wire
    ) -> Callable[[StoredSchema, StoredSchema, Strategy], tuple[Remark, ...]]:
        """The review of a change for messages that are laid out like this."""

        def review(old: StoredSchema, new: StoredSchema, strategy: Strategy) -> tuple[Remark, ...]:
            if old.data == new.data:
                return ()
            try:
                before, after = self._parser.parse_data(old.data), self._parser.parse_data(new.data)
                forward = reads_forward(strategy)
                remarks = avro_changes(before, after, wire=wire, forward=forward)
            except (AvroParseError, RecursionError):  # the broker fails on it, which says enough
                return ()
            if wire is not Wire.AVRO:
                return remarks
            clients = client_remarks(self.misreadings, old, new, forward=forward)
            return (*remarks, *clients)

        return review

    def used_defaults(self, writer: StoredSchema, reader: StoredSchema) -> frozenset[str]:
        """The reader's defaults that stand in for what messages of the writer lack."""
        try:
            written, read = (
                self._parser.parse_data(writer.data),
                self._parser.parse_data(reader.data),
            )
            return used_defaults(written, read)
        except (AvroParseError, RecursionError):  # nobody decodes such messages
            return frozenset()

    def misreadings(
        self, decoding: Decoding, writer: StoredSchema, reader: StoredSchema
    ) -> tuple[Misreading, ...]:
        """What a client that is not Java's gets wrong of messages of `writer`."""
        return find_misreadings(self._parser, decoding, writer.data, reader.data)

    def diff(self, old: StoredSchema, new: StoredSchema) -> Iterator[SchemaChange]:
        """The differences; of what is no definition only that it differs."""
        if old.data == new.data:
            return
        try:
            yield from differences(*map(self._parser.parse_data, (old.data, new.data)))
        except AvroParseError:
            yield from whole_change(old, new)

    def resolve(self, writer: StoredSchema, reader: StoredSchema) -> tuple[Reason, ...]:
        """Why Avro's resolution fails; nothing where one of both is no definition."""
        written, read = self.read_or_none(writer), self.read_or_none(reader)
        if written is None or read is None:
            return ()
        return compatibility.can_read(apply_data_aliases(written, read), read).reasons

    def reader_check(self, wire: Wire) -> Callable[[StoredSchema, StoredSchema], str | None]:
        """Why a consumer fails on messages that are laid out like this.

        By Avro's resolution; JSON is read by names, and what Avro resolves JSON readers take.
        Symbols that the reader lacks pass the broker and stop a consumer (Avro 1.11.4).
        """

        def why(reader: StoredSchema, writer: StoredSchema) -> str | None:
            return _unreadable_reason(self._parser, wire, reader.data, writer.data)

        return why

    def read_or_none(self, schema: StoredSchema) -> Schema | None:
        """The definition, None for what is none."""
        try:
            return self._parser.parse_data(schema.data)
        except (AvroParseError, RecursionError):  # without Jackson's limits anything may come
            return None


@lru_cache(maxsize=4096)
def _unreadable_reason(parser: AvroParser, wire: Wire, reader: bytes, writer: bytes) -> str | None:
    if reader == writer:
        return None
    try:
        read, written = parser.parse_data(reader), parser.parse_data(writer)
    except AvroParseError as error:
        return f"a definition is no schema: {error}"
    for reason in compatibility.can_read(apply_data_aliases(written, read), read).reasons:
        path = f"at '{reason.path}': " if reason.path else ""
        return f"{path}{reason.message}"
    return blocking_text(avro_changes(written, read, wire=wire))


@cache
def avro_row(parser: AvroParser, *, takes_top_union: bool) -> SchemaTypeRow:
    """The row for the parser of one broker line; `takes_top_union` as for SchemaRules."""
    avro = AvroDefinitions(parser)

    def validate(schema: StoredSchema) -> None:
        if avro.read_valid(schema).kind == "union" and not takes_top_union:
            raise InvalidSchemaDataError("an AVRO schema cannot be a union at the top")

    return SchemaTypeRow(
        validate=validate,
        form=DefinitionForm.AVRO,
        definition=avro.read,
        equal=avro.equal,
        check=avro.check,
        crashes_on_null=True,
        review=avro.review,
        review_half=avro.review_half,
        review_half_defaults=avro.review_half_defaults,
        review_accepted=avro.review_accepted,
        review_change=avro.change_review(Wire.AVRO),
        used_defaults=avro.used_defaults,
        diff=avro.diff,
        names=avro.names,
        resolve=avro.resolve,
        unreadable_reason=avro.reader_check(Wire.AVRO),
        decoded_by=tuple(decoding for decoding in Decoding if decoding is not Decoding.APPLICATION),
        misreadings=avro.misreadings,
    )
