"""Raw payloads: one a file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pyarrow

from gitops.replay.batches import batch
from gitops.replay.sources.files import open_stream
from gitops.replay.sources.source import MOST_PAYLOAD, Part, UnreadableError, Versions


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
