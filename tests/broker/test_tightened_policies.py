"""A stricter policy over an incompatible history locks out real clients, and reports say so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from gitops.model.names import NamespaceName
from tests.support.admin_rest import admin_request
from tests.support.command_line import CommandLine
from tests.support.git_repos import GitRepository
from tests.support.pulsar_broker import RunningBroker

pytestmark = pytest.mark.broker

_LOOSE: Final = "schemaCompatibilityStrategy: BACKWARD"
_VERSIONS: Final = [
    {"type": "record", "name": "Paid", "fields": [{"name": "amount", "type": kind}]}
    for kind in ("long", "string")
]


@pytest.fixture
def namespace_file(
    tmp_path: Path,
    pulsar: RunningBroker,
    pulsar_namespace: NamespaceName,
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    """In a repository and a cluster that agree: two versions that cannot read each other."""
    namespaces = f"{pulsar.admin_url}/admin/v2/namespaces/{pulsar_namespace}"
    topic = f"{pulsar.admin_url}/admin/v2/persistent/{pulsar_namespace}/paid"
    admin_request("PUT", topic)
    _set_strategy(namespaces, "ALWAYS_COMPATIBLE")
    for version in _VERSIONS:
        upload = {"type": "AVRO", "schema": json.dumps(version), "properties": {}}
        schemas = f"{pulsar.admin_url}/admin/v2/schemas/{pulsar_namespace}/paid/schema"
        admin_request("POST", schemas, upload)
    _set_strategy(namespaces, "BACKWARD")
    place = f"namespaces/{pulsar_namespace}"
    files = {
        "gitops.yaml": (
            "apiVersion: pulsar-gitops/v1\nkind: Config\n"
            f"registries:\n  live: {{kind: pulsar, url: '{pulsar.admin_url}'}}\n"
            "safety: {maxChangedShare: 1.0}\n"
        ),
        f"{place}/namespace.yaml": (
            "apiVersion: pulsar-gitops/v1\nkind: Namespace\n"
            f"namespace: {pulsar_namespace}\n{_LOOSE}\n"
        ),
        f"{place}/paid.yaml": (
            "apiVersion: pulsar-gitops/v1\nkind: Topic\n"
            "schema: {type: AVRO, definition: paid.avsc}\n"
        ),
        f"{place}/paid.avsc": json.dumps(_VERSIONS[-1]),
    }
    repository = GitRepository(tmp_path / "repository")
    repository.commit(files)
    monkeypatch.chdir(repository.root)
    return repository.root / place / "namespace.yaml"


def _set_strategy(namespaces: str, strategy: str) -> None:
    admin_request("PUT", f"{namespaces}/schemaCompatibilityStrategy", strategy)


def _connects(pulsar: RunningBroker, topic: str) -> bool:
    """Whether a consumer with the latest registered schema is let in."""
    library = pytest.importorskip("pulsar", reason="the extra 'pulsar' is not installed")
    schema: Any = library.schema.AvroSchema(None, schema_definition=_VERSIONS[-1])
    client = library.Client(
        pulsar.service_url,
        operation_timeout_seconds=5,
        logger=library.FileLogger(library.LoggerLevel.Error, "/dev/null"),
    )
    try:
        client.subscribe(topic, "s", schema=schema).close()
    except library.PulsarException:
        return False
    finally:
        client.close()
    return True


@pytest.mark.parametrize("stricter", ["FULL_TRANSITIVE", "ALWAYS_INCOMPATIBLE"])
def test_consumers_that_a_stricter_strategy_refuses_are_named_before_it_is_applied(
    stricter: str,
    namespace_file: Path,
    pulsar: RunningBroker,
    pulsar_namespace: NamespaceName,
    capsys: pytest.CaptureFixture[str],
) -> None:
    command = CommandLine(capsys)
    topic = f"persistent://{pulsar_namespace}/paid"
    assert _connects(pulsar, topic)
    assert command("plan", "--detailed-exitcode").code == 0
    text = namespace_file.read_text("utf-8")
    namespace_file.write_text(text.replace("BACKWARD", stricter), "utf-8")

    check = command("check", "--registry", "live", "--base", "HEAD")
    plan = command("plan", "--out", "plan.json")

    assert (check.code, plan.code) == (1, 1), check.out + plan.out
    assert "PLAN-R020" in check.out
    assert "PLAN-R020" in plan.out
    assert command("apply", "plan.json").code == 1
    assert _connects(pulsar, topic)

    _set_strategy(f"{pulsar.admin_url}/admin/v2/namespaces/{pulsar_namespace}", stricter)
    admin_request("PUT", f"{pulsar.admin_url}/admin/v2/namespaces/{pulsar_namespace}/unload")
    assert not _connects(pulsar, topic)
    assert "AUDIT-H013" in command("audit", "--registry", "live").out
