"""Looks far: `python -m tests.oracle.run FIRST LAST COUNT` takes COUNT cases of each seed.

Prints what is decided otherwise here, shrunk, as lines of a conformance file, and at the end how
many cases there were.
"""

from __future__ import annotations

import itertools
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from gitops.recursion_limit import raise_recursion_limit
from tests.oracle.broker_classes import BrokerClasses, broker_classes
from tests.oracle.cases import Cases
from tests.oracle.differences import Difference, difference, is_case, smallest

_SHRUNK: Final = 3
"""So many of a seed are shrunk; the rest are counted."""


def main(first: int, last: int, count: int) -> int:
    """0 if nothing differs."""
    raise_recursion_limit()
    counts: Counter[str] = Counter()
    with (
        tempfile.TemporaryDirectory() as folder,
        broker_classes(Path(folder)) as oracle,
    ):
        for seed in range(first, last + 1):
            for line in _lines(seed, count, oracle, counts):
                sys.stdout.write(f"{line}\n")
                sys.stdout.flush()
    sys.stdout.write(f"seeds {first}-{last}: {dict(counts)}\n")
    return 1 if counts["different"] else 0


def _lines(seed: int, count: int, oracle: BrokerClasses, counts: Counter[str]) -> Iterator[str]:
    cases = list(itertools.islice(Cases(seed), count))
    verdicts = oracle.ask(cases)
    found: list[Difference] = []
    for case, verdict in zip(cases, verdicts, strict=True):
        if is_case(verdict):
            counts["decided"] += 1
            counts["accepted"] += verdict["accepted"]
        if one := difference(case, verdict):
            found.append(one)
    counts["different"] += len(found)
    for one in found[:_SHRUNK]:
        small = smallest(one, oracle)
        yield f"# here: {small.ours}\n{small.line()}"


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:4])))
