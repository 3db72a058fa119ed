"""Pulsar's own Java admin client works against `serve`, and sees what it sees on a broker."""

from __future__ import annotations

import os
import shutil
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from gitops.registries.embedded.registry import EmbeddedRegistry
from gitops.registries.server.server import serve_in_thread
from tests.support.pulsar_class_path import BrokerUnavailableError, class_path, find_java

# It needs the jars of a broker, which the broker's tests resolve.
pytestmark = pytest.mark.broker

SOURCE: Final = Path(__file__).with_name("AdminScenario.java")
RUN_SECONDS: Final = 120

FIRST: Final = '{"type":"record","name":"Order","fields":[{"name":"a","type":"int"}]}'
SECOND: Final = (
    '{"type":"record","name":"Order","fields":'
    '[{"name":"a","type":"int"},{"name":"b","type":"int","default":1}]}'
)
EXPECTED: Final = {
    "clusters": "[standalone]",
    "create tenant": "done",
    "create tenant again": "ConflictException 409",
    "policies of none": "NotFoundException 404",
    "strategy": "BACKWARD",
    "auto-update": "false",
    "enforced": "true",
    "no schema": "NotFoundException 404",
    "no schemas": "[]",
    "create schema": "done",
    "create second schema": "done",
    "create breaking schema": "ConflictException 409",
    "create invalid schema": "PulsarAdminException 422",
    "create schema in none": "NotFoundException 404",
    "latest": f"AVRO {SECOND} {{owner=checkout}}",
    "version 0": f"AVRO {FIRST} {{}}",
    "all": f"[AVRO {FIRST} {{}}, AVRO {SECOND} {{owner=checkout}}]",
    "version of second": "1",
    "version of breaking": "-1",
    "compatible": "true",
    "by strategy": "BACKWARD",
    "incompatible": "ServerSideErrorException 500",
    "deleted": "NotFoundException 404",
    "create another type": "done",
    "with version": "v3 INT32  {}",
    "none left": "[]",
    "same bytes": "true",
    "topics": "[one, two-partition-0, two-partition-1]",
    "partitioned": "[two]",
    "delete namespace": "done",
    "delete tenant": "done",
}
"""The last answer to each of these calls."""


@pytest.fixture(scope="module")
def scenario(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment in which `java AdminScenario` runs; skips where it cannot."""
    javac = shutil.which("javac")
    if javac is None:
        pytest.skip("no javac on the PATH (a JDK of version 17 or later has it)")
    try:
        find_java()
        jars = class_path()
    except BrokerUnavailableError as reason:
        pytest.skip(f"no Pulsar admin client: {reason}")
    classes = tmp_path_factory.mktemp("classes")
    environment = {**os.environ, "CLASSPATH": f"{classes}{os.pathsep}{jars}"}
    command = [javac, "-proc:none", "-nowarn", "-d", str(classes), str(SOURCE)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return environment


@pytest.fixture
def serve_url(tmp_path: Path) -> Iterator[str]:
    registry = EmbeddedRegistry("local", tmp_path / "registry.db")
    with serve_in_thread(registry) as url:
        yield url
    registry.close()


def run(scenario: dict[str, str], url: str) -> list[str]:
    """What the scenario prints, without the client's own log between it."""
    tenant = f"java-{uuid.uuid4().hex[:10]}"
    done = subprocess.run(
        [find_java(), "-Xmx256m", "AdminScenario", url, tenant],
        env=scenario,
        capture_output=True,
        text=True,
        check=False,
        timeout=RUN_SECONDS,
    )
    assert done.returncode == 0, done.stderr
    return [line[2:] for line in done.stdout.splitlines() if line.startswith("> ")]


def test_the_java_client_works_against_serve(scenario: dict[str, str], serve_url: str) -> None:
    answers = dict(line.split(": ", 1) for line in run(scenario, serve_url))
    assert {key: answers.get(key) for key in EXPECTED} == EXPECTED


def test_the_java_client_sees_no_difference_to_a_broker(
    scenario: dict[str, str], serve_url: str, pulsar_admin_url: str
) -> None:
    assert run(scenario, serve_url) == run(scenario, pulsar_admin_url)
