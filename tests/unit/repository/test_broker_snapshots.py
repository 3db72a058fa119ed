"""`snapshots/<registry>/broker.json`: written, read back, and what is wrong with one."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from gitops.model.broker_settings import (
    SettingValue,
    assumed_settings,
    known_settings,
    seen_settings,
    with_known,
)
from gitops.model.errors import UsageError
from gitops.model.policy import BrokerSettings, SettingSource
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.registries.snapshot import SnapshotRegistry
from gitops.repository.broker_snapshots import recorded_settings, render_settings, settings_files
from gitops.repository.file_trees import GivenFiles
from gitops.repository.snapshots import snapshot_findings

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


@pytest.mark.rule("REPO-R024")
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (f'{{{HEAD}, "release": "four"}}', "release"),
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
