"""The replay that the benchmarks measure: topics, their samples, and who is measured against."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from benchmarks.replay_data import TOPIC, WRITER, reader
from gitops.model.findings import Location
from gitops.model.names import TopicName
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.model.replay import Direction, ReaderSchema, Sample, TopicReplay
from gitops.model.schema import SchemaInfo, SchemaType

READER: Final = reader()

_INTERVAL: Final = 0.25
_COLUMNS: Final = {"schema_version": "version"}


def topics(path: str, number: int, kind: SchemaType = SchemaType.AVRO) -> tuple[TopicReplay, ...]:
    """So many topics whose samples are one table, or Parquet files, read by READER."""
    old, new = (SchemaInfo(type=kind, schema=json.dumps(one)) for one in (WRITER, READER))
    sample = Sample(
        format="parquet" if "://" in path else "table",
        path=path,
        location=Location(file="namespaces/perf/shop/orders.yaml"),
        columns=_COLUMNS,
    )
    proposed = ReaderSchema(name="proposed", direction=Direction.BACKWARD, schema=new, gates=True)
    return tuple(
        TopicReplay(
            topic=TopicName.parse(f"{TOPIC}-{each}"),
            versions={1: old},
            proposed=new,
            readers=(proposed,),
            samples=(sample,),
            strategy=SchemaCompatibilityStrategy.BACKWARD,
        )
        for each in range(number)
    )


@contextmanager
def memory() -> Iterator[dict[str, int]]:
    """The most MiB that this process, its JVM and all its Python workers held, by kind."""
    most: dict[str, int] = {}
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(_INTERVAL):
            now = _held()
            for kind, size in now.items():
                most[kind] = max(most.get(kind, 0), size)

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield most
    finally:
        ended.set()
        watching.join()


def _held() -> dict[str, int]:
    found: dict[str, int] = {}
    for pid in _below(os.getpid()):
        try:
            words = Path(f"/proc/{pid}/statm").read_text().split()
            name = Path(f"/proc/{pid}/comm").read_text().strip()
        except OSError:
            continue
        kind = "driver" if pid == os.getpid() else "jvm" if name == "java" else "workers"
        found[kind] = found.get(kind, 0) + int(words[1]) * os.sysconf("SC_PAGE_SIZE") // 2**20
    return found


def _below(top: int) -> list[int]:
    parents: dict[int, int] = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(place.parent.name)] = int(place.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found = [top]
    for pid in found:
        found.extend(child for child, parent in parents.items() if parent == pid)
    return found
