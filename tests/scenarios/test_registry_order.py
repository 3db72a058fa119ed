"""One registry after another: shown by plan, kept by apply, whatever another one does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gitops.model.errors import OutsideError
from gitops.registries.embedded.registry import EmbeddedRegistry
from gitops.registries.server.server import serve_in_thread
from tests.scenarios.registries import Command
from tests.scenarios.repositories import TENANT, edit_json, template_for

_CONFIG = """\
apiVersion: pulsar-gitops/v1
kind: Config
defaultRegistry: staging
registries:
  production: {{kind: embedded, path: '{folder}/production.db', after: staging}}
  staging: {staging}
  dead: {{kind: pulsar, url: 'http://127.0.0.1:1'}}
  last: {{kind: embedded, path: '{folder}/last.db', after: dead}}
groups: {{all: [production, staging]}}
"""
pytestmark = pytest.mark.slow


@pytest.fixture(params=["embedded", "serve"])
def repo(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """The template with a registry for staging, and one after it."""
    folder = template_for(tmp_path / "repo", TENANT, "{}")
    manifest = f"apiVersion: pulsar-gitops/v1\nkind: Tenant\ntenant: {TENANT}\n"
    (folder / "namespaces" / TENANT / "tenant.yaml").write_text(manifest)
    staging = f"{{kind: embedded, path: '{tmp_path}/staging.db'}}"
    if request.param == "embedded":
        (folder / "gitops.yaml").write_text(_CONFIG.format(folder=tmp_path, staging=staging))
        yield folder
        return
    with serve_in_thread(EmbeddedRegistry("served", tmp_path / "served.db")) as url:
        staging = f"{{kind: pulsar, url: '{url}'}}"
        (folder / "gitops.yaml").write_text(_CONFIG.format(folder=tmp_path, staging=staging))
        yield folder


def _findings(text: str) -> list[tuple[str, str]]:
    """Those about the order: what new policies do to clients is another matter."""
    document: dict[str, Any] = json.loads(text)
    return [
        (finding["rule"], finding["severity"])
        for finding in document["findings"]
        if finding["rule"] not in ("PLAN-R021", "PLAN-R022")
    ]


def test_one_is_applied_after_the_other(command: Command, repo: Path, tmp_path: Path) -> None:
    plan_file = str(tmp_path / "plan.json")
    plan = ("plan", "--repo", str(repo), "--registry", "production", "--format", "json")
    apply = ("apply", "--repo", str(repo))

    code, text = command(*plan, "--out", plan_file)
    assert (code, _findings(text)) == (0, [("PLAN-R016", "info")])
    code, text = command(*apply, plan_file)
    assert code == 1
    assert "staging comes first, and is not applied: 14 actions to carry out" in text
    assert not (tmp_path / "production.db").exists()

    assert command(*apply, "--auto-approve")[0] == 0
    code, text = command(*plan)
    assert (code, _findings(text)) == (0, [])
    assert command(*apply, plan_file)[0] == 0  # the one that was reviewed before


def test_a_schema_that_staging_refuses_stops_production(command: Command, repo: Path) -> None:
    apply = ("apply", "--repo", str(repo), "--auto-approve")
    assert command(*apply)[0] == command(*apply, "--registry", "production")[0] == 0
    definition = repo / "namespaces" / TENANT / "orders" / "order-created.avsc"
    edit_json(definition, lambda schema: schema["fields"].append({"name": "x", "type": "int"}))

    code, text = command("plan", "--repo", str(repo), "--registry", "production")

    assert code == 1
    assert "staging comes first, and is not applied: 1 schema refused" in text


def test_a_group_is_planned_in_order_with_its_skew(command: Command, repo: Path) -> None:
    plan = ("plan", "--repo", str(repo), "--registry", "all", "--format", "json")
    apply = ("apply", "--repo", str(repo), "--auto-approve")
    assert command(*apply)[0] == command(*apply, "--registry", "production")[0] == 0
    definition = repo / "namespaces" / TENANT / "orders" / "order-created.avsc"
    optional = {"name": "x", "type": ["null", "int"], "default": None}
    edit_json(definition, lambda schema: schema["fields"].append(optional))
    noted = json.loads(command(*plan)[1])["plans"][1]["findings"]
    assert [(one["rule"], one["hint"]) for one in noted] == [
        ("PLAN-R016", "an apply of these plans begins with staging")
    ]
    assert command(*apply)[0] == 0

    code, text = command(*plan)
    document = json.loads(text)

    assert code == 0
    assert [one["registry"]["name"] for one in document["plans"]] == ["staging", "production"]
    assert document["versionSkew"] == [
        {
            "topic": f"{TENANT}/orders/order-created",
            "versions": {"staging": 1, "production": 0},
            "sameSchema": False,
        }
    ]


def test_a_first_registry_that_is_gone_stops_an_apply_and_no_plan(
    command: Command, repo: Path, tmp_path: Path
) -> None:
    code, text = command("plan", "--repo", str(repo), "--registry", "last", "--format", "json")
    assert (code, _findings(text)) == (0, [("PLAN-R016", "info")])
    with pytest.raises(OutsideError, match="no answer") as raised:
        command("apply", "--repo", str(repo), "--registry", "last", "--auto-approve")
    assert raised.value.what.startswith("dead comes before last, and has no plan: ")
    assert not (tmp_path / "last.db").exists()

    several = ("--registry", "dead", "--registry", "last", "--registry", "staging")
    code, text = command("plan", "--repo", str(repo), *several, "--format", "json")
    document = json.loads(text)
    assert code == 4
    assert {one["registry"]["name"] for one in document["plans"]} == {"last", "staging"}
    assert [one["registry"] for one in document["failures"]] == ["dead"]


def test_drift_of_the_first_registry_does_not_stop_the_one_after_it(
    command: Command, repo: Path, tmp_path: Path
) -> None:
    apply = ("apply", "--repo", str(repo))
    group = ("--registry", "all")
    assert command(*apply, "--auto-approve", *group)[0] == 0
    definition = repo / "namespaces" / TENANT / "orders" / "order-cancelled.avsc"
    by_hand = tmp_path / "by-hand.avsc"
    by_hand.write_bytes(definition.read_bytes())
    optional = {"name": "by_hand", "type": ["null", "int"], "default": None}
    edit_json(by_hand, lambda schema: schema["fields"].append(optional))
    topic = f"{TENANT}/orders/order-cancelled"
    upload = ("schemas", "upload", topic, str(by_hand), "--type", "JSON", "--repo", str(repo))
    assert command(*upload)[0] == 0
    plan_file = str(tmp_path / "plan.json")
    plan = ("plan", "--repo", str(repo), *group, "--detailed-exitcode", "--format", "json")

    code, text = command(*plan)
    assert code == 0, "drift that no apply changes asks for no approval"
    assert json.loads(text)["plans"][0]["summary"]["drift"] == 1

    manifest = repo / "namespaces" / TENANT / "orders" / "added.yaml"
    manifest.write_text("apiVersion: pulsar-gitops/v1\nkind: Topic\nschema: {type: STRING}\n")
    code, text = command(*plan, "--out", plan_file)
    assert (code, [len(one["actions"]) for one in json.loads(text)["plans"]]) == (3, [1, 1])
    assert command(*apply, plan_file)[0] == 0
    code, text = command(*plan)
    assert (code, [one["actions"] for one in json.loads(text)["plans"]]) == (0, [[], []])
