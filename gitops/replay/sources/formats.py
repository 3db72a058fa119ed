"""Which source reads which format."""

from __future__ import annotations

from gitops.model.samples import SampleFormat
from gitops.replay.sources.part import Source, UnreadableError


def source_for(sample_format: SampleFormat) -> Source:
    """Their libraries load where they are used; raises UnreadableError for what is in no file."""
    match sample_format:
        case "avro":
            from gitops.replay.sources.avro import AvroSource

            return AvroSource()
        case "json":
            from gitops.replay.sources.json_lines import JsonLinesSource

            return JsonLinesSource()
        case "raw":
            from gitops.replay.sources.raw import RawSource

            return RawSource()
        case "orc":
            from gitops.replay.sources.orc import OrcSource

            return OrcSource()
        case "parquet" | "capture":
            from gitops.replay.sources.parquet import ParquetSource

            return ParquetSource()
        case _:
            raise UnreadableError(f"no file holds a {sample_format}")
