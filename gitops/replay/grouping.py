"""Cuts a batch into the messages of one topic and one version, for which one kernel is right."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy
import pyarrow
from numpy.typing import NDArray

_SMALL: Final = numpy.iinfo(numpy.uint16)


class Group(NamedTuple):
    """Rows of a batch that share topic and version; `rows` are their numbers, None: all rows."""

    topic: str | None
    version: int | None
    rows: pyarrow.Array | None


def groups(batch: pyarrow.RecordBatch) -> Iterator[Group]:
    """Every row is in exactly one of them, in the order that it had."""
    topics, topic_codes = _coded(batch.column("topic"))
    versions, version_codes = _coded(batch.column("version"))
    if len(topics) == len(versions) == 1:
        if batch.num_rows:
            yield Group(topics[0], versions[0], None)
        return
    codes = topic_codes * len(versions) + version_codes
    if len(topics) * len(versions) <= _SMALL.max:
        codes = codes.astype(_SMALL.dtype)  # NumPy sorts small numbers by counting them
    order = numpy.argsort(codes, kind="stable")
    ordered = codes[order]
    starts = numpy.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    for rows in numpy.split(order, starts):
        topic, version = divmod(int(codes[rows[0]]), len(versions))
        yield Group(topics[topic], versions[version], pyarrow.array(rows))


def _coded(column: Any) -> tuple[list[Any], NDArray[numpy.int64]]:  # noqa: ANN401 - pyarrow's
    """The distinct values, and for each row the number of its own."""
    if column.null_count == len(column):
        return [None], numpy.zeros(len(column), numpy.int64)
    coded = column.dictionary_encode()
    values = coded.dictionary.to_pylist()
    codes = coded.indices.fill_null(len(values)).to_numpy(zero_copy_only=False)
    if column.null_count:
        values.append(None)
    return values, codes.astype(numpy.int64)
