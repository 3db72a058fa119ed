"""What the table of schema types has for each type, and what several of its rows share.

A row's functions are about schemas of its type alone. The defaults are those of a type without a
definition that anybody reads.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from msgspec import Struct

from gitops.model.decision import StoredSchema
from gitops.model.plan import ChangeKind, SchemaChange
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import AUTO_TYPES, SchemaType
from gitops.schemas.client_profiles import Decoding, Misreading
from gitops.schemas.strategies import LabelledSchema, Outcome, check_strategy


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """One thing that readers of the topic would suffer from.

    `path` is how a person names the place: dotted field names, `[]` for items, `{}` for values.
    The pointers are RFC 6901 JSON pointers into the new definition and into the old one, which is
    None where only the new one is to blame. `stops_readers`: one with the new schema fails on
    some messages of the old, which Pulsar does not see; `stops_old_readers`: one with the old
    schema on some of the new. `breaks_readers` and `breaks_old_readers`: for certain they fail,
    or read other values, as the format does not allow the change; not where it depends on what
    people meant, or where the format has a rule for such values. `breaks_promise`: the strategy
    promises that these readers can read.
    """

    rule: str
    message: str
    path: str = ""
    pointer: str = ""
    old_pointer: str | None = None
    hint: str = ""
    stops_readers: bool = False
    stops_old_readers: bool = False
    breaks_readers: bool = False
    breaks_old_readers: bool = False
    breaks_promise: bool = False


class Reason(Struct, frozen=True):
    """One reason why a reader cannot read, before anybody knows which version is which of both.

    `path` is dotted field names with `[]` for items and `{}` for values; pointers are RFC 6901.
    `hint` is for who may still change the reader, `writer_hint` for who may change the writer.
    `is_certain` is False where it depends on the values or on the client.
    """

    rule: str
    message: str
    path: str
    writer_pointer: str
    reader_pointer: str
    hint: str = ""
    writer_hint: str = ""
    is_certain: bool = True


class DefinitionForm(Enum):
    """What a definition is written in."""

    AVRO = "an Avro schema"
    DESCRIPTORS = "Protobuf's descriptors, compiled from .proto files"
    HALVES = "the definitions of a key and of a value"


class InvalidSchemaDataError(ValueError):
    """The data is not valid; `status` is what the broker answers, 422 or 500."""

    def __init__(self, message: str, *, status: int = 422) -> None:
        super().__init__(message)
        self.status = status


class UndecodableError(ValueError):
    """The text or the bytes are no schema of the type; the broker answers 500."""


class PayloadError(ValueError):
    """The text cannot be turned into what is stored; the broker answers 500."""


CheckList = Callable[[Sequence[LabelledSchema], LabelledSchema, Strategy], Outcome]


def _check_by_strategy(
    _existing: Sequence[LabelledSchema], _candidate: LabelledSchema, strategy: Strategy
) -> Outcome:
    return check_strategy(strategy)


def _text_bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def text_of(schema: StoredSchema) -> str:
    """The definition as text."""
    return schema.data.decode("utf-8", "replace")


def _have_equal_bytes(left: StoredSchema, right: StoredSchema) -> bool:
    return left.data == right.data


def _no_names(_schema: StoredSchema) -> tuple[str, ...]:
    return ()


def _whole(
    old: StoredSchema, new: StoredSchema
) -> Iterable[tuple[str, StoredSchema, StoredSchema]]:
    yield "", old, new


def _no_remarks(*_schemas: object) -> tuple[Remark, ...]:
    return ()


def _no_pointers(_writer: StoredSchema, _reader: StoredSchema) -> frozenset[str]:
    return frozenset()


def _no_reasons(_writer: StoredSchema, _reader: StoredSchema) -> tuple[Reason, ...]:
    return ()


def no_misreadings(
    _decoding: Decoding, _writer: StoredSchema, _reader: StoredSchema
) -> tuple[Misreading, ...]:
    """Of a type that clients of all languages read alike, or of which nothing is known."""
    return ()


def _never_unreadable(_reader: StoredSchema, _writer: StoredSchema) -> str | None:
    return None


def blocking_text(remarks: Iterable[Remark]) -> str | None:
    """What stops readers, although the broker accepts it."""
    stops = next((remark for remark in remarks if remark.stops_readers), None)
    return f"at '{stops.path}': {stops.message}" if stops else None


def whole_change(old: StoredSchema, new: StoredSchema) -> Iterable[SchemaChange]:
    """Definitions that cannot be compared part by part; nothing for equal bytes."""
    if old.data != new.data:
        yield definition_change(text_of(old), text_of(new))


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaTypeRow:
    """The functions of one schema type.

    `form` is what its definition is written in, None for a type that is a whole schema by itself.
    `pack` makes the stored data of the text of admin REST, and `show` the text of a stored schema;
    both raise UndecodableError. `kept_as` is the type under which a registry keeps it, where that
    is another one.

    `validate` raises InvalidSchemaDataError where Pulsar 4.0.7's SchemaDataValidator would.
    `definition` reads what the registry's equality compares (raises AvroParseError), None where
    it compares bytes, and `equal` compares two. `check` is the broker's checker of a list of
    versions of this type, and `check_latest` the one of a single version where that differs.
    `crashes_on_null`: the checker fails on the half of a KEY_VALUE that is null. `is_known`: the
    broker line has a type of that name. `is_opaque`: it has a definition, which nobody reads.

    `review` has our own remarks on one definition, `review_half` those on it as half of a
    KEY_VALUE, `review_half_defaults` those on the defaults and the top of such a half, and
    `review_accepted` those on what poisons nothing. `review_change` compares two, for readers under
    a strategy, and `diff` names each difference. `used_defaults` gets a writer and a reader:
    pointers to the reader's defaults that stand in for what messages lack. `names` tell kinds of
    event apart in one topic: the present name, then aliases. `parts` are the schemas that readers
    resolve one by one, named.

    `resolve` gets what is written and what reads it: why a reader fails, by Avro's resolution, or
    of JSON by what clients take; nothing of other types. `unreadable_reason` gets a reader and a
    writer: why a consumer fails on such messages, None where it reads them, or nothing is known.
    `decoded_by` are the ways of decoding of the clients that decode the type themselves.
    `misreadings` gets a writer and a reader: what a client that decodes in another way than Java's
    gets wrong. `reading_properties` decide how messages are read, although `equal` ignores them:
    each with what holds without it, None where that is unknown.
    """

    validate: Callable[[StoredSchema], None]
    form: DefinitionForm | None = None
    pack: Callable[[str], bytes] = _text_bytes
    show: Callable[[StoredSchema], str] = text_of
    kept_as: SchemaType | None = None
    definition: Callable[[StoredSchema], object] | None = None
    equal: Callable[[StoredSchema, StoredSchema], bool] = _have_equal_bytes
    check: CheckList = _check_by_strategy
    check_latest: Callable[[LabelledSchema, LabelledSchema, Strategy], Outcome] | None = None
    crashes_on_null: bool = False
    is_known: bool = True
    is_opaque: bool = False
    review: Callable[[StoredSchema], tuple[Remark, ...]] = _no_remarks
    review_half: Callable[[StoredSchema], tuple[Remark, ...]] = _no_remarks
    review_half_defaults: Callable[[StoredSchema], tuple[Remark, ...]] = _no_remarks
    review_accepted: Callable[[StoredSchema], tuple[Remark, ...]] = _no_remarks
    review_change: Callable[[StoredSchema, StoredSchema, Strategy], tuple[Remark, ...]] = (
        _no_remarks
    )
    used_defaults: Callable[[StoredSchema, StoredSchema], frozenset[str]] = _no_pointers
    diff: Callable[[StoredSchema, StoredSchema], Iterable[SchemaChange]] = whole_change
    names: Callable[[StoredSchema], tuple[str, ...]] = _no_names
    parts: Callable[
        [StoredSchema, StoredSchema], Iterable[tuple[str, StoredSchema, StoredSchema]]
    ] = _whole
    resolve: Callable[[StoredSchema, StoredSchema], tuple[Reason, ...]] = _no_reasons
    unreadable_reason: Callable[[StoredSchema, StoredSchema], str | None] = _never_unreadable
    decoded_by: Collection[Decoding] = tuple(Decoding)
    misreadings: Callable[[Decoding, StoredSchema, StoredSchema], tuple[Misreading, ...]] = (
        no_misreadings
    )
    reading_properties: Mapping[str, str | None] = field(default_factory=dict)


RowOf = Callable[[SchemaType], SchemaTypeRow]
"""The table itself, as the row of KEY_VALUE asks it for the types of the halves."""


def type_change(before: SchemaType, after: SchemaType, kept: SchemaType) -> SchemaChange:
    """Another schema type."""
    is_kept = after is kept or after in AUTO_TYPES  # those are never stored
    note = "" if is_kept else f"Pulsar keeps it as {kept.value}"
    return SchemaChange(
        kind=ChangeKind.CHANGED, path="type", before=before.value, after=after.value, note=note
    )


def definition_change(old: str, new: str) -> SchemaChange:
    """Other text, of which nothing is known but its length."""
    return SchemaChange(
        kind=ChangeKind.CHANGED,
        path="definition",
        before=_length(old),
        after=_length(new) if len(new) != len(old) else "as many others",
    )


def _length(text: str) -> str:
    return f"{len(text):,} character{'' if len(text) == 1 else 's'}"
