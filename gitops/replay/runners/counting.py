"""Numbers the rows of files that Spark hands over in their order, without their numbers."""

from __future__ import annotations

import numpy
import pyarrow


class RowsInOrder:
    """Of whole files, one after the other: give it batch after batch, with `file` and `row`."""

    def __init__(self) -> None:
        self._file: str | None = None
        self._rows = 0

    def numbered(self, batch: pyarrow.RecordBatch) -> pyarrow.RecordBatch:
        """The batch with a column `row` that counts from 1 in each file."""
        if not batch.num_rows:
            return batch
        file = batch.column("file")
        indices = file.dictionary_encode().indices.to_numpy()
        starts = numpy.concatenate(([0], numpy.flatnonzero(numpy.diff(indices)) + 1))
        lengths = numpy.diff(starts, append=len(indices))
        rows = numpy.arange(1, len(indices) + 1, dtype=numpy.int64)
        rows -= numpy.repeat(starts, lengths)
        if file[0].as_py() == self._file:
            rows[: lengths[0]] += self._rows
        self._file, self._rows = file[-1].as_py(), int(rows[-1])
        return batch.set_column(batch.schema.get_field_index("row"), "row", pyarrow.array(rows))
