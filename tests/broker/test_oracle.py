"""Fresh random cases at every run: decided here, and by the broker's own classes."""

from __future__ import annotations

import itertools
import os
import secrets
import shutil
from collections.abc import Iterator
from typing import Final

import pytest

from tests.oracle.broker_classes import BrokerClasses, broker_classes
from tests.oracle.cases import Cases
from tests.oracle.differences import difference, is_case, smallest
from tests.support.pulsar_class_path import BrokerUnavailableError

_COUNT: Final = 6000
_SHOWN: Final = 3


@pytest.fixture(scope="module")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerClasses]:
    """The oracle; skips where there is no Java or no Maven."""
    if shutil.which("javac") is None:
        pytest.skip("no oracle: no javac on the PATH")
    try:
        with broker_classes(tmp_path_factory.mktemp("oracle")) as running:
            yield running
    except BrokerUnavailableError as reason:
        pytest.skip(f"no oracle: {reason}")


@pytest.mark.broker
def test_random_cases_are_decided_as_the_broker_decides(oracle: BrokerClasses) -> None:
    seed = int(os.environ.get("ORACLE_SEED") or secrets.randbelow(10**9))
    cases = list(itertools.islice(Cases(seed), _COUNT))
    verdicts = oracle.ask(cases)

    pairs = list(zip(cases, verdicts, strict=True))
    found = [one for case, verdict in pairs if (one := difference(case, verdict))]
    lines = [
        f"# decided here: {small.ours}\n{small.line()}"
        for small in (smallest(one, oracle) for one in found[:_SHOWN])
    ]
    accepted = [verdict["accepted"] for verdict in verdicts if is_case(verdict)]

    assert not found, f"{len(found)} with ORACLE_SEED={seed}, for example:\n" + "\n".join(lines)
    assert len(accepted) > _COUNT * 0.9
    assert 0.3 < sum(accepted) / len(accepted) < 0.7
