"""Where drift is read from, and what a registry does not show."""

from __future__ import annotations

import datetime
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from gitops.changes.repository_plan import PlanRequest
from gitops.model.drift import NamespaceDeletion, Recording, UnmanagedNamespace
from gitops.model.errors import OutsideError
from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import NamespacePolicies
from gitops.model.state import RegistryState
from gitops.ports import Registry
from gitops.registries.embedded.settings import EmbeddedConfig
from gitops.repository.file_trees import FolderTree
from gitops.repository.loader import load
from gitops.usecases.drift import FoundDrift, adopt_drift, drift
from tests.support.fake_registry import FakeRegistry
from tests.support.git_repos import GitRepository
from tests.support.states import CREATED, ORDERS, STRING, state, topic_state
from tests.support.trees import SETTINGS

_FOLDER = f"namespaces/{ORDERS}"
_MANIFEST = "apiVersion: pulsar-gitops/v1\nkind: Topic\nschema: {type: STRING}\n"
_NAMESPACE = f"apiVersion: pulsar-gitops/v1\nkind: Namespace\nnamespace: {ORDERS}\n"
_FILES: dict[str, str | bytes | None] = {
    "gitops.yaml": SETTINGS,
    f"{_FOLDER}/namespace.yaml": _NAMESPACE,
    f"{_FOLDER}/created.yaml": _MANIFEST,
}


@pytest.fixture
def repo(tmp_path: Path) -> GitRepository:
    found = GitRepository(tmp_path / "repo")
    found.commit(_FILES)
    return found


def _request(root: Path, registry: Registry) -> PlanRequest:
    return PlanRequest(
        repository=load(FolderTree(root)),
        registry=registry,
        config=EmbeddedConfig(path="none.db"),
        locate=lambda _topic, _pointer: None,
        today=datetime.date(2026, 1, 1),
    )


def _drift(repo: GitRepository, registry: Registry) -> FoundDrift:
    return drift(_request(repo.root, registry), repo.root, FolderTree(repo.root))


def _snapshot(*versions: str) -> dict[str, str]:
    head = {"apiVersion": "pulsar-gitops/v1"}
    entries: list[dict[str, Any]] = [
        {"version": n, "type": one, "timestamp": None, "schema": "", "properties": {}}
        for n, one in enumerate(versions)
    ]
    topic = {"kind": "TopicSnapshot", "topic": str(CREATED), "nextVersion": len(versions)}
    space = {"kind": "NamespaceSnapshot", "namespace": str(ORDERS), "policies": {}}
    return {
        f"snapshots/fake/{ORDERS}/created.json": json.dumps(
            {**head, **topic, "policies": {}, "versions": entries}
        ),
        f"snapshots/fake/{ORDERS}.json": json.dumps({**head, **space}),
    }


@pytest.mark.slow
def test_the_snapshot_has_its_commit_and_its_day(repo: GitRepository) -> None:
    held = state(topic_state(CREATED, STRING))
    assert _drift(repo, FakeRegistry(held)).report.recording is None

    repo.write(_snapshot("STRING"))
    assert _drift(repo, FakeRegistry(held)).report.recording == Recording()
    recorded = repo.commit()
    repo.commit({"README.md": "later"})

    found = _drift(repo, FakeRegistry(held)).report
    day = repo.git("show", "--no-patch", "--format=%cs", recorded)
    assert found.recording == Recording(commit=recorded, day=day)
    assert (found.drifts, found.pending) == ((), 0)


@pytest.mark.slow
def test_the_snapshot_of_a_cluster_has_its_time(repo: GitRepository) -> None:
    held = state(topic_state(CREATED, STRING))
    broker = {"apiVersion": "pulsar-gitops/v1", "kind": "BrokerSnapshot", "release": "4.0.7"}
    broker["recorded"] = "2026-01-01T12:00:00Z"
    repo.write({**_snapshot("STRING"), "snapshots/fake/broker.json": json.dumps(broker)})

    found = _drift(repo, FakeRegistry(held)).report

    assert found.recording == Recording(taken="2026-01-01T12:00:00Z")


@pytest.mark.slow
def test_what_was_recorded_and_is_gone(repo: GitRepository) -> None:
    repo.commit(_snapshot("STRING"))

    found = _drift(repo, FakeRegistry(RegistryState())).report

    assert [type(one).__name__ for one in found.drifts] == ["NamespaceDeletion", "SchemaDeletion"]
    assert found.drifts[0] == NamespaceDeletion(namespace=ORDERS)


@pytest.mark.slow
def test_a_topic_that_cannot_be_read_hides_no_other(repo: GitRepository) -> None:
    repo.commit({f"{_FOLDER}/paid.yaml": _MANIFEST})
    paid, other = TopicName(ORDERS, "paid"), TopicName(ORDERS, "other")
    held = state(topic_state(CREATED, STRING), topic_state(other, STRING))
    registry = FakeRegistry(held, listed=[other], broken={paid: "500: gone"})

    found = _drift(repo, registry).report

    assert dict(found.unread) == {paid: "500: gone"}
    assert [one.subject for one in found.drifts] == [other]


@pytest.mark.slow
def test_other_namespaces_of_the_same_tenants_are_no_drift(repo: GitRepository) -> None:
    returns, audit = NamespaceName("shop", "returns"), NamespaceName("audit", "log")
    others = {name: NamespacePolicies() for name in (returns, audit)}
    registry = FakeRegistry(state(topic_state(CREATED, STRING), namespaces=others))

    found = _drift(repo, registry).report

    assert (found.drifts, found.other_namespaces) == ((), (returns,))


@pytest.mark.slow
def test_where_namespaces_may_not_be_listed_others_are_unknown(
    repo: GitRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = FakeRegistry(state(topic_state(CREATED, STRING)))

    def refuse() -> None:
        raise OutsideError("not for this role")

    monkeypatch.setattr(registry, "list_namespaces", refuse)
    found = _drift(repo, registry).report

    assert found.drifts == ()
    assert found.limits == ("Other namespaces of the same tenants are unknown: not for this role.",)


@pytest.mark.slow
def test_a_registry_that_does_not_answer_is_an_error(repo: GitRepository) -> None:
    with pytest.raises(OutsideError, match="not for you"):
        _drift(repo, FakeRegistry(state(), unread=[ORDERS]))


@pytest.mark.slow
def test_outside_of_git_commits_are_unknown(repo: GitRepository) -> None:
    shutil.rmtree(repo.root / ".git")

    (limit,) = _drift(repo, FakeRegistry(state(topic_state(CREATED, STRING)))).report.limits

    assert limit.startswith("Topics that only earlier files named are unknown: ")


@pytest.mark.slow
def test_an_unmanaged_namespace_is_read_before_it_is_adopted(repo: GitRepository) -> None:
    repo.commit({path: None for path in _FILES if path != "gitops.yaml"})
    policies = NamespacePolicies(is_allow_auto_update_schema=False)
    held = state(topic_state(CREATED, STRING), namespaces={ORDERS: policies})
    registry = FakeRegistry(held, listed=[CREATED])
    request, tree = _request(repo.root, registry), FolderTree(repo.root)

    found = _drift(repo, registry)
    adoption = adopt_drift(found, request, repo.root, tree, ())

    assert UnmanagedNamespace(namespace=ORDERS) in found.report.drifts
    assert b"isAllowAutoUpdateSchema: false\n" in adoption.files[f"{_FOLDER}/namespace.yaml"]
    assert f"{_FOLDER}/created.yaml" in adoption.files
