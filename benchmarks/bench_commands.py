"""Times what a person waits for: `--help`, `validate`, an empty `plan`, `connect client`.

Whole commands, started anew each time. Prints the median and the fastest of some rounds, the
commands in turn, since other work on the machine shifts all of them.

    python benchmarks/bench_commands.py [TOPICS] [ROUNDS]
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FIELDS = 12


def main() -> None:
    """Build the repository, apply it, time the commands."""
    topics = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 7
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write_repository(root, topics)
        repo = ("--repo", folder)
        run("apply", *repo, "--auto-approve")
        run("snapshot", *repo)
        commands = {
            "--help": ("--help",),
            f"validate, {topics:,} topics": ("validate", "--repo", folder),
            f"plan without changes, {topics:,} topics": ("plan", "--repo", folder),
            f"connect client, 10 of {topics:,} topics": ("connect", "client", "bench", *repo),
            "the same, by the snapshot": ("connect", "client", "bench", *repo, "--snapshot"),
        }
        times: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(rounds):
            for name, args in commands.items():
                times[name].append(run(*args))
    print(f"{rounds} rounds in turn; seconds")
    for name, seconds in times.items():
        print(f"{name:45} median {statistics.median(seconds):6.2f}   fastest {min(seconds):6.2f}")


def run(*args: str) -> float:
    """Seconds that a command took; fails if it fails."""
    started = time.perf_counter()
    command = [sys.executable, "-c", "from gitops.cli.app import main; main()", *args]
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - started


def write_repository(root: Path, topics: int) -> None:
    """Topics of one namespace for every hundred, each with a definition of its own."""
    (root / "gitops.yaml").write_text(
        "apiVersion: pulsar-gitops/v1\nkind: Config\n"
        "registries: {local: {kind: embedded, path: .gitops/registry.db}}\n"
    )
    for number in range(topics):
        folder = root / f"namespaces/bench/n{number // 100:02}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "namespace.yaml").write_text(
            "apiVersion: pulsar-gitops/v1\nkind: Namespace\n"
            f"namespace: bench/n{number // 100:02}\nschemaCompatibilityStrategy: BACKWARD\n"
        )
        (folder / f"t{number:05}.yaml").write_text(
            "apiVersion: pulsar-gitops/v1\nkind: Topic\n"
            f"schema: {{type: AVRO, definition: t{number:05}.avsc, properties: {{owner: bench}}}}\n"
        )
        (folder / f"t{number:05}.avsc").write_text(json.dumps(definition(number), indent=2))
    (root / "clients").mkdir()
    (root / "clients/bench.yaml").write_text(
        "apiVersion: pulsar-gitops/v1\nkind: Client\nname: bench\nowner: bench\nconsumes:\n"
        + "".join(
            f"  - {{topic: bench/n{number // 100:02}/t{number:05}, subscription: bench, "
            "schema: {version: 0}}\n"
            for number in range(min(topics, 10))
        )
    )


def definition(number: int) -> dict[str, object]:
    """A record of some fields, a nested record and an enum among them."""
    inner = {"type": "record", "name": "Money", "fields": [{"name": "cents", "type": "long"}]}
    fields: list[dict[str, object]] = [
        {"name": f"field{i}", "type": ["null", "string"], "default": None} for i in range(FIELDS)
    ]
    fields.append({"name": "total", "type": inner})
    kinds = {"type": "enum", "name": "Kind", "symbols": ["A", "B"], "default": "A"}
    fields.append({"name": "kind", "type": kinds})
    return {"type": "record", "name": f"Event{number}", "namespace": "bench", "fields": fields}


if __name__ == "__main__":
    main()
