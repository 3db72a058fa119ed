"""Which source reads which sample format."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pyarrow

from gitops.model.replay import SampleFormat
from gitops.replay.batches import batch
from gitops.replay.sources.files import open_stream
from gitops.replay.sources.part import MOST_PAYLOAD, Part, Source, UnreadableError, Versions


class RawSource:
    """The bytes of a file are the payload, all of them."""

    def parts(self, whole: Part) -> Iterator[Part]:
        """The file, which is one message."""
        yield replace(whole, rows=1)

    def batches(self, part: Part, versions: Versions) -> Iterator[pyarrow.RecordBatch]:
        """A batch of one message, which the file's name tells."""
        del versions  # the manifest tells the version
        with open_stream(part.file) as stream:
            payload = stream.read(MOST_PAYLOAD + 1)
        if len(payload) > MOST_PAYLOAD:
            raise UnreadableError(f"{part.file.name} is larger than {MOST_PAYLOAD >> 20} MiB")
        yield batch(pyarrow.array([payload], pyarrow.binary()), part.file.name)


# Which source reads which format.


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
            return RawSource()
        case "orc":
            from gitops.replay.sources.tables import OrcSource

            return OrcSource()
        case "parquet" | "capture":
            from gitops.replay.sources.parquet import ParquetSource

            return ParquetSource()
        case _:
            raise UnreadableError(f"no file holds a {sample_format}")
