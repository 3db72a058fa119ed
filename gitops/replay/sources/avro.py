"""Avro container files, cut into the payloads that their messages had.

The file is read by its own framing (Avro 1.12, "Object Container Files"): what is in a block is
not decoded, so that a value that a library would mend or refuse reaches the kernel as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pyarrow

from gitops.replay.batches import MOST_BYTES, MOST_ROWS, batch, rows_from
from gitops.replay.sources.avro_blocks import Block, read_blocks, read_header
from gitops.replay.sources.avro_cutting import MOST_MESSAGES, cut, plan_of
from gitops.replay.sources.opening import open_stream
from gitops.replay.sources.part import Part, UnreadableError, Versions
from gitops.replay.sources.telling import AGAIN

_MOST_BLOCKS: Final = 4096


class AvroSource:
    """The version is the one whose schema the container brings along, else the manifest's."""

    def parts(self, whole: Part) -> Iterator[Part]:
        """The file as a whole, whose messages nobody has counted."""
        yield whole

    def batches(self, part: Part, versions: Versions) -> Iterator[pyarrow.RecordBatch]:
        """The messages; of a file that is broken, those before the break come first."""
        name = part.file.name
        with open_stream(part.file) as stream:
            header = read_header(stream, part)
            version = versions.version_of(part.owners[0], header.schema)
            plan = plan_of(header.schema, name)
            at = 1
            for blocks in _some(read_blocks(stream, header, name)):
                for its in cut(blocks, plan):
                    for payload in its.payloads(MOST_ROWS):
                        rows = len(payload)
                        told = None if version is None else pyarrow.repeat(version, rows)
                        yield batch(payload, name, row=rows_from(at, rows), version=told)
                        at += rows
                    if its.problem:
                        what = f"{name} is broken at message {at}: {its.problem}"
                        raise UnreadableError(what, AGAIN)


def _some(blocks: Iterator[Block]) -> Iterator[list[Block]]:
    """Many at a time, as long as they are small; those before a broken one too."""
    found: list[Block] = []
    size = messages = 0
    try:
        for block in blocks:
            found.append(block)
            size += len(block.data)
            messages += block.count
            if size > MOST_BYTES or len(found) >= _MOST_BLOCKS or messages > MOST_MESSAGES:
                yield found
                found, size, messages = [], 0, 0
    except UnreadableError:
        yield found
        raise
    yield found
