"""Versions that somebody registered past git, on each registry."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gitops.model.names import NamespaceName
from tests.scenarios.registries import Command, Live
from tests.scenarios.repositories import empty_for
from tests.support.git_repos import GitRepository
from tests.support.pulsar_broker import RunningBroker
from tests.support.states import field, record

_OPTIONAL = ["null", "string"]


def _text(*names: str) -> str:
    optional = (field(name, _OPTIONAL, default=None) for name in names)
    return json.dumps(record(field("id"), *optional))


def _repository(root: Path, namespace: str) -> GitRepository:
    """A repository with one topic, committed."""
    repo = GitRepository(root)
    folder = f"namespaces/{namespace}"
    head = "apiVersion: pulsar-gitops/v1\nkind: "
    repo.commit(
        {
            f"{folder}/namespace.yaml": f"{head}Namespace\nnamespace: {namespace}\n",
            f"{folder}/order.yaml": head + "Topic\nschema: {type: AVRO, definition: order.avsc}\n",
            f"{folder}/order.avsc": _text("note"),
        }
    )
    return repo


def _plan(command: Command, repo: GitRepository, code: int) -> dict[str, Any]:
    args = ("--detailed-exitcode", "--format", "json")
    found, text = command("plan", "--repo", str(repo.root), *args)
    assert found == code, text
    assert command("plan", "--repo", str(repo.root))[0] == 0
    document: dict[str, Any] = json.loads(text)
    return document


def test_what_is_registered_by_hand_is_a_difference_and_a_revert_is_none(
    live: Live, tmp_path: Path, command: Command
) -> None:
    namespace = f"{live.tenant}/shop"
    repo = _repository(empty_for(tmp_path / "repo", live.registries), namespace)
    definition = f"namespaces/{namespace}/order.avsc"
    apply = ("apply", "--repo", str(repo.root), "--auto-approve")
    assert command(*apply)[0] == 0

    by_hand = tmp_path / "by-hand.avsc"
    by_hand.write_text(_text("note", "coupon"), "utf-8")
    upload = ("schemas", "upload", f"{namespace}/order", str(by_hand), "--type", "AVRO")
    assert command(*upload, "--repo", str(repo.root))[0] == 0

    made = _plan(command, repo, 0)
    (notice,) = made["notices"]
    assert (notice["notice"], notice["equalVersion"], notice["latestVersion"]) == ("Drift", 0, 1)
    assert [(one["kind"], one["path"]) for one in notice["changes"]] == [("added", "coupon")]
    assert notice["unknownVersions"][0]["timestamp"] > 1_600_000_000_000
    assert [one["rule"] for one in made["findings"]] == ["PLAN-R010"]
    # There is nothing that an apply could do, so `--detailed-exitcode` asks for no approval.
    assert (made["actions"], made["summary"]["drift"], command(*apply)[0]) == ([], 1, 0)

    repo.write({definition: _text("note", "colour")})
    on_top = _plan(command, repo, 3)
    assert [action["version"] for action in on_top["actions"]] == [2]
    assert "PLAN-R010" in {one["rule"] for one in on_top["findings"]}

    # Git gets it: then going back is a revert.
    repo.commit({definition: _text("note", "coupon")})
    assert _plan(command, repo, 0)["summary"]["unchanged"] == 1
    repo.git("revert", "--no-edit", "HEAD")
    reverted = _plan(command, repo, 0)
    assert [one["notice"] for one in reverted["notices"]] == ["WithoutEffect"]


@pytest.mark.broker
def test_what_a_producer_registers_is_a_difference(
    pulsar: RunningBroker, pulsar_namespace: NamespaceName, tmp_path: Path, command: Command
) -> None:
    client = pytest.importorskip("pulsar", reason="the extra 'pulsar' is not installed")
    if not pulsar.service_url:
        pytest.skip("PULSAR_ADMIN_URL names a broker whose binary port is not known")
    registries = f"{{kind: pulsar, url: '{pulsar.admin_url}'}}"
    repo = _repository(empty_for(tmp_path / "repo", registries), str(pulsar_namespace))
    assert command("apply", "--repo", str(repo.root), "--auto-approve")[0] == 0

    class Order(client.schema.Record):  # type: ignore[misc,name-defined]  # the client has no types
        id = client.schema.String(required=True)
        note = client.schema.String(required_default=True)
        coupon = client.schema.String(required_default=True)

    connection = client.Client(pulsar.service_url)
    try:
        topic = f"persistent://{pulsar_namespace}/order"
        connection.create_producer(topic, schema=client.schema.AvroSchema(Order)).close()
    finally:
        connection.close()

    (notice,) = _plan(command, repo, 0)["notices"]
    assert notice["notice"] == "Drift"
    assert [(one["kind"], one["path"]) for one in notice["changes"]] == [("added", "coupon")]
