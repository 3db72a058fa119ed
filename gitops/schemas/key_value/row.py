"""The row of KEY_VALUE in the table of schema types: made from the rows of its halves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from gitops.model.decision import StoredSchema
from gitops.model.plan import SchemaChange
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.schemas.client_profiles import Decoding, Misreading
from gitops.schemas.key_value import review
from gitops.schemas.key_value.compatibility import CheckerOf, check_pairs
from gitops.schemas.key_value.parser import (
    ENCODING,
    INLINE,
    add_half_prefix,
    known_halves,
    named_halves,
    pack,
    to_text,
)
from gitops.schemas.row import (
    DefinitionForm,
    InvalidSchemaDataError,
    Remark,
    RowOf,
    SchemaTypeRow,
    UndecodableError,
    definition_change,
    type_change,
)
from gitops.schemas.strategies import LabelledSchema, Outcome

_UnreadableReason = Callable[[StoredSchema, StoredSchema], str | None]


def key_value_row(
    deepest: int | None, row_of: RowOf, checker_of: CheckerOf, unreadable_reason: _UnreadableReason
) -> SchemaTypeRow:
    """The row; the functions are those of the table, which are asked about the halves.

    `deepest` is how deep the text may nest, None for any depth.
    """

    def check(
        existing: Sequence[LabelledSchema], candidate: LabelledSchema, strategy: Strategy
    ) -> Outcome:
        return check_pairs(existing, candidate, strategy, row_of=row_of, checker_of=checker_of)

    return SchemaTypeRow(
        validate=partial(_validate, row_of),
        form=DefinitionForm.HALVES,
        pack=partial(pack, deepest),
        show=partial(to_text, row_of),
        check=check,
        review=partial(_review, lambda half: row_of(half.type).review_half),
        review_half=review.review_half,
        review_accepted=partial(_review_accepted, row_of),
        review_change=partial(_review_change, row_of),
        used_defaults=partial(_used_defaults, row_of),
        diff=partial(_diff, row_of),
        parts=_parts,
        unreadable_reason=partial(_unreadable_reason, unreadable_reason),
        decoded_by=(Decoding.JAVA, Decoding.FULL_NAMES),
        misreadings=partial(_misreadings, row_of),
        reading_properties={
            "key.schema.type": "BYTES",
            "value.schema.type": "BYTES",
            ENCODING: INLINE,
        },
    )


def _validate(row_of: RowOf, schema: StoredSchema) -> None:
    try:
        halves = known_halves(row_of, schema)
    except UndecodableError as error:
        raise InvalidSchemaDataError(str(error), status=500) from None
    for name, (half,) in halves:
        try:
            row_of(half.type).validate(half)
        except InvalidSchemaDataError as error:
            raise InvalidSchemaDataError(f"{name}: {error}", status=error.status) from None


def _review(
    review_of: Callable[[StoredSchema], Callable[[StoredSchema], tuple[Remark, ...]]],
    schema: StoredSchema,
) -> tuple[Remark, ...]:
    return tuple(
        add_half_prefix(remark, name)
        for name, half, _ in _parts(schema, schema)
        for remark in review_of(half)(half)
    )


def _review_accepted(row_of: RowOf, schema: StoredSchema) -> tuple[Remark, ...]:
    defaults = _review(lambda half: row_of(half.type).review_half_defaults, schema)
    return (*review.ignored_definitions(row_of, schema), *defaults)


def _review_change(
    row_of: RowOf, old: StoredSchema, new: StoredSchema, strategy: Strategy
) -> tuple[Remark, ...]:
    of_halves = (
        add_half_prefix(remark, name)
        for name, before, after in _parts(old, new)
        if before.type is after.type
        for remark in row_of(after.type).review_change(before, after, strategy)
    )
    return (*review.remarks(old, new), *review.key_remarks(row_of, old, new), *of_halves)


def _used_defaults(row_of: RowOf, writer: StoredSchema, reader: StoredSchema) -> frozenset[str]:
    return frozenset(
        f"/{name}{pointer}"
        for name, written, read in _parts(writer, reader)
        if written.type is read.type
        for pointer in row_of(read.type).used_defaults(written, read)
    )


def _diff(row_of: RowOf, old: StoredSchema, new: StoredSchema) -> Iterator[SchemaChange]:
    try:
        for name, (before, after) in named_halves(old, new):
            if before.type is not after.type:
                yield add_half_prefix(type_change(before.type, after.type, after.type), name)
                continue
            for change in row_of(after.type).diff(before, after):
                yield add_half_prefix(change, name)
    except UndecodableError:
        yield definition_change(old.data.hex(), new.data.hex())


def _misreadings(
    row_of: RowOf, decoding: Decoding, writer: StoredSchema, reader: StoredSchema
) -> tuple[Misreading, ...]:
    """Each half by the profile of its type.

    Besides Java's only Pulsar.Client has schemas of this type. In Python, Go and DotPulsar the
    application decodes the halves.
    """
    if decoding is not Decoding.FULL_NAMES:
        return ()
    return tuple(
        add_half_prefix(misreading, name)
        for name, written, read in _parts(writer, reader)
        if written.type is read.type
        for misreading in row_of(read.type).misreadings(decoding, written, read)
    )


def _parts(
    old: StoredSchema, new: StoredSchema
) -> Iterator[tuple[str, StoredSchema, StoredSchema]]:
    """The halves of both, by name; none where there is no telling them."""
    try:
        halves = named_halves(old, new)
    except UndecodableError:
        return
    for name, (before, after) in halves:
        yield name, before, after


def _unreadable_reason(
    why_half: _UnreadableReason, reader: StoredSchema, writer: StoredSchema
) -> str | None:
    """Keys are looked for where the reader's own schema says; Pulsar compares no encodings."""
    looks, has = (schema.properties.get(ENCODING, INLINE) for schema in (reader, writer))
    if looks != has:
        return f"it looks for keys {looks}, and messages have them {has}"
    try:
        halves = named_halves(reader, writer)
    except UndecodableError as error:
        return str(error)
    reasons = ((name, why_half(read, written)) for name, (read, written) in halves)
    return next((f"{name}: {why}" for name, why in reasons if why), None)
