"""Looks far: `python -m tests.oracle.run FIRST LAST COUNT` takes COUNT cases of each seed.

`--line 4.2` asks another broker line, `--about lines` takes cases of what differs between lines.
Prints what is decided otherwise here, shrunk, as lines of a conformance file, and at the end how
many cases there were, also by type and mode.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

from gitops.recursion_limit import raise_recursion_limit
from tests.oracle.broker_classes import BrokerClasses, broker_classes
from tests.oracle.cases import Cases
from tests.oracle.differences import Decider, Difference, difference, is_case, smallest
from tests.oracle.line_cases import LineCases
from tests.oracle.oracle_lines import ORACLE_LINES
from tests.support.decisions import our_answer

_SHRUNK: Final = 3
"""So many of a seed are shrunk; the rest are counted."""

GENERATORS: Final[dict[str, Callable[[int], Iterator[dict[str, Any]]]]] = {
    "all": lambda seed: iter(Cases(seed)),
    "lines": lambda seed: iter(LineCases(seed)),
}


def main(options: argparse.Namespace) -> int:
    """0 if nothing differs."""
    raise_recursion_limit()
    counts: Counter[str] = Counter()
    asked = ORACLE_LINES[options.line]
    decide = partial(our_answer, line=asked.line)
    with (
        tempfile.TemporaryDirectory() as folder,
        broker_classes(Path(folder), asked) as oracle,
    ):
        for seed in range(options.first, options.last + 1):
            cases = list(itertools.islice(GENERATORS[options.about](seed), options.count))
            for line in _lines(cases, oracle, decide, counts):
                sys.stdout.write(f"{line}\n")
                sys.stdout.flush()
    sys.stdout.write(f"{options.line} {options.about} {options.first}-{options.last}:\n")
    sys.stdout.writelines(f"  {name}: {count}\n" for name, count in sorted(counts.items()))
    return 1 if counts["different"] else 0


def _lines(
    cases: list[dict[str, Any]], oracle: BrokerClasses, decide: Decider, counts: Counter[str]
) -> Iterator[str]:
    found: list[Difference] = []
    for case, verdict in zip(cases, oracle.ask(cases), strict=True):
        if is_case(verdict):
            counts["decided"] += 1
            counts["accepted"] += verdict["accepted"]
            counts[f"{case['candidate']['type']} {case['mode']}"] += 1
        if one := difference(case, verdict, decide):
            found.append(one)
    counts["different"] += len(found)
    for one in found[:_SHRUNK]:
        small = smallest(one, oracle, decide)
        yield f"# here: {small.ours}\n{small.line()}"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("first", "last", "count"):
        parser.add_argument(name, type=int)
    parser.add_argument("--line", choices=ORACLE_LINES, default="4.0")
    parser.add_argument("--about", choices=GENERATORS, default="all")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main(_options()))
