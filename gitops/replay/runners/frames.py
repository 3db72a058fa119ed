"""Data that Spark itself reads: tables, and files under addresses that pyarrow does not know."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from gitops.replay.job import Job
from gitops.replay.runners.work import ANSWER, merging, reading_files, reading_rows
from gitops.replay.sources.columns import PAYLOAD, check_payload, columns_of
from gitops.replay.sources.part import File, Part
from gitops.replay.sources.planning import Wanted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_MOST_MERGING: Final = 32
_FILE: Final = "_metadata.file_path as file"
_ROW: Final = "_metadata.row_index + 1 as row"
_OF_PAYLOAD: Final = "xxhash64(payload) & 9223372036854775807 as row"
"""What tells rows apart that have no number: it does not depend on how the data is cut."""


def answer_frame(session: SparkSession, job: Job, wanted: Wanted, cores: int) -> DataFrame:
    """The answers of a sample, not yet asked for; raises UnreadableError, or what Spark raises."""
    whole = Part(
        owners=wanted.owners,
        format=wanted.sample.format,
        file=File(name=wanted.sample.path, uri=wanted.sample.path, size=0),
        columns=dict(wanted.sample.columns),
    )
    if wanted.sample.format in ("avro", "raw"):
        answers = _files(session, job, whole)
    else:
        answers = _rows(session, job, whole)
    few = min(cores, _MOST_MERGING)
    return answers.repartition(few).mapInArrow(merging(job.limits), ANSWER)


def _files(session: SparkSession, job: Job, whole: Part) -> DataFrame:
    """Each file as a whole: nothing smaller can be cut without knowing what is in it."""
    found = session.read.format("binaryFile").load(whole.file.uri).select("path", "content")
    return found.mapInArrow(reading_files(job, whole), ANSWER)


def _rows(session: SparkSession, job: Job, whole: Part) -> DataFrame:
    uri = whole.file.uri
    match whole.format:
        case "json":
            lines = session.read.text(uri, lineSep="\n")
            frame = lines.selectExpr("cast(value as binary) as payload", _FILE)
            return _numbered(frame, job, whole, (_OF_PAYLOAD, "file"))
        case "table":
            return _numbered(_named(session.table(uri), whole), job, whole, (_OF_PAYLOAD,))
        case "orc":
            frame = _named(session.read.orc(uri), whole, _FILE)
            return _numbered(frame, job, whole, (_OF_PAYLOAD, "file"))
        case _:
            frame = _named(session.read.parquet(uri), whole, _FILE, _ROW)
            return _numbered(frame, job, whole, ("row", "file"))


def _named(frame: DataFrame, whole: Part, *more: str) -> DataFrame:
    """The columns that we know, under our names."""
    names = columns_of(whole, frame.columns)
    check_payload(frame.schema[names[PAYLOAD]].dataType.simpleString(), whole, names[PAYLOAD])
    return frame.selectExpr(*(f"{_quoted(its)} as {name}" for name, its in names.items()), *more)


def _numbered(frame: DataFrame, job: Job, whole: Part, more: Iterable[str]) -> DataFrame:
    ours = [name for name in frame.columns if name not in ("row", "file")]
    frame = frame.selectExpr(*ours, *more)
    names = {name: name for name in frame.columns}
    return frame.mapInArrow(reading_rows(job, whole.owners, names, whole.file.name), ANSWER)


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"
