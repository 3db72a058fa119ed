"""Of several `apply --auto-approve` at the same moment one wins; the others end as stale."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gitops.model.config import RegistryConfig
from gitops.model.names import NamespaceName
from gitops.registries.embedded.registry import EmbeddedRegistry
from tests.support.command_line import CommandLine


@pytest.fixture
def overtaken(repo: Path, command: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another apply is done when ours has planned and is about to create its first namespace."""
    begun: list[NamespaceName] = []

    class Overtaken(EmbeddedRegistry):
        """Comes second, however often it is opened."""

        def create_namespace(self, namespace: NamespaceName) -> None:
            begun.append(namespace)
            if len(begun) == 1:
                assert command("apply", "--repo", repo, "--auto-approve").code == 0
            super().create_namespace(namespace)

    def opened(name: str, _config: RegistryConfig, root: Path) -> EmbeddedRegistry:
        return Overtaken(name, root / ".gitops/registry.db", address=".gitops/registry.db")

    monkeypatch.setattr("gitops.registries.factory.open_registry", opened)


@pytest.mark.slow
@pytest.mark.usefixtures("overtaken")
@pytest.mark.parametrize("form", ["text", "json"])
def test_the_loser_is_stale_and_a_new_plan_is_empty(
    form: str, repo: Path, command: CommandLine
) -> None:
    lost = command("apply", "--repo", repo, "--auto-approve", "--format", form)

    assert lost.code == 5, lost.err
    assert "namespace shop/orders changed since the plan was made" in lost.err
    assert lost.err.endswith("\n  run the same command again: it makes a new plan\n")
    if form == "json":
        results = json.loads(lost.out)["results"]
        assert [one["outcome"] for one in results] == ["failed"] + ["notAttempted"] * 12
        assert results[0]["error"]["exitCode"] == 5
    again = command("apply", "--repo", repo, "--auto-approve")
    assert (again.code, again.out.splitlines()[-1]) == (0, "nothing to do")
