"""Fresh random cases at every run: decided here, and by the broker's own classes.

`ORACLE_CASES=50000` in the environment draws so many, and a quarter of them for each line.
"""

from __future__ import annotations

import itertools
import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from tests.oracle.broker_classes import BrokerClasses, broker_classes
from tests.oracle.cases import Cases
from tests.oracle.differences import difference, is_case, smallest
from tests.oracle.fixes import FixedCases, refused_cases
from tests.oracle.line_cases import LineCases
from tests.oracle.oracle_lines import ORACLE_LINES
from tests.support.decisions import our_answer
from tests.support.pulsar_class_path import BrokerUnavailableError

_COUNT: Final = int(os.environ.get("ORACLE_CASES", "2000"))
_LINE_COUNT: Final = _COUNT // 4
_FIXED_COUNT: Final = 80
_SHOWN: Final = 3


@contextmanager
def _oracle(folder: Path, line: str) -> Iterator[BrokerClasses]:
    """The oracle of a line; skips where there is no Java, no Maven or no such release."""
    if shutil.which("javac") is None:
        pytest.skip("no oracle: no javac on the PATH")
    try:
        with broker_classes(folder, ORACLE_LINES[line]) as running:
            yield running
    except BrokerUnavailableError as reason:
        pytest.skip(f"no oracle of {line}: {reason}")


def _seed() -> int:
    return int(os.environ.get("ORACLE_SEED") or secrets.randbelow(10**9))


def _share_accepted(
    oracle: BrokerClasses, line: str, cases: Sequence[dict[str, Any]], seed: int
) -> float:
    """The share that the broker accepts; fails where something is decided otherwise here."""
    decide = partial(our_answer, line=ORACLE_LINES[line].line)
    verdicts = oracle.ask(cases)
    pairs = zip(cases, verdicts, strict=True)
    found = [one for case, verdict in pairs if (one := difference(case, verdict, decide))]
    lines = [
        f"# decided here: {small.ours}\n{small.line()}"
        for small in (smallest(one, oracle, decide) for one in found[:_SHOWN])
    ]
    accepted = [verdict["accepted"] for verdict in verdicts if is_case(verdict)]

    assert not found, f"{len(found)} with ORACLE_SEED={seed}, for example:\n" + "\n".join(lines)
    assert len(accepted) > len(cases) * 0.85
    return float(sum(accepted) / len(accepted))


@pytest.mark.broker
def test_random_cases_are_decided_as_the_broker_decides(tmp_path: Path) -> None:
    seed = _seed()
    with _oracle(tmp_path, "4.0") as oracle:
        share = _share_accepted(oracle, "4.0", [*itertools.islice(Cases(seed), _COUNT)], seed)

    assert 0.3 < share < 0.7


@pytest.mark.broker
def test_every_fix_of_a_random_refusal_is_accepted(tmp_path: Path) -> None:
    """FIXES says of how many refusals."""
    seed = _seed()
    fixed = FixedCases(seed, int(os.environ.get("FIXES", _FIXED_COUNT)))
    with _oracle(tmp_path, "4.0") as oracle:
        refused = refused_cases(fixed, oracle)

    assert not refused, f"{len(refused)} with ORACLE_SEED={seed}, for example:\n{refused[0]}"
    assert fixed.counts["with a fix"] > fixed.counts["refusals"] * 0.1


@pytest.mark.broker
@pytest.mark.parametrize("line", ORACLE_LINES)
def test_each_line_decides_random_cases_as_its_broker(line: str, tmp_path: Path) -> None:
    """Mostly cases of what differs between lines, and some of all kinds."""
    seed = _seed()
    cases = [
        *itertools.islice(LineCases(seed), _LINE_COUNT),
        *itertools.islice(Cases(seed), _LINE_COUNT // 2),
    ]
    with _oracle(tmp_path, line) as oracle:
        share = _share_accepted(oracle, line, cases, seed)

    assert 0.2 < share < 0.7
