"""A plan that prunes: it goes on where it stopped, and deletes nothing that nobody reviewed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from gitops.model.errors import StalePlanError
from tests.scenarios.registries import Command, Live
from tests.scenarios.repositories import template_for

_GONE = ("order-cancelled", "order-created", "order-status")


class _Repository:
    """The template, applied and recorded, without the manifests of three of its topics."""

    def __init__(self, live: Live, folder: Path, command: Command) -> None:
        self.orders = f"{live.tenant}/orders"
        self.root = template_for(folder, live.tenant, live.registries)
        self._command = command
        self.plan_file = folder.with_name("plan.json")
        self.clients = folder.with_name("clients")
        with (self.root / "gitops.yaml").open("a") as config:
            config.write("safety: {allowDeletions: true}\n")
        self("apply", "--auto-approve")
        self("snapshot")
        shutil.move(self.root / "clients", self.clients)
        for name in _GONE:
            for path in (self.root / "namespaces" / self.orders).glob(f"{name}.*"):
                path.unlink()

    def review(self) -> None:
        """Plan; from here on only the plan names the topics that a cluster does not list."""
        self("plan", "--prune", "--out", str(self.plan_file))
        shutil.rmtree(self.root / "snapshots")

    def run(self, *args: str) -> tuple[int, str]:
        return self._command(*args, "--repo", str(self.root))

    def __call__(self, *args: str) -> str:
        code, out = self.run(*args)
        assert code == 0
        return out

    def apply(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(
            self("apply", str(self.plan_file), "--format", "json")
        )
        return document

    def delete(self, name: str, *more: str) -> None:
        self("schemas", "delete", f"{self.orders}/{name}", "--yes", *more)

    def upload(self, name: str) -> None:
        self("schemas", "upload", f"{self.orders}/{name}", "STRING")

    def plan(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self("plan", "--prune", "--format", "json"))
        return document


@pytest.fixture
def repo(live: Live, tmp_path: Path, command: Command) -> _Repository:
    """A plan for it deletes three schemas."""
    return _Repository(live, tmp_path / "repo", command)


@pytest.mark.rule("CLIENT-R005")
def test_a_schema_that_a_declared_client_uses_is_not_deleted(repo: _Repository) -> None:
    shutil.move(repo.clients, repo.root / "clients")

    code, planned = repo.run("plan", "--prune", "--format", "json")
    applied, _ = repo.run("apply", "--prune", "--auto-approve")

    findings = json.loads(planned)["findings"]
    errors = [finding for finding in findings if finding["severity"] == "error"]
    assert (code, applied) == (1, 1)
    assert {finding["rule"] for finding in errors} == {"CLIENT-R005"}
    assert {finding["subject"] for finding in errors} == {"billing", "checkout"}
    assert all("clients/" in finding["location"]["file"] for finding in errors)
    assert "order-created" in errors[0]["message"]


def test_a_plan_that_prunes_goes_on_where_it_stopped(repo: _Repository) -> None:
    repo.review()
    repo.delete("order-cancelled")

    applied = repo.apply()

    assert applied["doneBefore"] == 1
    assert [(one["action"]["topic"], one["outcome"]) for one in applied["results"]] == [
        (f"{repo.orders}/{name}", "done") for name in _GONE[1:]
    ]
    assert repo.plan()["actions"] == []


def test_a_plan_that_has_pruned_has_nothing_left_to_do(repo: _Repository) -> None:
    repo.review()
    assert len(repo.apply()["results"]) == 3

    again = repo.apply()
    assert (again["doneBefore"], again["results"]) == (3, [])
    # As where its owner deletes the topic itself.
    repo.delete("order-status", "--force")
    again = repo.apply()
    assert (again["doneBefore"], again["results"]) == (3, [])


def test_a_schema_that_somebody_registers_again_makes_the_plan_stale(repo: _Repository) -> None:
    repo.review()
    repo.apply()
    repo.upload("order-status")

    with pytest.raises(StalePlanError, match=f"topic {repo.orders}/order-status changed since"):
        repo.apply()


def test_a_topic_that_comes_meanwhile_is_left_alone(live: Live, repo: _Repository) -> None:
    repo.review()
    live.create_topic("orders/newcomer")
    repo.upload("newcomer")

    repo.apply()

    assert repo("schemas", "versions", f"{repo.orders}/newcomer").splitlines()[1].startswith("v0")
    assert [one["topic"] for one in repo.plan()["actions"]] == [f"{repo.orders}/newcomer"]


def test_a_topic_without_a_schema_that_gets_one_is_left_alone(
    live: Live, repo: _Repository
) -> None:
    live.create_topic("orders/idle")
    repo.review()
    repo.upload("idle")

    assert len(repo.apply()["results"]) == 3

    assert repo("schemas", "versions", f"{repo.orders}/idle").splitlines()[1].startswith("v0")
