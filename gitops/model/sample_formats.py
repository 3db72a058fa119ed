"""The formats of sample data: one row a format. A new one is its source and its row.

Manifests accept the names of this table. Nothing else names a format but the modules that a row
names, which a test looks up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkFormat:
    """How Spark itself reads the data.

    `name` is that of Spark's data source, empty for a table of its catalog. `is_lines`: its rows
    are lines of text. `is_numbered`: Spark numbers the rows of a file.
    """

    name: str = ""
    is_lines: bool = False
    is_numbered: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatRow:
    """What a format is.

    `source` is the class of `gitops` that reads its files, empty where no file has the data.
    `spark` is None where workers get whole files. `what` is how messages name such a file, and
    `content` what is in it, if that is not the same; it begins with one of `begins`, and where it
    `is_binary` bytes follow that no text has. `like` is the format that its files have as well.
    `unpacks` are endings of compressed files that it reads. `may_be_empty`: a file without a byte
    is one. `is_lines`: each line is a message. `has_columns`: columns may have other names.
    `names_topics`: each message can have its topic, so that the same data serves several topics.
    `has_message_ids`: it can have the message's own id. `has_tombstones`: a message without a
    payload is one whose value is null. `has_checksums`: a manifest beside the files has them.
    `names_versions`: the schema in a file is the version's.
    """

    source: str = ""
    spark: SparkFormat | None = None
    what: str = ""
    content: str = ""
    begins: tuple[bytes, ...] = ()
    is_binary: bool = False
    like: str = ""
    unpacks: tuple[str, ...] = ()
    may_be_empty: bool = False
    is_lines: bool = False
    has_columns: bool = False
    names_topics: bool = False
    has_message_ids: bool = False
    has_tombstones: bool = False
    has_checksums: bool = False
    names_versions: bool = False


_PARQUET: Final = "replay.sources.parquet.ParquetSource"

SAMPLE_FORMATS: Final[Mapping[str, FormatRow]] = {
    "avro": FormatRow(
        source="replay.sources.avro.AvroSource",
        what="an Avro container",
        begins=(b"Obj\x01",),
        names_versions=True,
    ),
    "json": FormatRow(
        source="replay.sources.json_lines.JsonLinesSource",
        spark=SparkFormat(name="text", is_lines=True),
        what="JSON lines",
        content="JSON",
        begins=(b"{", b"[{"),
        unpacks=(".gz", ".bz2", ".zst"),
        may_be_empty=True,
        is_lines=True,
    ),
    "parquet": FormatRow(
        source=_PARQUET,
        spark=SparkFormat(name="parquet", is_numbered=True),
        what="a Parquet file",
        begins=(b"PAR1",),
        is_binary=True,
        has_columns=True,
        names_topics=True,
    ),
    "orc": FormatRow(
        source="replay.sources.tables.OrcSource",
        spark=SparkFormat(name="orc"),
        what="an ORC file",
        begins=(b"ORC",),
        is_binary=True,
        has_columns=True,
        names_topics=True,
    ),
    "table": FormatRow(
        spark=SparkFormat(), has_columns=True, names_topics=True, has_message_ids=True
    ),
    "raw": FormatRow(source="replay.sources.raw.RawSource", may_be_empty=True),
    "capture": FormatRow(
        source=_PARQUET,
        spark=SparkFormat(name="parquet", is_numbered=True),
        what="a Parquet file, as captures are",
        begins=(b"PAR1",),
        is_binary=True,
        like="parquet",
        names_topics=True,
        has_message_ids=True,
        has_tombstones=True,
        has_checksums=True,
    ),
    "capture-avro": FormatRow(
        source="replay.sources.avro_captures.AvroCaptureSource",
        what="an Avro container, as captures are",
        begins=(b"Obj\x01",),
        like="avro",
        names_topics=True,
        has_message_ids=True,
        has_tombstones=True,
        has_checksums=True,
    ),
}

if TYPE_CHECKING:
    SampleFormat = str
else:
    # pydantic and the published JSON Schema have the names of the table.
    SampleFormat = Literal[tuple(SAMPLE_FORMATS)]
