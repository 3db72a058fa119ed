"""`snapshots/<registry>/broker.json`: written, read back, and what is wrong with one."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from gitops.broker.lines.table import UnknownBrokerError, line_of
from gitops.model.broker_settings import (
    SettingValue,
    assumed_settings,
    known_settings,
    seen_settings,
    with_known,
    with_probed,
)
from gitops.model.errors import UsageError
from gitops.model.policy import BrokerSettings, SettingSource
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.registries.snapshot import SnapshotRegistry
from gitops.repository.broker_snapshots import recorded_settings, render_settings, settings_files
from gitops.repository.file_trees import GivenFiles
from gitops.repository.loader import load
from gitops.repository.snapshots import snapshot_findings
from tests.support.trees import MemoryTree

PATH = "snapshots/prod/broker.json"
VALUES: dict[str, SettingValue] = {
    "release": "4.2.4",
    "schema_compatibility_strategy": Strategy.BACKWARD,
    "is_schema_validation_enforced": True,
}
LIVE = with_known(assumed_settings(), known_settings(VALUES, SettingSource.LEARNED))
HEAD = '"apiVersion": "pulsar-gitops/v1", "kind": "BrokerSnapshot"'


def test_what_was_learned_is_read_back_by_a_registry_of_the_snapshot() -> None:
    files = render_settings("prod", LIVE)
    registry = SnapshotRegistry("prod", GivenFiles(files), assumed_settings())

    assert list(files) == [PATH]
    assert seen_settings(registry.broker) == VALUES
    assert registry.broker.source("release") is SettingSource.RECORDED
    assert registry.broker.source("is_allow_auto_update_schema_enabled") is SettingSource.ASSUMED
    assert registry.is_empty
    assert settings_files(GivenFiles(files), "prod") == (PATH,)


def test_releases_of_other_brokers_are_recorded() -> None:
    live = replace(LIVE, other_releases=("5.0.0", "6.1.0"))
    found = recorded_settings(GivenFiles(render_settings("prod", live)), "prod")

    assert found.other_releases == ("5.0.0", "6.1.0")
    assert ["4.2.4, 5.0.0, 6.1.0" in one.message for one in found.doubts] == [True, False]


def test_what_is_only_assumed_is_not_recorded() -> None:
    assert render_settings("prod", assumed_settings()) == {}
    assert render_settings("prod", BrokerSettings()) == {}
    assert seen_settings(recorded_settings(GivenFiles({}), "prod")) == {}


_PROBED = with_known(
    assumed_settings(), with_probed(known_settings({}, SettingSource.LEARNED), {"release": "4.2"})
)


@pytest.mark.parametrize(
    ("given", "release", "source", "conflicts"),
    [
        (None, "4.2", SettingSource.PROBED, 0),
        ("5.0", "5.0", SettingSource.GIVEN, 0),
        ("4.0", "4.2", SettingSource.PROBED, 1),
    ],
)
def test_what_a_test_showed_of_a_hidden_release_is_recorded_as_that(
    given: str | None, release: str, source: SettingSource, conflicts: int
) -> None:
    files = render_settings("prod", _PROBED)
    named = given and known_settings({"release": given}, SettingSource.GIVEN)
    broker = SnapshotRegistry("prod", GivenFiles(files), named or assumed_settings()).broker

    assert json.loads(files[PATH])["releaseAtLeast"] == "4.2"
    assert "release" not in json.loads(files[PATH])
    assert (broker.release, broker.source("release")) == (release, source)
    assert len(broker.conflicts) == conflicts
    assert ("of 4.1 or later" in " ".join(broker.limits)) is (source is SettingSource.PROBED)


def test_a_release_without_a_profile_stops_only_what_decides_by_it() -> None:
    files = {"snapshots/prod/broker.json": f'{{{HEAD}, "release": "9.1.0"}}'}
    settings = (
        "apiVersion: pulsar-gitops/v1\nkind: Config\n"
        "registries: {prod: {kind: pulsar, url: 'http://x'}}\n"
    )
    tree = MemoryTree({**files, "gitops.yaml": settings})

    assert load(tree).findings == ()
    with pytest.raises(UnknownBrokerError, match=r"Pulsar 9\.1\.0"):
        line_of(SnapshotRegistry("prod", tree, assumed_settings()).broker)


@pytest.mark.rule("REPO-R024")
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (f'{{{HEAD}, "release": "four"}}', "release is not valid"),
        (f'{{{HEAD}, "releaseAtLeast": "x"}}', "releaseAtLeast is not valid"),
        (f'{{{HEAD}, "release": ""}}', "release is empty"),
        (f'{{{HEAD}, "strategy": "FULL"}}', "strategy"),
        (f'{{{HEAD}, "schemaCompatibilityStrategy": "SIDEWAYS"}}', "SIDEWAYS"),
        (f'{{{HEAD}, "isSchemaValidationEnforced": "yes"}}', "true or false"),
        (f"{{{HEAD}", "not JSON"),
        ("{}", "does not look like a snapshot"),
    ],
)
def test_a_broken_file_is_a_finding_and_is_not_read(content: str, message: str) -> None:
    data = content.encode()
    found = snapshot_findings(PATH, data)

    assert {one.rule for one in found} == {"REPO-R024"}
    assert message in " ".join(f"{one.message} {one.hint}" for one in found)
    with pytest.raises(UsageError, match="the snapshot cannot be read"):
        recorded_settings(GivenFiles({PATH: data}), "prod")


def test_a_file_of_somebody_else_is_not_replaced() -> None:
    tree = GivenFiles({PATH: json.dumps({"brokers": 3}).encode()})

    with pytest.raises(UsageError, match="would be overwritten"):
        settings_files(tree, "prod")
