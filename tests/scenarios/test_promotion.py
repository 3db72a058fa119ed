"""A registry without tenant, namespace or topic is brought up by one plan and one apply.

So is a second, empty cluster, from the files of the first.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from gitops.cli.app import run
from gitops.registries.embedded.registry import EmbeddedRegistry
from gitops.registries.server.server import serve_in_thread
from gitops.repository.folder import write_files
from tests.scenarios.registries import Command
from tests.scenarios.repositories import TENANT, template_for, write_config
from tests.support.admin_rest import admin_request
from tests.support.git_repos import GitRepository
from tests.support.pulsar_broker import BrokerSettings, BrokerUnavailableError, pulsar_broker

_HEAD = "apiVersion: pulsar-gitops/v1\nkind: "
_FILES = {
    f"namespaces/{TENANT}/tenant.yaml": f"{_HEAD}Tenant\ntenant: {TENANT}\nadminRoles: [ops]\n",
    f"namespaces/{TENANT}/orders/namespace.yaml": (
        f"{_HEAD}Namespace\nnamespace: {TENANT}/orders\nschemaCompatibilityStrategy: FULL\n"
    ),
    f"namespaces/{TENANT}/orders/created.yaml": (
        f"{_HEAD}Topic\npartitions: 3\nschema: {{type: STRING}}\n"
        "policies: {schemaCompatibilityStrategy: BACKWARD}\n"
    ),
    f"namespaces/{TENANT}/orders/cancelled.yaml": (
        f"{_HEAD}Topic\ncreate: true\nschema: {{type: INT64}}\n"
    ),
    f"namespaces/{TENANT}/orders/raw.yaml": f"{_HEAD}Topic\npartitions: 2\n",
}
_IN_ORDER = [
    "CreateTenant",
    "CreateNamespace",
    "SetPolicy",
    "CreateTopic",
    "RegisterSchema",
    "CreateTopic",
    "SetPolicy",
    "RegisterSchema",
    "CreateTopic",
]


@pytest.fixture(params=["embedded", "as cluster", "serve"])
def registries(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """An empty registry of each kind, as `gitops.yaml` has it."""
    if request.param == "serve":
        with serve_in_thread(EmbeddedRegistry("served", tmp_path / "served.db")) as url:
            yield f"{{kind: pulsar, url: '{url}'}}"
        return
    strict = str(request.param == "as cluster").lower()
    yield f"{{kind: embedded, path: {tmp_path / 'live.db'}, asCluster: {strict}}}"


@pytest.fixture
def repo(tmp_path: Path, registries: str) -> Path:
    folder = tmp_path / "repo"
    write_files(folder, {path: text.encode() for path, text in _FILES.items()})
    write_config(folder, registries)
    return folder


def _plan(command: Command, repo: Path, *more: str, code: int = 0) -> dict[str, Any]:
    found, text = command("plan", "--repo", str(repo), "--format", "json", *more)
    assert found == code
    document: dict[str, Any] = json.loads(text)
    return document


def _edit(repo: Path, name: str, old: str, new: str) -> None:
    path = repo / "namespaces" / TENANT / name
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_one_plan_and_one_apply_bring_it_up(command: Command, repo: Path, tmp_path: Path) -> None:
    plan_file = str(tmp_path / "plan.json")

    first = _plan(command, repo, "--out", plan_file)
    assert [one["action"] for one in first["actions"]] == _IN_ORDER
    assert [one["rule"] for one in first["findings"]] == ["PLAN-R018"]
    assert command("apply", "--repo", str(repo), plan_file)[0] == 0

    again = _plan(command, repo)
    assert (again["actions"], again["findings"]) == ([], [])
    _, status = command("apply", "--repo", str(repo), "--status", plan_file)
    assert "1 tenant created, 3 topics created, 1 namespace created" in status


def test_what_is_there_is_never_changed(command: Command, repo: Path) -> None:
    assert command("apply", "--repo", str(repo), "--auto-approve")[0] == 0
    _edit(repo, "orders/created.yaml", "partitions: 3", "partitions: 4")
    (repo / "namespaces" / TENANT / "orders" / "raw.yaml").unlink()
    (repo / "namespaces" / TENANT / "tenant.yaml").unlink()

    plan = _plan(command, repo)

    assert plan["actions"] == []
    assert [one["rule"] for one in plan["findings"]] == ["PLAN-R015"]


def test_what_was_created_meanwhile_is_not_created_again(
    command: Command, repo: Path, tmp_path: Path
) -> None:
    plan_file, other = str(tmp_path / "plan.json"), str(tmp_path / "other.json")
    _plan(command, repo, "--out", plan_file)
    whole = (repo / "namespaces" / TENANT / "orders" / "raw.yaml").read_text(encoding="utf-8")
    _edit(repo, "orders/raw.yaml", "partitions: 2", "partitions: 5")
    _plan(command, repo, "--out", other)
    assert command("apply", "--repo", str(repo), other)[0] == 0
    (repo / "namespaces" / TENANT / "orders" / "raw.yaml").write_text(whole, encoding="utf-8")

    # All that it creates is there; the other number of partitions is for a person to look at.
    code, text = command("apply", "--repo", str(repo), plan_file)
    assert code == 0
    assert "nothing left to do" in text


@pytest.mark.parametrize("registries", ["as cluster", "serve"], indirect=True)
def test_a_plan_says_once_what_must_be_there_first(command: Command, repo: Path) -> None:
    for name, key in (("created", "partitions: 3\n"), ("cancelled", "create: true\n")):
        _edit(repo, f"orders/{name}.yaml", key, "")
    _edit(
        repo,
        "orders/cancelled.yaml",
        "schema:",
        "policies: {schemaValidationEnforced: true}\nschema:",
    )
    (repo / "namespaces" / TENANT / "tenant.yaml").unlink()

    plan = _plan(command, repo, code=1)
    code, text = command("plan", "--repo", str(repo))

    assert sorted({(one["rule"], one["subject"]) for one in plan["findings"]}) == [
        ("PLAN-R006", TENANT),
        ("PLAN-R008", f"{TENANT}/orders/cancelled"),
        ("PLAN-R008", f"{TENANT}/orders/created"),
    ]
    assert code == 1
    assert text.count("PLAN-R008") == text.count("PLAN-R006") == 1
    assert command("apply", "--repo", str(repo), "--auto-approve")[0] == 1


@pytest.mark.parametrize("registries", ["serve"], indirect=True)
def test_a_pull_request_shows_what_would_be_created(command: Command, repo: Path) -> None:
    git = GitRepository(repo)
    raw = f"namespaces/{TENANT}/orders/raw.yaml"
    git.commit({raw: None})
    git.write({raw: f"{_FILES[raw]}policies: {{schemaCompatibilityStrategy: FULL}}\n"})

    code, text = command("check", "--repo", str(repo), "--base", "HEAD", "--format", "json")

    (plan,) = (one["plan"] for one in json.loads(text)["registries"])
    assert (code, plan["findings"]) == (0, [])
    assert [one["action"] for one in plan["actions"]] == ["CreateTopic", "SetPolicy"]


# A second cluster.

_TWO_CLUSTERS = """\
apiVersion: pulsar-gitops/v1
kind: Config
defaultRegistry: first
registries:
  first: {{kind: pulsar, url: '{first}'}}
  second: {{kind: pulsar, url: '{second}'}}
"""
_PARTITIONS = {"order-created": 4, "order-cancelled": 0, "order-status": 1}


@pytest.fixture(scope="module")
def empty_broker() -> Iterator[str]:
    """The admin endpoint of a broker without any tenant of ours."""
    try:
        with pulsar_broker(BrokerSettings()) as broker:
            yield broker.admin_url
    except BrokerUnavailableError as reason:
        pytest.skip(f"no Pulsar broker: {reason}")


def _repository(folder: Path, tenant: str, urls: Mapping[str, str]) -> Path:
    """The template, with its tenant and some of its topics declared."""
    repo = template_for(folder, tenant, "{}")
    (repo / "gitops.yaml").write_text(_TWO_CLUSTERS.format(**urls))
    space = repo / "namespaces" / tenant
    head = "apiVersion: pulsar-gitops/v1\nkind: Tenant"
    (space / "tenant.yaml").write_text(f"{head}\ntenant: {tenant}\nadminRoles: [ops]\n")
    for name, partitions in _PARTITIONS.items():
        key = f"partitions: {partitions}" if partitions else "create: true"
        own = "policies: {schemaCompatibilityStrategy: FULL_TRANSITIVE}"
        with (space / "orders" / f"{name}.yaml").open("a") as manifest:
            manifest.write(f"{key}\n{own}\n")
    return repo


def _recorded(repo: Path, registry: str) -> dict[str, Any]:
    """The snapshot of a registry, without its time and those at which versions were stored."""
    assert run(["snapshot", "--repo", str(repo), "--registry", registry]) == 0
    folder = repo / "snapshots" / registry
    found = {}
    for path in sorted(folder.rglob("*.json")):
        document = json.loads(path.read_text())
        document.pop("recorded", None)
        for version in document.get("versions", ()):
            del version["timestamp"]
        found[path.relative_to(folder).as_posix()] = document
    return found


def _existing(url: str, tenant: str) -> dict[str, Any]:
    """The tenant, and the topics that exist in it with their partitions."""
    admin = f"{url}/admin/v2"
    topics = {
        name: json.loads(
            admin_request("GET", f"{admin}/persistent/{tenant}/orders/{name}/partitions")
        )
        for name in _PARTITIONS
    }
    namespace = json.loads(admin_request("GET", f"{admin}/namespaces/{tenant}/orders"))
    return {
        "tenant": json.loads(admin_request("GET", f"{admin}/tenants/{tenant}")),
        "replication": namespace["replication_clusters"],
        **topics,
    }


@pytest.mark.broker
@pytest.mark.slow
def test_a_second_cluster_is_like_the_first(
    pulsar_admin_url: str, empty_broker: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tenant = f"promoted-{uuid.uuid4().hex[:8]}"
    urls = {"first": pulsar_admin_url, "second": empty_broker}
    repo = _repository(tmp_path / "repo", tenant, urls)
    plan_file = str(tmp_path / "plan.json")
    assert run(["apply", "--repo", str(repo), "--auto-approve"]) == 0

    plan = ["plan", "--repo", str(repo), "--registry", "second"]
    assert run([*plan, "--out", plan_file]) == 0
    assert run(["apply", "--repo", str(repo), plan_file]) == 0
    assert run([*plan, "--detailed-exitcode"]) == 0

    first, second = (_recorded(repo, registry) for registry in urls)
    assert len(first) == 8  # brokers, two namespaces, five topics
    others = {name: (one, second.get(name)) for name, one in first.items()}
    assert {name: pair for name, pair in others.items() if pair[0] != pair[1]} == {}
    assert second.keys() == first.keys()
    assert _existing(empty_broker, tenant) == _existing(pulsar_admin_url, tenant)
    assert _existing(empty_broker, tenant)["tenant"]["adminRoles"] == ["ops"]
    # Replication is turned on by hand, once every cluster has the schemas.
    assert _existing(empty_broker, tenant)["replication"] == ["standalone"]
    capsys.readouterr()
