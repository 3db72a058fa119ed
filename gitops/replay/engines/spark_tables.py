"""Data that Spark itself reads: tables, and files under addresses that pyarrow does not know.

Spark looks at the size of a batch for every row that it adds, which takes a quarter of its time.
So small rows are read first, in batches that so many small rows cannot make large; the large ones
are only counted, and read by a second pass, with Spark's own bound, where there are any.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from gitops.model.sample_formats import SAMPLE_FORMATS, SparkFormat
from gitops.replay.batches import MOST_BYTES
from gitops.replay.engines.spark_session import SparkConnection, override_settings
from gitops.replay.engines.spark_tasks import ANSWER, LATER, file_task, merge_task, row_task
from gitops.replay.job import Job
from gitops.replay.sources.part_plan import SampleData
from gitops.replay.sources.source import File, Part
from gitops.replay.sources.tables import PAYLOAD, check_payload, columns_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameReader, SparkSession

_SMALL_ROWS: Final = 4_096
_LARGE: Final = MOST_BYTES // _SMALL_ROWS
"""Bytes of a row that is read later."""

_UNBOUND: Final = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(_SMALL_ROWS),
    "spark.sql.execution.arrow.maxBytesPerBatch": str(2**31 - 1),
}
_WHOLE_FILES: Final = {
    "spark.sql.files.maxPartitionBytes": str(2**45),
    "spark.sql.files.openCostInBytes": str(2**40),
}
"""Up to 1 TiB is one piece, and 32 files are one task at most: Spark cuts and packs by the smaller
of the one, and the larger of the other and what is fair to the cores (Spark 4.3)."""

_LINE: Final = (
    "if(substring(cast(value as binary), -1, 1) = x'0D', "
    "substring(cast(value as binary), 1, octet_length(value) - 1), cast(value as binary))"
)
"""Without the `\\r` that may stand before its end."""

_FILE: Final = {"file": "_metadata.file_path"}
_ROW: Final = {"row": "_metadata.row_index + 1"}
_UNNUMBERED: Final = "0L"


def answer_frame(
    connection: SparkConnection,
    job: Job,
    data: SampleData,
    *,
    large: bool = False,
    uncut: bool = True,
) -> DataFrame:
    """The answers of a sample, not yet asked for; raises UnreadableError, or what Spark raises.

    Without its rows that are `large`, or those alone; files that are read as a whole have none.
    `uncut` is what `asking` answers: whether a task gets all of a file in order.
    """
    whole = Part(
        owners=data.owners,
        format=data.sample.format,
        file=File(name=data.sample.path, uri=data.sample.path, size=0),
        columns=dict(data.sample.columns),
    )
    if SAMPLE_FORMATS[data.sample.format].spark is None:
        answers = _files(connection, job, whole)
    else:
        answers = _rows(connection, job, whole, large=large, uncut=uncut)
    # Spark makes as many merging tasks as the answers have bytes for, and few of a few answers.
    return answers.hint("rebalance").mapInArrow(connection.portable(merge_task(job.limits)), ANSWER)


@contextmanager
def query_settings(
    session: SparkSession, data: SampleData, *, large: bool = False
) -> Iterator[bool]:
    """The settings of Spark under which an answer is asked for; whether it has accepted them.

    Where rows are small, Spark need not look how large a batch of a few of them becomes.
    """
    spark = SAMPLE_FORMATS[data.sample.format].spark
    settings = {} if large or spark is None else _UNBOUND
    if spark and _can_be_uncut(spark):
        settings = settings | _WHOLE_FILES
    with override_settings(session, settings) as accepted:
        yield accepted


def _files(connection: SparkConnection, job: Job, whole: Part) -> DataFrame:
    """Each file as a whole: nothing smaller can be cut without knowing what is in it."""
    reader = _reader(connection.session).format("binaryFile")
    data_frame = reader.load(whole.file.uri).select("path", "content")
    return data_frame.mapInArrow(connection.portable(file_task(job, whole)), ANSWER)


def _rows(
    connection: SparkConnection, job: Job, whole: Part, *, large: bool, uncut: bool
) -> DataFrame:
    spark = SAMPLE_FORMATS[whole.format].spark or SparkFormat()
    in_order = uncut and _can_be_uncut(spark)
    frame, columns = _source_frame(connection.session, whole, spark)
    columns = {"row": _UNNUMBERED if in_order else _hash(columns[PAYLOAD])} | columns
    frame = frame.selectExpr(*_pass_columns(columns, _large_columns(frame, columns), large=large))
    names = {name: name for name in columns}
    work = row_task(job, whole.owners, names, whole.file.name, in_order=in_order)
    return frame.mapInArrow(connection.portable(work), ANSWER)


def _can_be_uncut(spark: SparkFormat) -> bool:
    """Whether a worker can number the rows, if it gets all of a file in order: Spark does not."""
    return bool(spark.name) and not spark.is_numbered


def _source_frame(
    session: SparkSession, whole: Part, spark: SparkFormat
) -> tuple[DataFrame, dict[str, str]]:
    """What Spark reads, and of which of its columns ours are made, by our names."""
    uri = whole.file.uri
    if not spark.name:
        frame = session.table(uri)
        return frame, _known_columns(frame, whole)
    if spark.is_lines:
        return _reader(session).text(uri, lineSep="\n"), {PAYLOAD: _LINE} | _FILE
    frame = _reader(session).format(spark.name).load(uri)
    return frame, _known_columns(frame, whole) | _FILE | (_ROW if spark.is_numbered else {})


def _reader(session: SparkSession) -> DataFrameReader:
    """Of a folder all files, also those in folders within it."""
    return session.read.option("recursiveFileLookup", "true")


def _known_columns(frame: DataFrame, whole: Part) -> dict[str, str]:
    """The columns that we know, by our names."""
    names = columns_of(whole, frame.columns)
    check_payload(frame.schema[names[PAYLOAD]].dataType.simpleString(), whole, names[PAYLOAD])
    return {name: _quoted(value) for name, value in names.items() if name not in ("row", "file")}


def _hash(payload: str) -> str:
    """What tells rows apart that have no number: it does not depend on how the data is cut."""
    return f"xxhash64({payload}) & 9223372036854775807"


def _pass_columns(
    columns: Mapping[str, str], sized: Collection[str], *, large: bool
) -> Iterator[str]:
    """Of the rows of the other pass no more than that they are there: a worker counts them."""
    size = " + ".join(f"coalesce(octet_length({columns[name]}), 0)" for name in sized)
    is_later = f"{size} {'<=' if large else '>'} {_LARGE}"
    instead = dict.fromkeys(sized, "null") | {"row": f"{LATER}L"}
    for name, column in columns.items():
        whole = f"if({is_later}, {instead[name]}, {column})" if name in instead else column
        yield f"{whole} as {name}"


def _large_columns(frame: DataFrame, columns: Mapping[str, str]) -> list[str]:
    """Our columns of bytes or text; a payload is nothing else."""
    kinds = {_quoted(name): kind for name, kind in frame.dtypes}
    return [
        name
        for name, column in columns.items()
        if name == PAYLOAD or kinds.get(column) in ("binary", "string")
    ]


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"
