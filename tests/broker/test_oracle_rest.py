"""Fresh random cases at every run, over admin REST: that of a real broker, and that of `serve`."""

from __future__ import annotations

import itertools
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from gitops.registries.embedded.registry import EmbeddedRegistry
from gitops.registries.server.server import serve_in_thread
from tests.oracle.cases import Cases
from tests.oracle.over_rest import AdminRest, is_for_rest, rest_differences, smallest_over_rest

_COUNT: Final = 150
_SHOWN: Final = 2


@pytest.fixture
def broker(pulsar_admin_url: str) -> Iterator[AdminRest]:
    rest = AdminRest(pulsar_admin_url)
    yield rest
    rest.close()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[AdminRest]:
    registry = EmbeddedRegistry("local", tmp_path / "registry.db")
    with serve_in_thread(registry) as url:
        rest = AdminRest(url)
        yield rest
        rest.close()
    registry.close()


@pytest.mark.broker
def test_random_cases_are_answered_as_a_broker_answers(
    broker: AdminRest, served: AdminRest
) -> None:
    seed = int(os.environ.get("ORACLE_SEED") or secrets.randbelow(10**9))
    cases = [case for case in itertools.islice(Cases(seed), _COUNT) if is_for_rest(case)]

    found = rest_differences(cases, broker, served)
    lines = [smallest_over_rest(one, broker, served).line() for one in found[:_SHOWN]]

    assert not found, f"{len(found)} with ORACLE_SEED={seed}, for example:\n" + "\n".join(lines)
    assert len(cases) > _COUNT * 0.8
