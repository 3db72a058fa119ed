"""One life of a repository, the same on the embedded registry, on `serve`, and on a broker."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.scenarios.registries import Command, Live
from tests.scenarios.repositories import edit_json, empty_for, template_for


def _plan(command: Command, repo: Path, *more: str) -> dict[str, Any]:
    code, text = command("plan", "--repo", str(repo), "--format", "json", *more)
    document: dict[str, Any] = json.loads(text)
    assert code == (1 if document["summary"]["refused"] else 0)
    return document


def test_from_init_to_import(live: Live, tmp_path: Path, command: Command) -> None:
    repo = template_for(tmp_path / "repo", live.tenant, live.registries)
    orders = repo / "namespaces" / live.tenant / "orders"

    assert command("validate", "--repo", str(repo)) == (0, "no findings\n")

    # init → plan → apply → plan is empty
    plan_file = str(tmp_path / "plan.json")
    first = _plan(command, repo, "--out", plan_file)
    assert first["summary"]["add"] == 5
    assert first["summary"]["refused"] == 0
    code, _ = command("apply", "--repo", str(repo), plan_file)
    assert code == 0
    _assert_nothing_to_do(_plan(command, repo))

    # A topic has policies of its own once it exists.
    live.create_topic("orders/order-by-customer")
    _say_the_policies(orders / "order-by-customer.yaml")
    own = _plan(command, repo)
    assert [(a["action"], a["before"], a["after"]) for a in own["actions"]] == [
        ("SetPolicy", None, "FULL")
    ]
    assert own["unmanaged"] == []
    assert command("apply", "--repo", str(repo), "--auto-approve")[0] == 0

    # The plan was made for a registry that is no more.
    code, _ = command("plan", "--repo", str(repo), "--detailed-exitcode")
    assert code == 0

    # edit → plan → apply: a good change, and one that only Pulsar's eyes do not see
    edit_json(orders / "order-created.avsc", _add_coupon)
    edit_json(orders / "order-cancelled.avsc", lambda schema: schema.update(doc="Other words."))
    second = _plan(command, repo)
    assert [(a["action"], a["version"]) for a in second["actions"]] == [("RegisterSchema", 1)]
    assert [n["notice"] for n in second["notices"]] == ["Swallowed"]
    assert command("apply", "--repo", str(repo), "--auto-approve")[0] == 0
    third = _plan(command, repo)
    assert third["actions"] == []
    assert [n["notice"] for n in third["notices"]] == ["Swallowed"]

    # a breaking change is refused, and nothing of it is applied
    good = (orders / "order-created.avsc").read_bytes()
    edit_json(orders / "order-created.avsc", _require_channel)
    refused = _plan(command, repo)
    assert [f["rule"] for f in refused["findings"] if f["severity"] == "error"] == ["AVRO-R002"]
    assert command("apply", "--repo", str(repo), "--auto-approve")[0] == 1

    # A revert to the first version is told for ever and never planned; here without git, so that
    # nobody knows whether the files ever had the latest one.
    edit_json(orders / "order-created.avsc", _remove_coupon_and_channel)
    for _ in range(2):
        reverted = _plan(command, repo)
        assert reverted["actions"] == []
        assert [n["notice"] for n in reverted["notices"]] == ["Swallowed", "Drift"]
    (orders / "order-created.avsc").write_bytes(good)

    # import into a new folder → plan is empty
    other = empty_for(tmp_path / "other", live.registries)
    namespaces = [f"{live.tenant}/orders", f"{live.tenant}/payments"]
    recorded_first = command("snapshot", "--repo", str(repo))
    assert recorded_first[0] == 0
    _share_snapshots(repo, other)
    assert command("import", "--repo", str(other), *namespaces)[0] == 0
    imported = _plan(command, other)
    _assert_nothing_to_do(imported)
    assert imported["summary"]["topics"] == 5


def test_a_stale_plan_is_refused(live: Live, tmp_path: Path, command: Command) -> None:
    repo = template_for(tmp_path / "repo", live.tenant, live.registries)
    plan_file = str(tmp_path / "plan.json")
    _plan(command, repo, "--out", plan_file)
    topic = f"{live.tenant}/payments/captured"

    # Somebody else is faster: the namespace has to be there for that.
    assert command("apply", "--repo", str(repo), "--auto-approve")[0] == 0
    edit_json(repo / "namespaces" / live.tenant / "payments" / "captured.avsc", _add_coupon)
    _plan(command, repo, "--out", plan_file)
    definition = tmp_path / "other.avsc"
    definition.write_text(_with_other_field(command, repo, topic), encoding="utf-8")
    args = ["--repo", str(repo), topic, "--type", "AVRO", str(definition)]
    assert command("schemas", "upload", *args) == (0, "1\n")

    with pytest.raises(Exception, match="changed since the plan was made") as caught:
        command("apply", "--repo", str(repo), plan_file)
    assert getattr(caught.value, "exit_code", None) == 5


def test_a_half_applied_plan_is_taken_up_again(
    live: Live, tmp_path: Path, command: Command
) -> None:
    repo = template_for(tmp_path / "repo", live.tenant, live.registries)
    plan_file = str(tmp_path / "plan.json")
    _plan(command, repo, "--out", plan_file)

    # What a broken connection would leave: the first actions are done by hand.
    namespace = f"{live.tenant}/payments"
    assert _create_by_policy(command, repo, namespace)

    assert command("apply", "--repo", str(repo), plan_file)[0] == 0
    _assert_nothing_to_do(_plan(command, repo))


def _create_by_policy(command: Command, repo: Path, namespace: str) -> bool:
    """Carry out the plan's own first actions: the namespace, and one of its policies."""
    from gitops.cli.session import open_registry, open_repository
    from gitops.model.names import NamespaceName

    name = NamespaceName.parse(namespace)
    with open_registry(open_repository(repo), None) as (registry, _):
        if name not in registry.list_namespaces():
            registry.create_namespace(name)
    args = ["--repo", str(repo), namespace, "schemaCompatibilityStrategy=FULL"]
    return command("policies", "set", *args)[0] == 0


def _say_the_policies(manifest: Path) -> None:
    """What the template has as a comment."""
    text = manifest.read_text(encoding="utf-8")
    said = text.replace("# policies:\n#   schema", "policies:\n  schema")
    assert said != text
    manifest.write_text(said, encoding="utf-8")


def _share_snapshots(source: Path, target: Path) -> None:
    """A cluster does not list topics that were never created; a snapshot names them."""
    for path in sorted((source / "snapshots").rglob("*.json")):
        copy = target / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())


def _assert_nothing_to_do(plan: dict[str, Any]) -> None:
    assert plan["actions"] == []
    assert [n for n in plan["notices"] if n["notice"] != "Swallowed"] == []


def _add_coupon(schema: dict[str, Any]) -> None:
    schema["fields"].append({"name": "coupon", "type": ["null", "string"], "default": None})


def _require_channel(schema: dict[str, Any]) -> None:
    schema["fields"].append({"name": "channel", "type": "string"})


def _remove_coupon_and_channel(schema: dict[str, Any]) -> None:
    schema["fields"] = [f for f in schema["fields"] if f["name"] not in ("coupon", "channel")]


def _with_other_field(command: Command, repo: Path, topic: str) -> str:
    code, text = command("schemas", "get", "--repo", str(repo), topic)
    assert code == 0
    schema = json.loads(text)
    schema["fields"].append({"name": "other", "type": ["null", "int"], "default": None})
    return json.dumps(schema)
