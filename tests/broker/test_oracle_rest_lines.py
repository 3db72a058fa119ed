"""Fresh random cases over admin REST of brokers of other lines, each started for one test."""

from __future__ import annotations

import itertools
import os
import secrets
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from gitops.model.policy import BrokerSettings
from gitops.registries.embedded.registry import EmbeddedRegistry
from gitops.registries.server.server import serve_in_thread
from tests.oracle.line_cases import LineCases
from tests.oracle.over_rest import AdminRest, Case, is_for_rest, rest_differences
from tests.support import pulsar_broker
from tests.support.protos import order
from tests.support.pulsar_broker import BrokerUnavailableError

_COUNT: Final = 150
_SHOWN: Final = 2


@pytest.mark.broker
@pytest.mark.parametrize("release", ["4.2.4", "5.0.0-M1"])
def test_random_cases_are_answered_as_a_broker_of_the_line_answers(
    release: str, tmp_path: Path
) -> None:
    seed = int(os.environ.get("ORACLE_SEED") or secrets.randbelow(10**9))
    random = [case for case in itertools.islice(LineCases(seed), _COUNT) if is_for_rest(case)]
    cases = [_first_case(), *random]
    registry = EmbeddedRegistry(
        "local", tmp_path / "registry.db", BrokerSettings(release=release[:3])
    )
    settings = pulsar_broker.BrokerSettings(release=release)
    try:
        with (
            closing(registry),
            serve_in_thread(registry) as served_url,
            pulsar_broker.pulsar_broker(settings) as running,
            closing(AdminRest(served_url)) as served,
            closing(AdminRest(running.admin_url)) as broker,
        ):
            found = rest_differences(cases, broker, served)
    except BrokerUnavailableError as reason:
        pytest.skip(f"no Pulsar broker {release}: {reason}")

    lines = [one.line() for one in found[:_SHOWN]]
    assert not found, f"{len(found)} with ORACLE_SEED={seed}, for example:\n" + "\n".join(lines)
    assert len(cases) > _COUNT * 0.7


def _first_case() -> Case:
    """A plain PROTOBUF_NATIVE schema before all others.

    If the first one that a 5.0.0-M1 broker sees is of an edition, protobuf-java 4.35 fails while it
    loads its own classes, and every later one is answered with 500 until the broker is restarted.
    """
    info = order("int32 a = 1;")
    schema: dict[str, object] = {"type": info.type.value, "schema": info.schema, "properties": {}}
    return {"mode": "producer", "strategy": "FULL", "existing": [schema], "candidate": schema}
