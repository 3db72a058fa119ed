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
    at_types = (f"{each}/type" if each else "" for each in (writer_pointer, reader_pointer))
    return [_words(error, path).reason(path, *at_types)]


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


def _words(error: Error, path: str) -> _Words:
    writer, reader = describe(error.writer), describe(error.reader)
    # A schema that is no record has no room for another field.
    otherwise = "add a new field" if path else "use another topic"
    match error.mismatch:
        case Mismatch.NO_BRANCH:
            return _Words(
                "AVRO-R003",
                f"no branch of the reader's union {reader} takes {writer}",
                f"keep {writer} as a branch of the reader's union",
                f"keep to what {reader} takes, or {otherwise} for {writer}",
            )
        case Mismatch.NAMES:
            return _Words(
                "AVRO-R004",
                f"the reader's {reader} is not the writer's {writer}: the names differ",
                "keep the name, or give the reader's type an alias",
                "keep the name: a reader that exists already has no alias for a new one",
            )
        case Mismatch.SIZES:
            hint = f"keep the size, or {otherwise} for the new size"
            sizes = _sizes(error.writer, error.reader)
            return _Words("AVRO-R005", f"the sizes of {writer} differ: {sizes}", hint, hint)
        case Mismatch.TYPES | Mismatch.NO_DEFAULT:
            return _Words(
                "AVRO-R001",
                f"a reader of {reader} cannot read {writer}",
                f"keep {writer}, or {otherwise} for {reader}",
                f"keep {reader}, or {otherwise} for {writer}",
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
