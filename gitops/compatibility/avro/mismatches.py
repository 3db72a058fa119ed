"""Words for what stands between a reader and a writer."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct

from gitops.compatibility.avro.actions import Error, Mismatch
from gitops.compatibility.avro.places import Places
from gitops.compatibility.avro.schema import Field, Fixed, Record, Schema, describe


class Reason(Struct, frozen=True, kw_only=True):
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
    if isinstance(error.reader, Record) and error.missing:
        record, writer = error.reader, describe(error.writer)
        return [
            _no_default(field, writer).reason(
                _join(path, field.name), writer_pointer, f"{reader.field(record, field)}/name"
            )
            for field in error.missing
        ]
    return [_words(error).reason(path, writer_pointer, reader_pointer)]


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


class _Words(NamedTuple):
    rule: str
    message: str
    hint: str
    writer_hint: str

    def reason(self, path: str, writer_pointer: str, reader_pointer: str) -> Reason:
        return Reason(
            rule=self.rule,
            message=self.message,
            path=path,
            writer_pointer=writer_pointer,
            reader_pointer=reader_pointer,
            hint=self.hint,
            writer_hint=self.writer_hint,
        )


def _words(error: Error) -> _Words:
    writer, reader = describe(error.writer), describe(error.reader)
    match error.mismatch:
        case Mismatch.NO_BRANCH:
            return _Words(
                "AVRO-R003",
                f"no branch of the reader's union {reader} takes {writer}",
                f"keep {writer} as a branch of the reader's union",
                f"keep to what {reader} takes, or add a new field for {writer}",
            )
        case Mismatch.NAMES:
            return _Words(
                "AVRO-R004",
                f"the reader's {reader} is not the writer's {writer}: the names differ",
                "keep the name, or give the reader's type an alias",
                "keep the name: a reader that exists already has no alias for a new one",
            )
        case Mismatch.SIZES:
            hint = "keep the size, or add a new field of the new size"
            sizes = _sizes(error.writer, error.reader)
            return _Words("AVRO-R005", f"the sizes of {writer} differ: {sizes}", hint, hint)
        case Mismatch.TYPES | Mismatch.NO_DEFAULT:
            return _Words(
                "AVRO-R001",
                f"a reader of {reader} cannot read {writer}",
                f"keep {writer}, or add a new field for {reader}",
                f"keep {reader}, or add a new field for {writer}",
            )


def _no_default(missing: Field, writer: str) -> _Words:
    name, kind = missing.name, describe(missing.type)
    return _Words(
        "AVRO-R002",
        f"reader field '{name}' ({kind}) has no default, and {writer} does not carry it",
        f"give '{name}' a default, or make it [\"null\", …] = null",
        f"keep field '{name}': a reader that exists already needs it",
    )


def _sizes(writer: Schema, reader: Schema) -> str:
    sizes = [str(s.size) for s in (writer, reader) if isinstance(s, Fixed)]
    return " and ".join(sizes)
