"""Captures whose parts are Avro container files: a record a message, its payload one of its fields.

The file is read by its own framing, so that a block is bounded before it is unpacked; fastavro
reads the records, of the fields that a replay needs alone.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain
from typing import Any

import pyarrow

from gitops.messaging.capture_avro import DEFINITION, NOT_AVRO
from gitops.messaging.capture_schema import SCHEMA
from gitops.model.errors import extra_hint
from gitops.replay.batches import MOST_BYTES, MOST_ROWS
from gitops.replay.sources.avro_blocks import Block, Header, read_blocks, read_header
from gitops.replay.sources.files import open_stream
from gitops.replay.sources.source import Part, UnreadableError, Versions, is_same_avro
from gitops.replay.sources.source_errors import AGAIN
from gitops.replay.sources.tables import columns_of, to_batch


class AvroCaptureSource:
    """Containers that `capture --format avro` wrote."""

    def parts(self, whole: Part) -> Iterator[Part]:
        """The file as a whole, whose messages nobody has counted."""
        yield whole

    def batches(self, part: Part, versions: Versions) -> Iterator[pyarrow.RecordBatch]:
        """The messages; of a file that is broken, those before the break come first."""
        names = columns_of(part, SCHEMA.names, keys=versions.need_keys(part.owners))
        columns = pyarrow.schema([SCHEMA.field(name) for name in names])
        at = 1
        for rows in _some(_records(part, frozenset(names))):
            table = pyarrow.RecordBatch.from_pylist(rows, columns)
            yield to_batch(table, names, part.file.name, at)
            at += len(rows)


def _records(part: Part, names: frozenset[str]) -> Iterator[dict[str, Any] | UnreadableError]:
    """The messages, and last what keeps the others from being read."""
    try:
        with open_stream(part.file) as stream:
            header = read_header(stream, part)
            _check(header, part)
            blocks = read_blocks(stream, header, part.file.name)
            yield from chain.from_iterable(_of_block(block, names) for block in blocks)
    except NOT_AVRO:
        yield UnreadableError(f"{part.file.name} has a block that is no Avro", AGAIN)
    except UnreadableError as error:
        yield error


def _check(header: Header, part: Part) -> None:
    """Raises UnreadableError for a container of other records."""
    if not is_same_avro(header.schema, json.dumps(DEFINITION)):
        raise UnreadableError(
            f"{part.file.name} is an Avro container, and no part of a capture",
            "for other Avro containers write in the manifest: format: avro",
        )


def _of_block(block: Block, names: frozenset[str]) -> Iterator[dict[str, Any]]:
    """Its messages; raises UnreadableError, and what fastavro raises for bytes that are none."""
    try:
        from fastavro import schemaless_reader
    except ImportError:
        raise UnreadableError("fastavro is not installed", extra_hint("pulsar")) from None

    written, wanted = _schemas(names)
    data = io.BytesIO(block.data)
    for _ in range(block.count):
        result = schemaless_reader(data, written, wanted)
        assert isinstance(result, dict)  # noqa: S101 - for mypy: the definition is a record's
        yield result


@cache
def _schemas(names: frozenset[str]) -> tuple[Any, Any]:
    """The writer's schema, and a reader's of these fields, as fastavro has them."""
    from fastavro import parse_schema

    fields = [field for field in DEFINITION["fields"] if field["name"] in names]
    return parse_schema(DEFINITION), parse_schema({**DEFINITION, "fields": fields})


def _some(records: Iterable[dict[str, Any] | UnreadableError]) -> Iterator[list[dict[str, Any]]]:
    """Many at a time, as long as they are small; raises the error that is among them."""
    texts: list[dict[str, Any]] = []
    size = 0
    for record in records:
        if isinstance(record, UnreadableError):
            if texts:
                yield texts
            raise record
        texts.append(record)
        size += len(record["payload"] or b"")
        if size > MOST_BYTES or len(texts) >= MOST_ROWS:
            yield texts
            texts, size = [], 0
    if texts:
        yield texts
