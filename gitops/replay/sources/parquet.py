"""Parquet files: one message a row, one part a row group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

import pyarrow
import pyarrow.parquet

from gitops.replay.batches import MOST_BYTES, MOST_ROWS
from gitops.replay.sources.columns import PAYLOAD, check_payload, columns_of, kind_of, to_batch
from gitops.replay.sources.opening import open_seekable
from gitops.replay.sources.part import Part, UnreadableError, Versions

_CODED: Final = (pyarrow.string(), pyarrow.binary())


class ParquetSource:
    """With the columns `topic`, `schema_version` and `payload`, or those that `columns` names."""

    def parts(self, whole: Part) -> Iterator[Part]:
        """The row groups."""
        with _opened(whole) as file:
            first = 1
            for number in range(file.metadata.num_row_groups):
                group = file.metadata.row_group(number)
                yield replace(
                    whole,
                    group=number,
                    first_row=first,
                    rows=group.num_rows,
                    bytes=group.total_byte_size,
                )
                first += group.num_rows

    def batches(self, part: Part, versions: Versions) -> Iterator[pyarrow.RecordBatch]:
        """The messages of a row group."""
        del versions  # a column tells them
        with _opened(part) as file:
            names = columns_of(part, file.schema_arrow.names)
            check_payload(kind_of(file.schema_arrow.field(names[PAYLOAD])), part, names[PAYLOAD])
            coded = _coded(file.schema_arrow, names)
            metadata = file.metadata
        with _opened(part, metadata=metadata, read_dictionary=coded) as file:
            at = part.first_row
            found = file.iter_batches(
                batch_size=_rows(part),
                row_groups=[part.group],
                columns=list(names.values()),
                use_threads=False,
            )
            try:
                for batch in found:
                    yield to_batch(batch, names, part.file.name, at)
                    at += batch.num_rows
            except (pyarrow.ArrowException, OSError) as error:
                raise UnreadableError(f"{part.file.name} is broken: {error}") from error


def _rows(part: Part) -> int:
    """So many that a batch of average messages stays small."""
    average = part.bytes // max(part.rows, 1) + 1
    return max(1, min(MOST_ROWS, MOST_BYTES // average))


def _coded(schema: pyarrow.Schema, names: Mapping[str, str]) -> list[str]:
    """Columns of names that repeat, of types that Arrow can leave as they are in the file."""
    found = [column for name, column in names.items() if name == "topic"]
    return [column for column in found if schema.field(column).type in _CODED]


def _opened(part: Part, **options: Any) -> Any:  # noqa: ANN401 - pyarrow has no types
    source = open_seekable(part.file)
    try:
        return pyarrow.parquet.ParquetFile(source, **options)
    except (pyarrow.ArrowException, OSError) as error:
        raise UnreadableError(f"{part.file.name} is not a Parquet file: {error}") from error
