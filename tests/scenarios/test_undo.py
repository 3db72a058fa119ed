"""A change that was applied is undone, on each registry: by its plan file, and by its commit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from gitops.model.errors import NotThereError
from tests.scenarios.registries import Command, Live
from tests.scenarios.repositories import empty_for
from tests.support.admin_rest import admin_request
from tests.support.git_repos import GitRepository
from tests.support.states import field, record

_HEAD: Final = "apiVersion: pulsar-gitops/v1\nkind: "
_SAFETY: Final = "safety: {allowDeletions: true, maxChangedShare: 1.0}\n"


def _definition(*names: str) -> str:
    optional = (field(name, ["null", "string"], default=None) for name in names)
    return f"// ours\n{json.dumps(record(field('id'), *optional))}"


def _topic(schema: str, more: str = "") -> str:
    return f"{_HEAD}Topic\n# about it\nschema: {schema}\n{more}"


class _Cluster:
    """A repository with two topics, applied, and a change of it that was applied, too."""

    def __init__(self, root: Path, live: Live, command: Command) -> None:
        self.repo = GitRepository(empty_for(root, live.registries))
        self.live, self._command = live, command
        self.space = f"{live.tenant}/shop"
        self.folder = f"namespaces/{self.space}"
        self.plan_file = root.parent / "plan.json"
        self.undo_file = root.parent / "undo.json"

    def __call__(self, *args: str, code: int = 0) -> str:
        found, text = self._command(*args, "--repo", str(self.repo.root))
        assert found == code, text
        return text

    def settle(self) -> None:
        settings = (self.repo.root / "gitops.yaml").read_text("utf-8")
        self.apply(
            {
                "gitops.yaml": f"{settings}{_SAFETY}",
                f"{self.folder}/namespace.yaml": self.namespace("BACKWARD"),
            }
        )
        self.live.create_topic("shop/kept")
        self.apply(
            {
                f"{self.folder}/kept.yaml": _topic("{type: AVRO, definition: kept.avsc}"),
                f"{self.folder}/kept.avsc": _definition("a"),
                f"{self.folder}/gone.yaml": _topic("{type: JSON, definition: gone.avsc}"),
                f"{self.folder}/gone.avsc": _definition(),
            }
        )

    def namespace(self, strategy: str) -> str:
        policies = f"schemaCompatibilityStrategy: {strategy} # agreed\n"
        return f"{_HEAD}Namespace\nnamespace: {self.space}\n{policies}"

    def change(self) -> None:
        """A version, policies of both kinds, a new topic, and one without a manifest."""
        own = "policies: {schemaCompatibilityStrategy: ALWAYS_COMPATIBLE}\n"
        self.apply(
            {
                f"{self.folder}/namespace.yaml": self.namespace("FULL"),
                f"{self.folder}/kept.yaml": _topic("{type: AVRO, definition: kept.avsc}", own),
                f"{self.folder}/kept.avsc": _definition("a", "b"),
                f"{self.folder}/new.yaml": _topic("{type: STRING}"),
                f"{self.folder}/gone.yaml": None,
                f"{self.folder}/gone.avsc": None,
            }
        )

    def apply(self, files: dict[str, str | None]) -> None:
        self.repo.write(files)
        self("fmt")
        self.repo.commit()
        self("plan", "--prune", "--out", str(self.plan_file))
        self("apply", str(self.plan_file))

    def undo(self, change: str, code: int = 0) -> dict[str, Any]:
        options = ("--out", str(self.undo_file), "--format", "json")
        found: dict[str, Any] = json.loads(self("plan", "--undo", change, *options, code=code))
        return found

    def versions(self, topic: str) -> list[str]:
        try:
            lines = self("schemas", "versions", f"{self.space}/{topic}").splitlines()
        except NotThereError:
            return []
        return [line.split()[0] for line in lines if line.startswith("v")]

    def policy(self, subject: str) -> str:
        return self("policies", "get", subject)


def _subjects(plan: dict[str, Any], part: str) -> dict[str, str]:
    """The findings of the rule whose message has these words, by the last name of the subject."""
    return {
        one["subject"].rpartition("/")[2]: one["message"]
        for one in plan["findings"]
        if one["rule"] == "PLAN-R017" and part in one["message"]
    }


@pytest.mark.slow
@pytest.mark.rule("PLAN-R017")
def test_a_commit_is_undone(live: Live, tmp_path: Path, command: Command) -> None:
    cluster = _Cluster(tmp_path / "repo", live, command)
    cluster.settle()
    before = {
        path: (cluster.repo.root / cluster.folder / path).read_text("utf-8")
        for path in ("namespace.yaml", "kept.yaml", "gone.yaml", "gone.avsc")
    }
    cluster.change()

    plan = cluster.undo("HEAD")

    actions = {(one["action"], one.get("topic", "").rpartition("/")[2]) for one in plan["actions"]}
    assert actions >= {("RegisterSchema", "kept"), ("RegisterSchema", "gone")}
    assert ("DeleteSchema", "new") in actions
    assert [a["whileEmpty"] for a in plan["actions"] if a["action"] == "DeleteSchema"] == [True]
    assert _subjects(plan, "stays registered").keys() == {"kept"}
    assert _subjects(plan, "do not come back").keys() == {"gone"}
    assert _subjects(plan, "schemaCompatibilityStrategy stays ALWAYS_COMPATIBLE").keys() == {"kept"}
    for path, text in before.items():
        assert (cluster.repo.root / cluster.folder / path).read_text("utf-8") == text
    kept = (cluster.repo.root / cluster.folder / "kept.avsc").read_text("utf-8")
    assert kept.startswith("// ours\n")
    assert '"revision": "2"' in kept
    cluster("fmt", "--check")
    cluster("apply", str(cluster.undo_file))
    assert cluster.versions("kept") == ["v0", "v1", "v2"]
    assert len(cluster.versions("gone")) == 1
    assert cluster.versions("new") == []
    assert "BACKWARD" in cluster.policy(cluster.space)
    cluster("plan", "--detailed-exitcode")


@pytest.mark.slow
def test_a_plan_is_undone(live: Live, tmp_path: Path, command: Command) -> None:
    cluster = _Cluster(tmp_path / "repo", live, command)
    cluster.settle()
    cluster("snapshot")
    cluster.repo.commit()
    cluster.change()

    plan = cluster.undo(str(cluster.plan_file))

    assert _subjects(plan, "not undone") == {}
    text = (cluster.repo.root / cluster.folder / "namespace.yaml").read_text("utf-8")
    assert "schemaCompatibilityStrategy: BACKWARD # agreed" in text
    text = (cluster.repo.root / cluster.folder / "kept.yaml").read_text("utf-8")
    assert "schemaCompatibilityStrategy: UNDEFINED" in text
    cluster("validate")
    cluster("fmt", "--check")
    cluster("apply", str(cluster.undo_file))
    assert cluster.versions("kept") == ["v0", "v1", "v2"]
    assert len(cluster.versions("gone")) == 1
    assert cluster.versions("new") == []
    in_force = cluster.policy(f"{cluster.space}/kept").splitlines()[-1]
    assert in_force.split() == ["the", "strategy", "in", "force", "BACKWARD"]
    assert json.loads(cluster("plan", "--format", "json"))["actions"] == []
    assert cluster.undo(str(cluster.plan_file))["actions"] == []


@pytest.mark.slow
def test_a_strategy_that_refuses_the_way_back_is_shown(
    live: Live, tmp_path: Path, command: Command
) -> None:
    cluster = _Cluster(tmp_path / "repo", live, command)
    cluster.settle()
    cluster.apply({f"{cluster.folder}/namespace.yaml": cluster.namespace("FORWARD")})
    fields = record(field("id"), field("must", "string"))
    cluster.apply({f"{cluster.folder}/kept.avsc": json.dumps(fields)})

    plan = cluster.undo("HEAD", code=1)

    (refused,) = plan["notices"]
    assert (refused["notice"], refused["topic"]) == ("Refused", f"{cluster.space}/kept")
    cluster("apply", str(cluster.undo_file), code=1)


@pytest.mark.slow
def test_what_somebody_registered_since_is_not_deleted(
    live: Live, tmp_path: Path, command: Command
) -> None:
    cluster = _Cluster(tmp_path / "repo", live, command)
    cluster.settle()
    cluster.apply(
        {
            f"{cluster.folder}/new.yaml": _topic("{type: AVRO, definition: new.avsc}"),
            f"{cluster.folder}/new.avsc": _definition(),
        }
    )
    by_hand = tmp_path / "by-hand.avsc"
    by_hand.write_text(_definition("x"), "utf-8")
    cluster("schemas", "upload", f"{cluster.space}/new", str(by_hand), "--type", "AVRO")

    plan = cluster.undo(str(cluster.plan_file))

    assert plan["actions"] == []
    assert "the change did not register v1" in _subjects(plan, "its schema stays")["new"]
    assert plan["unmanaged"] == [f"{cluster.space}/new"]
    assert cluster.versions("new") == ["v0", "v1"]
    if live.admin:
        admin_request("DELETE", f"{live.admin}/schemas/{cluster.space}/new/schema")
