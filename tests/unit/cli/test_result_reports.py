"""What `apply`, `import` and `snapshot` did: as lines for people, or as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gitops.model.config import RegistryConfig
from gitops.model.errors import OutsideError
from gitops.model.names import TopicName
from gitops.model.schema import SchemaInfo
from gitops.registries.embedded.registry import EmbeddedRegistry
from tests.support.command_line import CommandLine

pytestmark = pytest.mark.slow


def _applied(text: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(text)
    assert document["kind"] == "Applied"
    return document


def _outcomes(document: dict[str, Any]) -> list[str]:
    return [one["outcome"] for one in document["results"]]


def test_an_apply_tells_every_action(repo: Path, tmp_path: Path, command: CommandLine) -> None:
    plan_file, output = tmp_path / "plan.json", tmp_path / "applied.json"
    command("plan", "--repo", repo, "--out", plan_file)
    plan = json.loads(plan_file.read_text())

    done = command("apply", "--repo", repo, plan_file, "--format", "json", "--output", output)

    assert (done.code, done.out, done.err) == (0, "", "applied 13 actions to local\n")
    document = _applied(output.read_text())
    assert document["registry"] == {"name": "local", "address": ".gitops/registry.db"}
    assert (document["plan"], document["doneBefore"]) == (plan["digest"], 0)
    assert [one["action"] for one in document["results"]] == plan["actions"]
    assert set(_outcomes(document)) == {"done"}
    versions = [one["version"] for one in document["results"]]
    assert sorted(versions, key=str) == [0] * 5 + [None] * 8

    again = command("apply", "--repo", repo, plan_file, "--format", "json")
    assert (again.code, "nothing left to do" in again.err) == (0, True)
    document = _applied(again.out)
    assert (document["plan"], document["doneBefore"]) == (plan["digest"], 13)
    assert document["results"] == []


def test_findings_leave_every_action_unattempted(applied: Path, command: CommandLine) -> None:
    definition = applied / "namespaces/shop/orders/order-created.avsc"
    content = json.loads(definition.read_text())
    content["fields"].append({"name": "added", "type": "int"})
    definition.write_text(json.dumps(content))
    manifest = applied / "namespaces/shop/payments/namespace.yaml"
    manifest.write_text(manifest.read_text().replace("Enforced: true", "Enforced: false"))

    done = command("apply", "--repo", applied, "--auto-approve", "--format", "json")

    assert (done.code, "nothing was applied" in done.err) == (1, True)
    document = _applied(done.out)
    assert _outcomes(document) == ["notAttempted"]
    assert "AVRO-R002" in {one["rule"] for one in document["findings"]}


class _Failing(EmbeddedRegistry):
    """Fails at the third schema."""

    def register_schema(self, topic: TopicName, info: SchemaInfo) -> int:
        if topic.local_name == "order-created":
            raise OutsideError("the broker went away", where="there", hint="call somebody")
        return super().register_schema(topic, info)


def test_an_apply_that_stops_half_way_tells_where(
    repo: Path, command: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def opened(name: str, _config: RegistryConfig, root: Path) -> EmbeddedRegistry:
        return _Failing(name, root / "registry.db")

    monkeypatch.setattr("gitops.registries.factory.open_registry", opened)
    done = command("apply", "--repo", repo, "--auto-approve", "--format", "json")
    assert (done.code, "then: the broker went away" in done.err) == (6, True)
    document = _applied(done.out)
    outcomes = _outcomes(document)
    failed = outcomes.index("failed")
    assert outcomes == ["done"] * failed + ["failed"] + ["notAttempted"] * (12 - failed)
    assert document["results"][failed]["action"]["topic"] == "shop/orders/order-created"
    assert document["results"][failed]["error"] == {
        "message": "the broker went away",
        "where": "there",
        "hint": "call somebody; then run the same command again: it goes on where it stopped",
        "exitCode": 4,
    }


def test_a_text_apply_puts_the_plan_into_a_file(
    repo: Path, tmp_path: Path, command: CommandLine
) -> None:
    done = command("apply", "--repo", repo, "--auto-approve", "--output", tmp_path / "plan.txt")
    assert (done.code, done.out) == (0, "")
    assert "5 to add" in (tmp_path / "plan.txt").read_text("utf-8")


def test_an_import_tells_files_and_topics(
    applied: Path, tmp_path: Path, command: CommandLine
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    database = applied / ".gitops/registry.db"
    (other / "gitops.yaml").write_text(
        "apiVersion: pulsar-gitops/v1\nkind: Config\n"
        f"registries: {{live: {{kind: embedded, path: '{database}'}}}}\n"
    )
    before = {path for path in other.rglob("*") if path.is_file()}

    done = command("import", "--repo", other, "shop/orders", "--format", "json")

    assert (done.code, done.err) == (0, "")
    document = json.loads(done.out)
    written = {path for path in other.rglob("*") if path.is_file()} - before
    assert document["files"] == sorted(path.relative_to(other).as_posix() for path in written)
    assert (len(document["topics"]), document["kept"]) == (4, [])
    assert document["registry"]["name"] == "live"

    again = json.loads(command("import", "--repo", other, "shop/orders", "--format", "json").out)
    assert (again["files"], again["topics"], again["kept"]) == ([], [], document["topics"])


def test_a_snapshot_tells_its_files(applied: Path, command: CommandLine) -> None:
    first, again = (
        json.loads(command("snapshot", "--repo", applied, "--format", "json").out) for _ in "12"
    )
    files = [path.relative_to(applied).as_posix() for path in applied.rglob("snapshots/**/*.json")]
    assert first["files"] == again["files"] == sorted(files)
    assert (first["changed"], again["changed"]) == (len(files), 0)


@pytest.mark.parametrize(
    ("name", "said"),
    [("import", "kept the manifest of shop/orders/order-created"), ("snapshot", "of them changed")],
)
def test_what_is_said_to_people_goes_into_a_file_too(
    name: str, said: str, applied: Path, tmp_path: Path, command: CommandLine
) -> None:
    told = command(name, "--repo", applied).err
    done = command(name, "--repo", applied, "--no-color", "--output", tmp_path / "said.txt")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert said in told
    assert said in (tmp_path / "said.txt").read_text("utf-8")
