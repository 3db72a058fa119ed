"""Policies that nobody has set are not imported, as far as a registry tells."""

from __future__ import annotations

import json
from pathlib import Path

from gitops.repository.yaml.parser import parse_yaml
from tests.scenarios.registries import Command, Live
from tests.scenarios.repositories import empty_for
from tests.support.admin_rest import admin_request


def test_what_nobody_has_set_is_not_written(live: Live, tmp_path: Path, command: Command) -> None:
    spaces = {"plain": {}, "strict": {"schemaCompatibilityStrategy": "BACKWARD"}}
    maker = empty_for(tmp_path / "maker", live.registries)
    for name, policies in spaces.items():
        manifest = {
            "apiVersion": "pulsar-gitops/v1", "kind": "Namespace",
            "namespace": f"{live.tenant}/{name}", **policies,
        }  # fmt: skip
        file = maker / f"namespaces/{live.tenant}/{name}/namespace.yaml"
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps(manifest), "utf-8")
    assert command("apply", "--auto-approve", "--repo", str(maker))[0] == 0
    if live.admin:
        answer = json.loads(admin_request("GET", f"{live.admin}/namespaces/{live.tenant}/plain"))
        assert answer["schema_compatibility_strategy"] == "UNDEFINED"
        assert answer["schema_validation_enforced"] is False
        # Nobody can tell this one from one that was set.
        assert answer["is_allow_auto_update_schema"] is True
    repo = empty_for(tmp_path / "repo", live.registries)

    names = [f"{live.tenant}/{name}" for name in spaces]
    assert command("import", *names, "--repo", str(repo))[0] == 0

    answered = {"isAllowAutoUpdateSchema": True} if live.admin else {}
    for name, policies in spaces.items():
        file = repo / f"namespaces/{live.tenant}/{name}/namespace.yaml"
        written = parse_yaml(file.read_bytes()).value
        assert written == {
            "apiVersion": "pulsar-gitops/v1", "kind": "Namespace",
            "namespace": f"{live.tenant}/{name}", **policies, **answered,
        }  # fmt: skip
    planned = json.loads(command("plan", "--format", "json", "--repo", str(repo))[1])
    assert (planned["actions"], planned["findings"]) == ([], [])
