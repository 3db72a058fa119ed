"""Words for what stands between a reader and a writer."""

from __future__ import annotations

from msgspec import Struct

from gitops.compatibility.avro.actions import Error, Mismatch
from gitops.compatibility.avro.places import Places
from gitops.compatibility.avro.schema import Field, Fixed, Record, Schema, describe


class Reason(Struct, frozen=True):
    """One reason, before anybody knows which version is reader and which is writer.

    `path` is dotted field names with `[]` for items and `{}` for values; pointers are RFC 6901.
    `hint` is for who may still change the reader, `writer_hint` for who may change the writer.
    """

    rule: str
    message: str
    path: str
    writer_pointer: str
    reader_pointer: str
    hint: str = ""
    writer_hint: str = ""


def explain(
    error: Error, path: str, writer_pointer: str, reader_pointer: str, reader: Places
) -> list[Reason]:
    """The reasons that an error of the resolution stands for: one for each missing field."""
    record = error.reader
    if error.missing and isinstance(record, Record):
        writer = describe(error.writer)
        return [
            _no_default(field, writer, path, writer_pointer, f"{reader.field(record, field)}/name")
            for field in error.missing
        ]
    at_writer = f"{writer_pointer}/type" if writer_pointer else ""
    at_reader = f"{reader_pointer}/type" if reader_pointer else ""
    rule, message, hint, writer_hint = _words(error, path)
    return [Reason(rule, message, path, at_writer, at_reader, hint, writer_hint)]


def _no_default(
    missing: Field, writer: str, path: str, writer_pointer: str, reader_pointer: str
) -> Reason:
    name = missing.name
    return Reason(
        "AVRO-R002",
        f"reader field '{name}' ({describe(missing.type)}) has no default, and {writer} does not"
        " carry it",
        f"{path}.{name}" if path else name,
        writer_pointer,
        reader_pointer,
        f"give '{name}' a default, or make it [\"null\", …] = null",
        f"keep field '{name}': a reader that exists already needs it",
    )


def _words(error: Error, path: str) -> tuple[str, str, str, str]:
    """The rule, the message, the reader's hint, the writer's."""
    writer, reader = describe(error.writer), describe(error.reader)
    # A schema that is no record has no room for another field.
    otherwise = "add a new field" if path else "use another topic"
    match error.mismatch:
        case Mismatch.TYPES | Mismatch.NO_DEFAULT:
            return (
                "AVRO-R001",
                f"a reader of {reader} cannot read {writer}",
                f"keep {writer}, or {otherwise} for {reader}",
                f"keep {reader}, or {otherwise} for {writer}",
            )
        case Mismatch.NO_BRANCH:
            return (
                "AVRO-R003",
                f"no branch of the reader's union {reader} takes {writer}",
                f"keep {writer} as a branch of the reader's union",
                f"keep to what {reader} takes, or {otherwise} for {writer}",
            )
        case Mismatch.NAMES:
            return (
                "AVRO-R004",
                f"the reader's {reader} is not the writer's {writer}: the names differ",
                "keep the name, or give the reader's type an alias",
                "keep the name: a reader that exists already has no alias for a new one",
            )
        case Mismatch.SIZES:
            hint = f"keep the size, or {otherwise} for the new size"
            sizes = _sizes(error.writer, error.reader)
            return "AVRO-R005", f"the sizes of {writer} differ: {sizes}", hint, hint


def _sizes(writer: Schema, reader: Schema) -> str:
    sizes = [str(s.size) for s in (writer, reader) if isinstance(s, Fixed)]
    return " and ".join(sizes)
