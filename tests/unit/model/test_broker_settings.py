"""Which value of a broker's setting counts where several say one."""

from __future__ import annotations

from gitops.model.broker_settings import (
    as_if_broker,
    assumed_settings,
    is_plain,
    known_settings,
    seen_settings,
    with_known,
)
from gitops.model.policy import BrokerSettings, SettingSource
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy

LEARNED = known_settings(
    {"release": "4.2.4", "schema_compatibility_strategy": Strategy.BACKWARD}, SettingSource.LEARNED
)


def test_what_was_learned_counts_before_what_is_assumed() -> None:
    found = with_known(assumed_settings(), LEARNED)

    assert (found.release, found.schema_compatibility_strategy) == ("4.2.4", Strategy.BACKWARD)
    assert found.source("release") is SettingSource.LEARNED
    assert found.source("is_schema_validation_enforced") is SettingSource.ASSUMED
    assert found.conflicts == ()
    assert seen_settings(found) == seen_settings(LEARNED)


def test_a_value_of_gitops_yaml_that_the_cluster_contradicts_is_a_conflict() -> None:
    given = {"schema_compatibility_strategy": SettingSource.GIVEN}
    found = with_known(assumed_settings(given), LEARNED)

    assert found.schema_compatibility_strategy is Strategy.BACKWARD
    assert [one.key for one in found.conflicts] == ["schemaCompatibilityStrategy"]


def test_a_version_of_the_line_that_gitops_yaml_names_is_no_conflict() -> None:
    line = BrokerSettings(release="4.2", sources={"release": SettingSource.GIVEN})
    other = BrokerSettings(release="4.0", sources={"release": SettingSource.GIVEN})

    assert with_known(line, LEARNED).conflicts == ()
    assert with_known(line, LEARNED).release == "4.2.4"
    assert [one.message for one in with_known(other, LEARNED).conflicts] == [
        "broker is 4.2.4 in the cluster, and 4.0 in gitops.yaml"
    ]


def test_the_option_counts_before_all() -> None:
    found = with_known(as_if_broker(assumed_settings(), "5.0"), LEARNED)

    assert (found.release, found.source("release")) == ("5.0", SettingSource.OPTION)
    assert found.schema_compatibility_strategy is Strategy.BACKWARD
    assert found.conflicts == ()


def test_settings_that_nobody_gave_are_plain() -> None:
    assert is_plain(BrokerSettings())
    assert not is_plain(assumed_settings())
    assert not is_plain(as_if_broker(BrokerSettings(), "4.0"))
