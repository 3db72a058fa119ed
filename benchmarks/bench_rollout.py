"""Times `rollout` of a change of 200 topics that 400 clients use, against the committed snapshot.

Half of the clients consume two topics each, the others produce one each; the change widens a field
of every topic, so that consumers go first. Whole commands, started anew each time; prints the
median of some rounds.

    python benchmarks/bench_rollout.py [ROUNDS]
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.bench_check import git, program

TOPICS = 200
CLIENTS = 400
FOLDER = "namespaces/bench/n"


def main() -> None:
    """Build the repository, time the command."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        build(root)
        seconds = [rollout(root) for _ in range(rounds)]
    print(f"rollout, {TOPICS} topics, {CLIENTS} clients: median {statistics.median(seconds):.2f} s")


def build(root: Path) -> None:
    """A repository with its snapshot on `main`, and a change of all topics in the folder."""
    files = {
        "gitops.yaml": "apiVersion: pulsar-gitops/v1\nkind: Config\n"
        "registries:\n  local: {kind: embedded, path: x.db}\n"
        "safety: {maxChangedShare: 1.0}\n",
        ".gitignore": "x.db*\n",
        f"{FOLDER}/namespace.yaml": "apiVersion: pulsar-gitops/v1\nkind: Namespace\n"
        "namespace: bench/n\nschemaCompatibilityStrategy: BACKWARD\n",
        **{f"{FOLDER}/t{n:03}.yaml": topic(n) for n in range(TOPICS)},
        **{f"{FOLDER}/t{n:03}.avsc": definition(n, "int") for n in range(TOPICS)},
        **{f"clients/c{n:03}.yaml": client(n) for n in range(CLIENTS)},
    }
    write(root, files)
    program("apply", "--repo", str(root), "--auto-approve")
    program("snapshot", "--repo", str(root))
    git(root, "init", "--quiet", "--initial-branch", "main")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "all")
    write(root, {f"{FOLDER}/t{n:03}.avsc": definition(n, "long") for n in range(TOPICS)})


def write(root: Path, files: dict[str, str]) -> None:
    """Write files by path."""
    for path, text in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)


def topic(number: int) -> str:
    """A manifest."""
    head = "apiVersion: pulsar-gitops/v1\nkind: Topic\n"
    return f"{head}schema: {{type: AVRO, definition: t{number:03}.avsc}}\n"


def definition(number: int, kind: str) -> str:
    """A record of 20 fields, one of them of this kind."""
    fields = [{"name": f"f{n}", "type": "string"} for n in range(19)]
    fields.append({"name": "count", "type": kind})
    return json.dumps({"type": "record", "name": f"T{number}", "fields": fields}, indent=2)


def client(number: int) -> str:
    """A service that consumes two topics, or produces one."""
    head = f"apiVersion: pulsar-gitops/v1\nkind: Client\nname: c{number:03}\nowner: '@a/b'\n"
    if number < TOPICS:
        return f"{head}produces:\n  - {{topic: bench/n/t{number:03}, schema: {{version: 0}}}}\n"
    reads = [number % TOPICS, (number * 7 + 3) % TOPICS]
    return f"{head}consumes:\n" + "".join(
        f"  - {{topic: bench/n/t{n:03}, subscription: s, schema: {{version: 0}}}}\n" for n in reads
    )


def rollout(root: Path) -> float:
    """Seconds that the command took; fails if it does not see all topics and clients."""
    started = time.perf_counter()
    args = ("--repo", str(root), "--base", "main", "--history", "snapshot", "--format", "json")
    printed = program("rollout", *args)
    seconds = time.perf_counter() - started
    (answer,) = json.loads(printed)["rollouts"]
    if len(answer["steps"]) != TOPICS + CLIENTS:
        raise RuntimeError(f"{len(answer['steps'])} steps, {answer['blocks'][:1]}")
    return seconds


if __name__ == "__main__":
    main()
