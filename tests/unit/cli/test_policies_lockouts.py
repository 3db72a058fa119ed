"""`policies set` locks no client with the latest version out unless `--yes` is given."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitops.cli.app import run
from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import NamespacePolicies, PolicyChange
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.state import Scope
from gitops.registries.embedded.registry import EmbeddedRegistry
from tests.support.states import CREATED, ORDERS, avro, field

_CONFIG = (
    "apiVersion: pulsar-gitops/v1\nkind: Config\n"
    "registries:\n  live: {kind: embedded, path: live.db}\n"
)
_KEY = "schemaCompatibilityStrategy"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    (tmp_path / "gitops.yaml").write_text(_CONFIG, encoding="utf-8")
    registry = EmbeddedRegistry("live", tmp_path / "live.db")
    loose = PolicyChange(key=_KEY, before=None, after=Strategy.ALWAYS_COMPATIBLE)
    registry.create_namespace(ORDERS)
    registry.set_policies(ORDERS, [loose])
    registry.register_schema(CREATED, avro(field("a", "long")))
    registry.register_schema(CREATED, avro(field("a", "string")))
    registry.close()
    return tmp_path


def _policies(repo: Path, name: NamespaceName = ORDERS) -> NamespacePolicies:
    registry = EmbeddedRegistry("live", repo / "live.db")
    try:
        return registry.observe(Scope(namespaces=frozenset({name}))).namespaces[name].policies
    finally:
        registry.close()


@pytest.mark.parametrize("subject", [ORDERS, CREATED])
def test_nothing_is_set_that_locks_out_clients_with_the_latest_version(
    repo: Path, subject: NamespaceName | TopicName, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["policies", "set", str(subject), f"{_KEY}=FULL_TRANSITIVE", "--repo", str(repo)]

    assert run(words) == 1
    printed = capsys.readouterr().err
    assert "consumers with v1, the latest version, can no longer connect" in printed
    assert "--yes" in printed
    assert _policies(repo).schema_compatibility_strategy is Strategy.ALWAYS_COMPATIBLE
    assert run([*words, "--yes"]) == 0


def test_a_policy_that_locks_nobody_out_is_set_at_once(repo: Path) -> None:
    words = ["policies", "set", str(ORDERS), f"{_KEY}=BACKWARD", "--repo", str(repo)]

    assert run(words) == 0
    assert _policies(repo).schema_compatibility_strategy is Strategy.BACKWARD
