"""Words for what stands between a reader and a writer."""

from __future__ import annotations

from dataclasses import dataclass

from gitops.compatibility.avro.actions import Error, Mismatch
from gitops.compatibility.avro.schema import Field, Fixed, Schema, describe


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
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
    error: Error, path: str, writer_pointer: str, reader_pointer: str
) -> tuple[Reason, ...]:
    """The reasons that an error of the resolution stands for: one for each missing field."""
    if error.missing:
        return tuple(_missing(error, field, path, writer_pointer) for field in error.missing)
    words = _words(error)
    return (_reason(words, path, writer_pointer, reader_pointer),)


def _missing(error: Error, field: Field, path: str, writer_pointer: str) -> Reason:
    words = _no_default(field, describe(error.writer))
    return _reason(words, _join(path, field.name), writer_pointer, f"{field.pointer}/name")


def _reason(words: _Words, path: str, writer_pointer: str, reader_pointer: str) -> Reason:
    return Reason(
        rule=words.rule,
        message=words.message,
        path=path,
        writer_pointer=writer_pointer,
        reader_pointer=reader_pointer,
        hint=words.hint,
        writer_hint=words.writer_hint,
    )


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


@dataclass(frozen=True, slots=True)
class _Words:
    rule: str
    message: str
    hint: str
    writer_hint: str


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
