"""What follows from the steps of a rollout: for a change, and towards the files."""

from __future__ import annotations

import datetime
from dataclasses import replace
from pathlib import Path

import pytest

from gitops.changes.change import ChangeRequest, find_change, load_change
from gitops.changes.registries import registry_config
from gitops.changes.repository_plan import PlanRequest
from gitops.git.checkout import open_checkout
from gitops.model.broker_settings import assumed_settings, broker_notes
from gitops.model.names import TopicName
from gitops.model.plan import RegisterSchema
from gitops.model.policy import BrokerSettings, SettingRemark
from gitops.model.rollout import Block, Migration, Register, Rollout
from gitops.planning.rolling_upgrade import release_doubts
from gitops.repository.loader import load
from gitops.usecases.check import CheckRequest, check
from gitops.usecases.rollout import (
    ChangeRollout,
    change_rollout,
    is_blocked,
    registry_rollout,
    with_broker_notes,
)
from tests.support.check_repository import FILES, FOLDER, avro
from tests.support.fake_registry import FakeRegistry
from tests.support.git_repos import GitRepository
from tests.support.states import CREATED, ORDERS, TODAY
from tests.support.trees import repository

_PAID = TopicName(ORDERS, "paid")
_MIGRATION = Migration(topic=CREATED, to=_PAID)
_MANIFEST = "apiVersion: pulsar-gitops/v1\nkind: Topic\nschema: {type: STRING}\n"
_BREAKING = {f"{FOLDER}/created.avsc": avro("Created", "other")}


@pytest.mark.parametrize(
    ("rollout", "blocked", "blocked_after_migration"),
    [
        (Rollout(), False, False),
        (Rollout(refused=(CREATED,)), True, True),
        (Rollout(blocks=(Block(reason="", topics=(CREATED,)),)), True, True),
        (
            Rollout(refused=(CREATED,), migrations=(Migration(topic=CREATED, to=_PAID),)),
            True,
            False,
        ),
        (
            Rollout(blocks=(Block(reason="", topics=(CREATED, _PAID)),), migrations=(_MIGRATION,)),
            True,
            True,
        ),
    ],
)
def test_a_topic_that_is_migrated_blocks_nothing(
    rollout: Rollout, *, blocked: bool, blocked_after_migration: bool
) -> None:
    assert is_blocked(rollout) is blocked
    assert is_blocked(rollout, migrate=True) is blocked_after_migration


def test_from_a_registry_that_has_no_schema_to_the_files() -> None:
    files = load(repository({"namespaces/shop/orders/created.yaml": _MANIFEST}))
    registry = FakeRegistry()
    _, config = registry_config(files, None)
    request = PlanRequest(
        repository=files, registry=registry, config=config, locate=lambda *_: None, today=TODAY
    )
    found = registry_rollout(request, ())
    assert any(isinstance(one, RegisterSchema) for one in found.plan.actions)
    assert [one.step for one in found.rollout.steps] == [Register(topic=CREATED, version=0)]


def _dashed_rollout(broker: BrokerSettings) -> Rollout:
    """Of a first schema whose namespace is a name up to 4.0 only."""
    definition = "{type: record, name: R, namespace: com.my-co, fields: []}"
    schema = f"schema: {{type: AVRO, definition: {definition}}}"
    manifest = _MANIFEST.replace("schema: {type: STRING}", schema)
    files = load(repository({"namespaces/shop/orders/created.yaml": manifest}))
    _, config = registry_config(files, None)
    request = PlanRequest(
        repository=files,
        registry=FakeRegistry(broker=broker),
        config=config,
        locate=lambda *_: None,
        today=TODAY,
    )
    return registry_rollout(request, ()).rollout


def test_a_first_schema_that_is_refused_stops_the_rollout() -> None:
    refused = _dashed_rollout(BrokerSettings(release="4.2.4"))

    assert (refused.refused, refused.steps, refused.migrations) == ((CREATED,), (), ())
    assert is_blocked(refused)


def test_brokers_of_other_releases_with_other_steps_are_noted() -> None:
    def notes(*others: str, conflicts: tuple[SettingRemark, ...] = ()) -> tuple[str, ...]:
        broker = BrokerSettings(release="4.0.7", other_releases=others, conflicts=conflicts)
        return _dashed_rollout(broker).notes

    (note,) = notes("4.0.8", "4.2.4")
    assert "brokers of 4.2.4" in note
    assert not notes("4.0.8")
    remark = SettingRemark(key="broker", message="broker is 4.0.7 in the cluster, and 4.2 here")
    assert notes(conflicts=(remark,)) == (f"{remark.message}: the cluster's value is used",)


@pytest.mark.slow
def test_a_refused_change_is_blocked_until_its_topic_is_migrated(tmp_path: Path) -> None:
    repo = GitRepository(tmp_path / "repo")
    repo.commit(FILES)
    repo.write(_BREAKING)
    stopped = _change_rollout(repo, migrate=False)
    assert (stopped.is_blocked, stopped.migration) == (True, None)
    migrated = _change_rollout(repo, migrate=True)
    assert (migrated.is_blocked, migrated.has_broken_files) == (False, False)
    assert migrated.migration
    assert f"{FOLDER}/created-v2.yaml" in migrated.migration.files


@pytest.mark.slow
def test_broken_files_of_the_change_are_told(tmp_path: Path) -> None:
    repo = GitRepository(tmp_path / "repo")
    repo.commit(FILES)
    repo.write({f"{FOLDER}/status.yaml": _MANIFEST.replace("schema", "shema")})
    assert _change_rollout(repo, migrate=False).has_broken_files


def _change_rollout(repo: GitRepository, *, migrate: bool) -> ChangeRollout:
    with open_checkout(repo.root) as checkout:
        loaded = load_change(find_change(checkout, ChangeRequest(base="main")))
        request = CheckRequest(base="main", today=datetime.date(2026, 1, 1))
        return change_rollout(check(loaded, request).report, loaded, migrate=migrate)


def test_what_is_only_assumed_of_the_broker_is_noted() -> None:
    """Also a broker without a profile, for `rollout` alone prints no plan."""
    release, defaults = _dashed_rollout(assumed_settings()).notes

    assert release.startswith("assumed of the broker: Pulsar 4.0")
    assert defaults.startswith("assumed of the broker: Pulsar's defaults")
    doubts = tuple(release_doubts(["4.0.7", "6.1.0"]))
    known = BrokerSettings(release="4.0.7", other_releases=("6.1.0",), doubts=doubts)
    assert "there is no profile of Pulsar 6.1.0" in _dashed_rollout(known).notes[-1]


@pytest.mark.slow
def test_a_change_has_the_same_notes(tmp_path: Path) -> None:
    repo = GitRepository(tmp_path / "repo")
    repo.commit(FILES)
    repo.write(_BREAKING)
    with open_checkout(repo.root) as checkout:
        loaded = load_change(find_change(checkout, ChangeRequest(base="main")))
        request = CheckRequest(base="main", today=datetime.date(2026, 1, 1))
        report = check(loaded, request).report
    (one,) = report.registries
    unsure = replace(one, plan=replace(one.plan, broker=assumed_settings()))

    (noted,) = with_broker_notes(replace(report, registries=(unsure,))).registries

    assert noted.rollout.notes == (*broker_notes(assumed_settings()), *one.rollout.notes)
