"""ORC files: one message a row, one part a file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pyarrow
import pyarrow.orc

from gitops.replay.batches import MOST_ROWS
from gitops.replay.sources.columns import PAYLOAD, check_payload, columns_of, kind_of, to_batch
from gitops.replay.sources.opening import open_seekable
from gitops.replay.sources.part import Part, UnreadableError, Versions
from gitops.replay.sources.telling import AGAIN, not_opened, said


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
            raise UnreadableError(f"{part.file.name} is broken: {said(error)}", AGAIN) from error


def _opened(part: Part) -> Any:  # noqa: ANN401 - pyarrow has no types
    source = open_seekable(part.file)
    try:
        return pyarrow.orc.ORCFile(source)
    except (pyarrow.ArrowException, OSError) as error:
        raise not_opened(part) from error
