"""A replay with a kernel that a test can follow: payloads are `name=value` pairs of text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy
import pyarrow
import pyarrow.parquet

from gitops.model.findings import Location
from gitops.model.names import TopicName
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.model.replay import Direction, LogicalTypes, ReaderSchema, Sample, TopicReplay
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.replay.counts import Key
from gitops.replay.engines.local import LocalRunner
from gitops.replay.job import RunRequest, RunResult
from gitops.replay.kernel.protocol import CountKey, CountKind, Kernels, Reason, Unreadable, Walk

MANIFEST = "namespaces/shop/orders/created.yaml"


class Pairs:
    """Kernel, row reader and row writer for definitions such as `a b`: the names that it takes.

    A payload is `a=1;b=2`. A name that the reader lacks is dropped, one that the writer lacks is
    an error, and a value that is no number cannot be read.
    """

    def __init__(self, writer: SchemaInfo, reader: SchemaInfo) -> None:
        if "?" in writer.schema + reader.schema:
            raise ValueError("a definition with a question mark")
        self._taken = reader.schema.split()

    def walk(self, payloads: pyarrow.BinaryArray) -> Walk:
        verdicts, reasons, counts = [], list[Reason](), Counter[CountKey]()
        for payload in payloads:
            try:
                counts.update(CountKey(name, CountKind.READ) for name in self.read(payload.as_py()))
            except Unreadable as error:
                if error.reason not in reasons:
                    reasons.append(error.reason)
                verdicts.append(reasons.index(error.reason) + 1)
            else:
                verdicts.append(0)
        return Walk(
            verdicts=numpy.array(verdicts, numpy.int32), reasons=tuple(reasons), counts=counts
        )

    def read(self, payload: bytes) -> dict[str, int]:
        pairs = dict(pair.split("=", 1) for pair in payload.decode().split(";") if "=" in pair)
        found = {}
        for name in self._taken:
            if name not in pairs:
                raise Unreadable(Reason(name, "is missing"), f"{name} is missing in {payload!r}")
            if not pairs[name].isdecimal():
                raise Unreadable(Reason(name, "is no number"), f"{name} is {pairs[name]}")
            found[name] = int(pairs[name])
        return found


class PairsWriter:
    def __init__(self, schema: SchemaInfo) -> None:
        self._most = 50 if "50" in schema.properties.values() else None

    def write(self, value: Mapping[str, int]) -> bytes:
        most = self._most
        values = {name: min(n, most) if most else n for name, n in value.items()}
        return ";".join(f"{name}={n}" for name, n in values.items()).encode()


def pairs(writer: SchemaInfo, reader: SchemaInfo, _logical_types: LogicalTypes) -> Pairs:
    return Pairs(writer, reader)


PROPOSED = Key(topic="shop/orders/created", version=0, reader="proposed")
"""The counts of the proposed reader of what version 0 wrote."""
PAIRS = Kernels(kernel=pairs, row_reader=pairs, row_writer=PairsWriter)


def schema(names: str, **properties: str) -> SchemaInfo:
    return SchemaInfo(type=SchemaType.JSON, schema=names, properties=properties)


def sample(path: str, **other: Any) -> Sample:  # noqa: ANN401 - any of its fields
    given = {"format": "parquet", "path": path, "location": Location(file=MANIFEST), **other}
    return Sample(**given)


def topic_replay(
    *samples: Sample,
    topic: str = "shop/orders/created",
    versions: Mapping[int, SchemaInfo] | None = None,
    proposed: SchemaInfo | None = None,
    forward: Mapping[str, SchemaInfo] | None = None,
    forward_rows: int = 10_000,
) -> TopicReplay:
    proposed = proposed or schema("a")
    readers = [
        ReaderSchema(name="proposed", direction=Direction.BACKWARD, schema=proposed, gates=True)
    ]
    for name, info in (forward or {}).items():
        readers.append(
            ReaderSchema(name=name, direction=Direction.FORWARD, schema=info, gates=True)
        )
    return TopicReplay(
        topic=TopicName.parse(topic),
        versions={0: schema("a b")} if versions is None else versions,
        proposed=proposed,
        readers=tuple(readers),
        samples=samples,
        strategy=SchemaCompatibilityStrategy.FULL,
        forward_rows=forward_rows,
    )


def write_parquet(path: Path, row_group_size: int = 1000, **columns: Sequence[object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    payload = [each.encode() if isinstance(each, str) else each for each in columns["payload"]]
    table = pyarrow.table({**columns, "payload": pyarrow.array(payload, pyarrow.binary())})
    pyarrow.parquet.write_table(table, path, row_group_size=row_group_size)


def run(
    root: Path, *replays: TopicReplay, examples: int = 5, show_values: bool = False
) -> RunResult:
    running = RunRequest(replays=replays, root=root, examples=examples, show_values=show_values)
    return LocalRunner(PAIRS).run(running)
