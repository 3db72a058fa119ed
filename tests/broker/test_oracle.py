"""Fresh random cases at every run: decided here, and by the broker's own classes."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from tests.oracle.cases import Cases
from tests.support.decisions import broker_answer, our_answer
from tests.support.pulsar_class_path import (
    CACHE,
    BrokerUnavailableError,
    class_path,
    find_java,
)

_SCRIPT: Final = Path(__file__).parents[1] / "oracle" / "run-oracle.sh"
_COUNT: Final = 3000
_SEED: Final = 31
"""Another one is for looking for new differences: a run must not depend on chance."""
_SHOWN: Final = 5


@pytest.fixture(scope="module")
def class_path_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file that names the broker's jars; skips where there is no Java or no Maven."""
    if shutil.which("javac") is None:
        pytest.skip("no oracle: no javac on the PATH")
    try:
        find_java()
        jars = class_path()
    except BrokerUnavailableError as reason:
        pytest.skip(f"no oracle: {reason}")
    file = tmp_path_factory.mktemp("oracle") / "class-path.txt"
    file.write_text(jars, encoding="utf-8")
    return file


@pytest.mark.broker
def test_random_cases_are_decided_as_the_broker_decides(class_path_file: Path) -> None:
    seed = int(os.environ.get("ORACLE_SEED") or _SEED)
    cases = list(itertools.islice(Cases(seed), _COUNT))
    verdicts = _ask(cases, class_path_file)

    # A history that cannot even be stored is no case: its bytes come from a text that is no pair.
    decided = [
        (case, verdict)
        for case, verdict in zip(cases, verdicts, strict=True)
        if verdict["error_class"] != "SeedError"
    ]
    different = [
        json.dumps({**case, "broker": verdict}, ensure_ascii=False)
        for case, verdict in decided
        if our_answer(case) != broker_answer(case, verdict)
    ]

    assert len(decided) > _COUNT * 0.9
    assert {verdict["accepted"] for _, verdict in decided} == {True, False}
    assert not different, f"ORACLE_SEED={seed}:\n" + "\n".join(different[:_SHOWN])


def _ask(cases: Sequence[dict[str, Any]], class_path_file: Path) -> list[dict[str, Any]]:
    done = subprocess.run(
        [str(_SCRIPT), str(class_path_file)],
        input="".join(json.dumps(case) + "\n" for case in cases),
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=300,
        env={**os.environ, "ORACLE_BUILD": str(CACHE / "oracle")},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.split("\n") if line]
