"""Tables and ORC files as batches of messages, whatever types their columns have."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final
from urllib.parse import unquote

import pyarrow
import pyarrow.compute
import pyarrow.orc

from gitops.model.sample_formats import SAMPLE_FORMATS
from gitops.replay.batches import MOST_ROWS, as_bytes, batch, rows_from, texts
from gitops.replay.sources.files import open_seekable
from gitops.replay.sources.source import Part, UnreadableError, Versions
from gitops.replay.sources.source_errors import AGAIN, first_line, unreadable_file

# Tables as batches of messages: whatever types their columns have.

PAYLOAD: Final = "payload"

_NAMES: Final = ("topic", "schema_version", "key", PAYLOAD, "message_id")
_SHOWN: Final = 10
_A_NAME: Final = "its_name"
_NO_VERSION: Final = -1
_TOO_LARGE: Final = 2**63
_DIGITS: Final = 32
_LONG: Final = 8
"""Bytes of a schema version as messages carry it."""


def columns_of(part: Part, columns: Sequence[str], *, keys: bool = True) -> dict[str, str]:
    """Our names to the file's, of those columns that it has; raises UnreadableError.

    `keys`: whether anybody reads the keys of the messages, which else may be of any type.
    """
    names = {name: part.columns.get(name, name) for name in _NAMES}
    if not SAMPLE_FORMATS[part.format].has_message_ids:
        del names["message_id"]
    for name, column in names.items():
        if columns.count(column) > 1:
            raise UnreadableError(f"{part.file.name} has several columns '{column}'")
        if column not in columns and (name == PAYLOAD or name in part.columns):
            has = ", ".join(columns[:_SHOWN]) + (", …" if len(columns) > _SHOWN else "")
            what = f"{part.file.name} has no column '{column}', only {has}"
            raise UnreadableError(what, _named(name, part))
    if not keys:
        del names["key"]
    return {name: column for name, column in names.items() if column in columns}


def _named(name: str, part: Part) -> str:
    if like := SAMPLE_FORMATS[part.format].like:
        return f"a capture has it; for another Parquet file write format: {like}, and its columns"
    return f"name the column in the manifest: columns: {{{name}: {_A_NAME}}}"


def check_payload(kind: str, part: Part, column: str) -> None:
    """Raises UnreadableError for a column of another type than bytes or text."""
    if not _is_text(kind) and not _is_binary(kind):
        raise UnreadableError(
            f"the column '{column}' of {part.file.name} contains {kind}, not bytes"
        )


def _is_text(kind: str) -> bool:
    return kind.removeprefix("large_").removesuffix("_view") == "string"


def _is_binary(kind: str) -> bool:
    plain = kind.removeprefix("large_").removesuffix("_view")
    return plain == "binary" or plain.startswith("fixed_size_binary")


def kind_of(column: Any) -> str:  # noqa: ANN401 - a pyarrow.Field or pyarrow.Array
    """The type of a column's values, as Arrow calls it."""
    kind = column.type
    if isinstance(kind, pyarrow.BaseExtensionType):
        kind = kind.storage_type
    return str(kind.value_type if pyarrow.types.is_dictionary(kind) else kind)


def to_batch(
    table: pyarrow.RecordBatch, names: Mapping[str, str], file: str, first: int
) -> pyarrow.RecordBatch:
    """The rows of a table, the first of which is row `first` of `file`.

    Columns `file` and `row` tell it better, if there are any. Raises UnreadableError for a column
    of a type that makes no sense in its place.
    """

    def of(name: str, taken: Callable[[Any], Any], wanted: str) -> Any:  # noqa: ANN401 - pyarrow's
        if name not in names:
            return None
        column = table.column(names[name])
        try:
            return taken(column)
        except pyarrow.ArrowNotImplementedError:
            kind = kind_of(column)
            text = f"the column '{names[name]}' of {file} contains {kind}, not {wanted}"
            raise UnreadableError(text) from None

    rows = table.column(names["row"]) if "row" in names else rows_from(first, table.num_rows)
    place = of("file", _files, "text") if "file" in names else file
    if "message_id" in names:
        place, rows = _identified(of("message_id", texts, "text"), place, rows)
    return batch(
        of(PAYLOAD, as_bytes, "bytes"),
        place,
        row=rows,
        topic=of("topic", texts, "text"),
        version=of("schema_version", _versions, "a number"),
        key=of("key", as_bytes, "bytes"),
    )


def _files(column: Any) -> pyarrow.DictionaryArray:  # noqa: ANN401 - pyarrow has no types
    """Spark tells a file by an address in which `%20` is a space."""
    names = texts(column)
    text = [None if value is None else unquote(value) for value in names.dictionary.to_pylist()]
    return pyarrow.DictionaryArray.from_arrays(names.indices, pyarrow.array(text, pyarrow.string()))


def _identified(ids: Any, file: Any, rows: Any) -> tuple[Any, Any]:  # noqa: ANN401
    """Messages without an id, or an empty one, are told by their rows."""
    ids = ids.dictionary_decode()
    ids = pyarrow.compute.if_else(pyarrow.compute.equal(ids, ""), None, ids)
    nothing = pyarrow.scalar(None, pyarrow.int64())
    numbered = pyarrow.compute.if_else(ids.is_null(), rows, nothing)
    names = file if isinstance(file, str) else file.dictionary_decode()
    return texts(pyarrow.compute.coalesce(ids, names)), numbered


def _versions(column: Any) -> Any:  # noqa: ANN401
    """Whole numbers, texts of digits, or eight bytes as a message carries them.

    Null where nothing is said, and no version of any topic where it is something else.
    """
    kind = kind_of(column)
    if pyarrow.types.is_dictionary(column.type):
        values = _versions(column.dictionary)
        return pyarrow.DictionaryArray.from_arrays(column.indices, values).dictionary_decode()
    if pyarrow.types.is_integer(column.type):
        return column.cast(pyarrow.int64(), safe=False)
    if _is_text(kind):
        return _numbers(as_bytes(column), _version_of_text)
    if _is_binary(kind):
        return _numbers(as_bytes(column), _version_of_bytes)
    is_number = pyarrow.types.is_floating(column.type) or pyarrow.types.is_decimal(column.type)
    if is_number or pyarrow.types.is_null(column.type):
        return _numbers(column, _version_of_number)
    nothing = pyarrow.scalar(None, pyarrow.int64())
    return pyarrow.compute.if_else(column.is_null(), nothing, _NO_VERSION)


def _numbers(column: Any, number: Callable[[Any], int | None]) -> Any:  # noqa: ANN401
    return pyarrow.array([_version(value, number) for value in column.to_pylist()], pyarrow.int64())


def _version(value: object, number: Callable[[Any], int | None]) -> int | None:
    if value is None or value == b"":
        return None
    count = number(value)
    return _NO_VERSION if count is None or count >= _TOO_LARGE else count


def _version_of_bytes(value: bytes) -> int | None:
    return (
        int.from_bytes(value, "big", signed=True)
        if len(value) == _LONG
        else _version_of_text(value)
    )


def _version_of_text(value: bytes) -> int | None:
    text = value.decode("utf-8", "replace")
    return int(text) if text.isdecimal() and len(text) <= _DIGITS else None


def _version_of_number(value: float | Decimal) -> int | None:
    number = int(value) if 0 <= value < _TOO_LARGE else -1
    return number if number == value else None


# ORC files: one message a row, one part a file.


class OrcSource:
    """With the columns `topic`, `schema_version` and `payload`, or those that `columns` names."""

    def parts(self, whole: Part) -> Iterator[Part]:
        """The file: pyarrow does not tell how many rows come before a stripe."""
        yield replace(whole, rows=_opened(whole).nrows)

    def batches(self, part: Part, versions: Versions) -> Iterator[pyarrow.RecordBatch]:
        """The messages, stripe by stripe."""
        file = _opened(part)
        names = columns_of(part, file.schema.names, keys=versions.need_keys(part.owners))
        check_payload(kind_of(file.schema.field(names[PAYLOAD])), part, names[PAYLOAD])
        at = part.first_row
        try:
            for stripe in range(file.nstripes):
                rows = file.read_stripe(stripe, columns=list(names.values()))
                for start in range(0, rows.num_rows, MOST_ROWS):
                    piece = rows.slice(start, MOST_ROWS)
                    yield to_batch(piece, names, part.file.name, at)
                    at += piece.num_rows
        except (pyarrow.ArrowException, OSError) as error:
            raise UnreadableError(
                f"{part.file.name} is broken: {first_line(error)}", AGAIN
            ) from error


def _opened(part: Part) -> Any:  # noqa: ANN401 - pyarrow has no types
    source = open_seekable(part.file)
    try:
        return pyarrow.orc.ORCFile(source)
    except (pyarrow.ArrowException, OSError) as error:
        raise unreadable_file(part) from error
