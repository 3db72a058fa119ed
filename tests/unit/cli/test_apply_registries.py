"""An apply to several registries in one run: their order, what a failure stops, and the journal."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gitops.model.errors import OutsideError
from gitops.model.names import TopicName
from gitops.model.schema import SchemaInfo
from gitops.registries.embedded.registry import EmbeddedRegistry
from gitops.repository.json_validation import schema_problems
from tests.support.command_line import CommandLine
from tests.support.interrupts import ctrl_c_as_ever

pytestmark = pytest.mark.slow

_SETTINGS = """apiVersion: pulsar-gitops/v1
kind: Config
defaultRegistry: staging
registries:
  last: {kind: embedded, path: last.db, after: production}
  production: {kind: embedded, path: production.db, after: staging}
  staging: {kind: embedded, path: staging.db}
  other: {kind: embedded, path: other.db}
  dead: {kind: pulsar, url: "http://127.0.0.1:1"}
groups:
  all: [last, production, staging, other]
"""
_ALL = ["staging", "other", "production", "last"]
_HEAD = "apiVersion: pulsar-gitops/v1\nkind: "


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Two topics of one namespace, and four registries that have nothing."""
    folder = tmp_path / "repo/namespaces/shop/orders"
    folder.mkdir(parents=True)
    (tmp_path / "repo/gitops.yaml").write_text(_SETTINGS)
    (folder / "namespace.yaml").write_text(f"{_HEAD}Namespace\nnamespace: shop/orders\n")
    for name in ("created", "paid"):
        (folder / f"{name}.yaml").write_text(f"{_HEAD}Topic\nschema: {{type: STRING}}\n")
    return tmp_path / "repo"


@pytest.fixture
def plans(repo: Path, command: CommandLine) -> Path:
    """One plan file for all."""
    file = repo.parent / "plans.json"
    done = command("plan", "--repo", repo, "--registry", "all", "--out", file)
    assert (done.code, done.err) == (0, f"4 plans written to {file}\n")
    return file


@pytest.fixture
def second_schema(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], None]], None]:
    """Something happens when staging has registered its second schema."""
    register = EmbeddedRegistry.register_schema

    def patch(happens: Callable[[], None]) -> None:
        def registered(self: EmbeddedRegistry, topic: TopicName, info: SchemaInfo) -> int:
            if self.name == "staging" and topic.local_name == "paid":
                happens()
            return register(self, topic, info)

        monkeypatch.setattr(EmbeddedRegistry, "register_schema", registered)

    return patch


def _cut() -> None:
    raise OutsideError("the wire is cut")


def _versions(repo: Path, name: str, command: CommandLine) -> int:
    """How many versions both topics have."""
    done = [
        command("schemas", "versions", f"shop/orders/{one}", "--repo", repo, "--registry", name)
        for one in ("created", "paid")
    ]
    return sum(one.out.count("STRING") for one in done)


def _runs(journal: Path) -> list[tuple[str, str]]:
    """The registries in a journal, each with the outcome."""
    entries = [json.loads(line) for line in journal.read_text().splitlines()]
    begun = {one["run"]: one["registry"] for one in entries if one["entry"] == "start"}
    return [(begun[one["run"]], one["outcome"]) for one in entries if one["entry"] == "end"]


def test_one_plan_file_is_applied_in_order_and_has_one_journal(
    repo: Path, plans: Path, command: CommandLine
) -> None:
    done = command("apply", plans, "--repo", repo)

    assert (done.code, done.err) == (0, "")
    heads = [line.split(" · ")[0] for line in done.out.splitlines() if " · " in line]
    assert heads == _ALL
    assert [_versions(repo, name, command) for name in _ALL] == [2, 2, 2, 2]
    assert _runs(repo.parent / "plans.json.journal") == [(name, "applied") for name in _ALL]
    status = command("apply", "--status", plans, "--repo", repo)
    assert (status.code, "in all: 4 namespaces created, 8 versions" in status.out) == (0, True)
    assert command("apply", plans, "--repo", repo).code == 0


def test_a_failure_stops_what_comes_after_it_and_nothing_else(
    repo: Path,
    plans: Path,
    command: CommandLine,
    second_schema: Callable[[Callable[[], None]], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    second_schema(_cut)

    done = command("apply", plans, "--repo", repo)

    assert done.code == 6
    assert "error: staging: 2 of 3 actions are done, then: the wire is cut" in done.err
    assert "error: production: not begun: staging comes first" in done.err
    assert "error: last: not begun: production comes first" in done.err
    assert _versions(repo, "other", command) == 2
    assert not (repo / "production.db").exists()
    journal = repo.parent / "plans.json.journal"
    assert _runs(journal) == [("staging", "stopped"), ("other", "applied")]
    status = command("apply", "--status", plans, "--repo", repo)
    assert (status.code, status.err) == (6, "not begun: production, last\n")
    assert f"next:pulsar-gitopsapply--resume{plans}looks" in "".join(status.out.split())

    monkeypatch.undo()
    again = command("apply", "--resume", plans, "--repo", repo)
    assert again.code == 0
    assert [_versions(repo, name, command) for name in _ALL] == [2, 2, 2, 2]
    assert command("apply", "--status", plans, "--repo", repo).code == 0


def test_after_an_interrupt_no_other_registry_is_begun(
    repo: Path,
    plans: Path,
    command: CommandLine,
    second_schema: Callable[[Callable[[], None]], None],
) -> None:
    second_schema(lambda: signal.raise_signal(signal.SIGINT))

    with ctrl_c_as_ever():
        done = command("apply", plans, "--repo", repo)

    assert done.code == 130
    assert "applied 3 actions to staging" in done.out
    assert "error: interrupted before other" in done.err
    assert not (repo / "other.db").exists()
    assert command("apply", "--status", plans, "--repo", repo).code == 6


def test_findings_of_one_stop_what_comes_after_it(
    repo: Path, plans: Path, command: CommandLine
) -> None:
    del plans
    other = "schema: {type: INT64}\n"
    assert command("apply", "--auto-approve", "--repo", repo).code == 0
    (repo / "namespaces/shop/orders/paid.yaml").write_text(f"{_HEAD}Topic\n{other}")

    done = command("apply", "--auto-approve", "--registry", "all", "--repo", repo)

    assert done.code == 1
    assert "nothing was applied to staging, because of the findings above" in done.err
    assert "error: production: not begun: staging comes first" in done.err
    assert _versions(repo, "other", command) == 1
    assert not (repo / "production.db").exists()


def test_without_a_plan_file_each_has_its_own_journal(repo: Path, command: CommandLine) -> None:
    both = ("--registry", "production", "--registry", "staging", "--repo", repo)

    done = command("apply", "--auto-approve", *both)

    assert (done.code, done.err) == (0, "")
    for name in ("staging", "production"):
        assert _runs(repo / f".gitops/{name}.journal") == [(name, "applied")]
    refused = command("apply", "--status", *both)
    assert refused.code == 2
    assert "run it once for each: --registry staging" in refused.err


def test_a_common_journal_goes_on_with_the_registry_that_is_named(
    repo: Path,
    command: CommandLine,
    second_schema: Callable[[Callable[[], None]], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    second_schema(_cut)
    common = ("--journal", repo.parent / "journal", "--repo", repo)
    both = ("--registry", "staging", "--registry", "other")
    assert command("apply", "--auto-approve", *both, *common).code == 6
    monkeypatch.undo()

    assert command("apply", "--resume", "--registry", "other", *common).code == 2
    assert command("apply", "--resume", "--registry", "staging", *common).code == 0
    assert command("apply", "--status", *common).code == 0


@pytest.mark.parametrize("cut", [False, True])
def test_json_is_one_document(
    cut: bool,  # noqa: FBT001 - pytest gives it
    repo: Path,
    plans: Path,
    command: CommandLine,
    second_schema: Callable[[Callable[[], None]], None],
) -> None:
    if cut:
        second_schema(_cut)
    file = repo.parent / "applied.json"

    done = command("apply", plans, "--format", "json", "--output", file, "--repo", repo)

    document: dict[str, Any] = json.loads(file.read_text())
    assert schema_problems("applied-plans", document) == []
    assert done.code == (6 if cut else 0)
    names = [one["registry"]["name"] for one in document["applied"]]
    assert names == (["staging", "other"] if cut else _ALL)
    failures = [(one["registry"], one["exitCode"]) for one in document["failures"]]
    assert failures == ([("staging", 6), ("production", 1), ("last", 1)] if cut else [])


def test_a_file_gets_the_reports_of_all(repo: Path, plans: Path, command: CommandLine) -> None:
    file = repo.parent / "report.txt"

    assert command("apply", plans, "--output", file, "--repo", repo).code == 0

    text = file.read_text()
    places = [text.index(f"applied 3 actions to {name}") for name in _ALL]
    assert places == sorted(places)


def test_only_the_registries_that_are_named_are_applied(
    repo: Path, plans: Path, command: CommandLine
) -> None:
    assert command("apply", plans, "--registry", "staging", "--repo", repo).code == 0
    assert not (repo / "other.db").exists()

    refused = command("apply", plans, "--registry", "dead", "--repo", repo)
    assert refused.code == 2
    assert "this plan is for staging, other, production, last, not for dead" in refused.err


def test_a_plan_file_has_a_plan_for_each_registry_or_is_not_written(
    repo: Path, command: CommandLine
) -> None:
    file = repo.parent / "plans.json"
    both = ("--registry", "staging", "--registry", "dead")

    done = command("plan", *both, "--out", file, "--repo", repo)

    assert done.code == 4
    assert "no plan file is written: dead has no plan" in done.err
    assert not file.exists()
    printed = command("plan", *both, "--format", "json", "--repo", repo)
    file.write_text(printed.out)
    refused = command("apply", file, "--repo", repo)
    assert refused.code == 2
    assert "does not have a plan for each of its registries" in refused.err


def test_a_plan_that_was_changed_is_refused(repo: Path, plans: Path, command: CommandLine) -> None:
    document = json.loads(plans.read_text())
    document["plans"][2]["actions"].pop()
    plans.write_text(json.dumps(document))

    done = command("apply", plans, "--repo", repo)

    assert done.code == 2
    assert "the plan file was changed after it was written" in done.err
    assert not (repo / "staging.db").exists()
