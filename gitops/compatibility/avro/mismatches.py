"""Words for what stands between a reader and a writer."""

from __future__ import annotations

from dataclasses import dataclass

from gitops.compatibility.avro.actions import Error, Mismatch
from gitops.compatibility.avro.schema import Field, Fixed, Schema, describe


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """One reason, before anybody knows which version is reader and which is writer.

    `path` is dotted field names with `[]` for items and `{}` for values; pointers are RFC 6901.
    """

    rule: str
    message: str
    path: str
    writer_pointer: str
    reader_pointer: str
    hint: str = ""


def explain(error: Error, path: str, writer_pointer: str, reader_pointer: str) -> Reason:
    """The reason that an error of the resolution stands for."""
    rule, message, hint = _words(error)
    missing = error.missing
    return Reason(
        rule=rule,
        message=message,
        path=_join(path, missing.name) if missing else path,
        writer_pointer=writer_pointer,
        reader_pointer=f"{missing.pointer}/name" if missing else reader_pointer,
        hint=hint,
    )


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _words(error: Error) -> tuple[str, str, str]:
    writer, reader = describe(error.writer), describe(error.reader)
    match error.mismatch:
        case Mismatch.TYPES:
            return "AVRO-R001", f"a reader of {reader} cannot read {writer}", _widen(error)
        case Mismatch.NO_DEFAULT:
            return _no_default(error.missing, writer)
        case Mismatch.NO_BRANCH:
            message = f"no branch of the reader's union {reader} takes {writer}"
            return "AVRO-R003", message, f"keep {writer} as a branch of the reader's union"
        case Mismatch.NAMES:
            message = f"the reader's {reader} is not the writer's {writer}: the names differ"
            return "AVRO-R004", message, "keep the name, or give the reader's type an alias"
        case Mismatch.SIZES:
            message = f"the sizes of {writer} differ: {_sizes(error.writer, error.reader)}"
            return "AVRO-R005", message, "keep the size, or add a new field of the new size"


def _no_default(missing: Field | None, writer: str) -> tuple[str, str, str]:
    name = missing.name if missing else ""
    kind = describe(missing.type) if missing else ""
    message = f"reader field '{name}' ({kind}) has no default, and {writer} does not carry it"
    return "AVRO-R002", message, f"give '{name}' a default, or make it [\"null\", …] = null"


def _sizes(writer: Schema, reader: Schema) -> str:
    sizes = [str(s.size) for s in (writer, reader) if isinstance(s, Fixed)]
    return " and ".join(sizes)


def _widen(error: Error) -> str:
    return f"keep {describe(error.writer)}, or add a new field for {describe(error.reader)}"
