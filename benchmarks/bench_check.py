"""Times `check` of a pull request that touches three topics, in repositories of 500 and 5,000.

Whole commands, started anew each time, against a committed snapshot and, for comparison, against
git's own history. Prints the median and the fastest of some rounds, all in turn, since other work
on the machine shifts all of them.

    python benchmarks/bench_check.py [ROUNDS]
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.bench_commands import write_repository

SIZES = (500, 5000)
TOUCHED = ("n00/t00007", "n01/t00123", "n04/t00456")
GIT = ("git", "-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "gc.auto=0")


def main() -> None:
    """Build the repositories, time the command in turn."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    with tempfile.TemporaryDirectory() as folder:
        roots = {size: Path(folder, str(size)) for size in SIZES}
        for size, root in roots.items():
            build(root, size)
        cases = [(size, history) for size in SIZES for history in ("snapshot", "git")]
        times: dict[tuple[int, str], list[float]] = {case: [] for case in cases}
        for _ in range(rounds):
            for size, history in cases:
                times[size, history].append(check(roots[size], history))
    print(f"{rounds} rounds in turn; seconds; 3 topics touched")
    for (size, history), seconds in times.items():
        name = f"check, {size:,} topics, history from {history}"
        print(f"{name:45} median {statistics.median(seconds):6.2f}   fastest {min(seconds):6.2f}")


def build(root: Path, topics: int) -> None:
    """A repository with its snapshot on `main`, and a branch that touches three topics."""
    root.mkdir()
    write_repository(root, topics)
    program("apply", "--repo", str(root), "--auto-approve")
    program("snapshot", "--repo", str(root))
    (root / ".gitignore").write_text(".gitops/\n")
    git(root, "init", "--quiet", "--initial-branch", "main")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "all topics")
    git(root, "repack", "--quiet", "-a", "-d")
    git(root, "switch", "--quiet", "--create", "pr")
    for place in TOUCHED:
        path = root / f"namespaces/bench/{place}.avsc"
        schema = json.loads(path.read_text())
        schema["fields"].append({"name": "more", "type": ["null", "string"], "default": None})
        path.write_text(json.dumps(schema, indent=2))
    git(root, "commit", "--quiet", "--all", "--message", "three topics")


def check(root: Path, history: str) -> float:
    """Seconds that a check took; fails if it does not see three topics."""
    args = ("--base", "main", "--head", "pr", "--repo", str(root), "--history", history)
    started = time.perf_counter()
    printed = program("check", *args)
    seconds = time.perf_counter() - started
    assert "3 to change, 0 unchanged" in printed, printed
    return seconds


def program(*args: str) -> str:
    """What a command prints; fails if it fails."""
    command = [sys.executable, "-c", "from gitops.cli.app import main; main()", *args]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def git(root: Path, *words: str) -> None:
    """Run a git command."""
    subprocess.run([*GIT, *words], cwd=root, check=True, capture_output=True)


if __name__ == "__main__":
    main()
