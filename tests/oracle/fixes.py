"""Asks the broker's classes about fixes: `python -m tests.oracle.fixes SEED COUNT`.

Makes random changes until COUNT of them are refused, and asks about each schema that fixes lead to.
Prints how many there were of each kind, and the cases that the broker refuses.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from gitops.model.plan import RefusedSchema
from gitops.planning.plan import make_plan
from gitops.recursion_limit import raise_recursion_limit
from gitops.repository.plan_fixes import add_patches
from tests.oracle.broker_classes import BrokerClasses, broker_classes
from tests.support.refusals import RandomSituations, Situation, errors, is_refused

_ASKED: Final = 500
"""How many cases are asked about at once."""


class FixedCases:
    """Cases of what fixes lead to, of the first `count` refusals; `counts` says how they went."""

    def __init__(self, seed: int, count: int) -> None:
        self.counts: Counter[str] = Counter()
        self._situations = RandomSituations(seed)
        self._count = count

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for situation in self._situations:
            if self.counts["refusals"] >= self._count:
                return
            request = situation.request()
            plan = make_plan(request.plan_input)
            if is_refused(plan):
                self.counts["refusals"] += 1
                refused = [one for one in plan.notices if isinstance(one, RefusedSchema)]
                self.counts["refused by a rule of ours alone"] += all(o.accepted for o in refused)
                found = errors(add_patches(plan, request))
                yield from self._fixed(situation, list(dict.fromkeys(o.patch for o in found)))

    def _fixed(self, situation: Situation, patches: list[str]) -> Iterator[dict[str, Any]]:
        """With each patch that leaves nothing refused, else with all of them."""
        given = [situation.with_patch(patch) for patch in patches if patch]
        if not given:
            return
        self.counts["with a fix"] += 1
        self.counts["fixes"] += len(given)
        whole = [one for one in given if not _is_refused(one)]
        together = [] if whole else [one for one in [situation.fixed()] if not _is_refused(one)]
        self.counts["fixed by one edit"] += bool(whole)
        self.counts["fixed by several edits"] += bool(together)
        self.counts["refused for something else too"] += not (whole or together)
        for one in whole + together:
            yield from one.cases()


def _is_refused(situation: Situation) -> bool:
    return is_refused(make_plan(situation.request().plan_input))


def refused_cases(cases: FixedCases, oracle: BrokerClasses) -> list[dict[str, Any]]:
    """The cases that the broker does not accept."""
    found: list[dict[str, Any]] = []
    waiting: list[dict[str, Any]] = []

    def ask() -> None:
        cases.counts["asked"] += len(waiting)
        answers = zip(waiting, oracle.ask(waiting), strict=True)
        found.extend(case for case, verdict in answers if not verdict.get("accepted"))
        waiting.clear()

    for case in cases:
        waiting.append(case)
        if len(waiting) >= _ASKED:
            ask()
    ask()
    return found


def main(options: argparse.Namespace) -> int:
    """0 if the broker accepts every fix."""
    raise_recursion_limit()
    cases = FixedCases(options.seed, options.count)
    with tempfile.TemporaryDirectory() as folder, broker_classes(Path(folder)) as oracle:
        refused = refused_cases(cases, oracle)
    sys.stdout.writelines(f"{json.dumps(case)}\n" for case in refused)
    sys.stdout.writelines(f"{name}: {count}\n" for name, count in cases.counts.items())
    sys.stdout.write(f"refused by the broker: {len(refused)}\n")
    return 1 if refused else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seed", type=int)
    parser.add_argument("count", type=int)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main(_options()))
