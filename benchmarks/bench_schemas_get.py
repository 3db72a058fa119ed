"""Times `schemas get` of one topic in a repository that has many Protobuf topics.

Whole commands, started anew each time, by turns with a `schemas get` of another checkout where
that is named, since other work on the machine shifts both. Prints medians of wall-clock and
processor time and the median of the ratios of a round.

    python benchmarks/bench_schemas_get.py [TOPICS] [ROUNDS] [OTHER_CHECKOUT]
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
HEAD = "apiVersion: pulsar-gitops/v1\nkind: "
SPACE = "bench/proto"


def main() -> None:
    """Build the repository, apply it, time the command."""
    topics = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 7
    checkouts = [HERE, *map(Path, sys.argv[3:4])]
    with tempfile.TemporaryDirectory() as folder:
        write_repository(Path(folder), topics)
        run(HERE, "apply", "--auto-approve", "--repo", folder)
        get = ("schemas", "get", f"{SPACE}/t000", "--repo", folder)
        times = [[run(checkout, *get) for checkout in checkouts] for _ in range(rounds)]
    print(f"{topics} Protobuf topics, {rounds} rounds by turns; seconds, medians")
    for number, checkout in enumerate(checkouts):
        wall, processor = (
            statistics.median(measured[number][kind] for measured in times) for kind in (0, 1)
        )
        print(f"{checkout!s:40} wall {wall:6.2f}   processor {processor:6.2f}")
    if len(checkouts) > 1:
        ratios = [other[1] / here[1] for here, other in times]
        print(f"processor time of the other one by this one: {statistics.median(ratios):.1f}")


def run(checkout: Path, *args: str) -> tuple[float, float]:
    """Wall-clock and processor seconds of a command, with its children; fails if it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    command = [sys.executable, "-c", "from gitops.cli.app import main; main()", *args]
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    subprocess.run(command, check=True, capture_output=True, env=environment, cwd=checkout)
    wall = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, processor


def write_repository(root: Path, topics: int) -> None:
    """Each topic has a `.proto` file of its own."""
    registries = "registries: {local: {kind: embedded, path: .gitops/registry.db}}\n"
    (root / "gitops.yaml").write_text(f"{HEAD}Config\n{registries}")
    folder = root / "namespaces" / SPACE
    folder.mkdir(parents=True)
    (folder / "namespace.yaml").write_text(f"{HEAD}Namespace\nnamespace: {SPACE}\n")
    for number in range(topics):
        message = f"message Event{number} {{ string name = 1; int64 at = 2; }}\n"
        proto = f'syntax = "proto3";\npackage bench;\n{message}'
        (folder / f"t{number:03}.proto").write_text(proto)
        root_message = f"message: bench.Event{number}"
        schema = f"{{type: PROTOBUF_NATIVE, definition: t{number:03}.proto, {root_message}}}"
        (folder / f"t{number:03}.yaml").write_text(f"{HEAD}Topic\nschema: {schema}\n")


if __name__ == "__main__":
    main()
