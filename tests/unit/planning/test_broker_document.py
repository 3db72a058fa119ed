"""A plan and the broker that it was decided by: findings, JSON, digest, and what makes it stale."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitops.model.broker_settings import (
    SettingValue,
    assumed_settings,
    known_settings,
    with_known,
)
from gitops.model.errors import StalePlanError
from gitops.model.policy import BrokerSettings, SettingRemark, SettingSource, camel_case
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import SchemaType
from gitops.planning.plan import make_plan
from gitops.planning.plan_document import digest, to_document
from gitops.planning.reviewed_plan import resume
from tests.support.states import question, state

GIVEN = replace(
    assumed_settings({"is_schema_validation_enforced": SettingSource.GIVEN}),
    is_schema_validation_enforced=True,
)


def learned(release: str = "4.0.7") -> BrokerSettings:
    """What a cluster with Pulsar's own settings tells."""
    values: dict[str, SettingValue] = {"release": release}
    values |= {"is_schema_validation_enforced": False, "is_allow_auto_update_schema_enabled": True}
    doubt = SettingRemark(key="release", message="the brokers differ")
    return with_known(GIVEN, known_settings(values, SettingSource.LEARNED, doubts=[doubt]))


EMPTY = replace(question(state(), state()), broker=learned())


@pytest.mark.rule("PLAN-R011")
def test_a_value_that_the_cluster_contradicts_is_a_finding() -> None:
    found = [one for one in make_plan(EMPTY).findings if one.rule == "PLAN-R011"]

    assert [one.message for one in found] == [
        "isSchemaValidationEnforced is false in the cluster, and true in gitops.yaml"
    ]
    assert "brokerDefaults.isSchemaValidationEnforced" in found[0].hint


@pytest.mark.rule("PLAN-R012")
def test_what_decisions_leave_out_is_a_finding() -> None:
    found = [one for one in make_plan(EMPTY).findings if one.rule == "PLAN-R012"]

    assert [one.message for one in found] == ["the brokers differ"]


def test_a_broker_that_was_upgraded_makes_a_plan_stale() -> None:
    document = to_document(make_plan(EMPTY))
    later = make_plan(replace(EMPTY, broker=learned("4.2.4")))

    with pytest.raises(StalePlanError, match=r"release was 4\.0\.7 and is 4\.2\.4"):
        resume(document, later)
    assert to_document(later)["digest"] != document["digest"]


def test_one_broker_of_several_that_was_upgraded_makes_a_plan_stale() -> None:
    document = to_document(make_plan(EMPTY))
    mixed = replace(learned(), other_releases=("4.2.4",))
    later = make_plan(replace(EMPTY, broker=mixed))

    with pytest.raises(StalePlanError, match=r"otherReleases was none and is 4\.2\.4"):
        resume(document, later)
    assert to_document(later)["broker"]["otherReleases"] == ["4.2.4"]
    assert resume(to_document(later), later).done == 0


def test_where_a_value_is_from_makes_no_plan_stale() -> None:
    document = to_document(make_plan(EMPTY))
    values = {"release": "4.0.7", "is_schema_validation_enforced": False}
    given = replace(BrokerSettings(), **values)  # type: ignore[arg-type]

    assert resume(document, make_plan(replace(EMPTY, broker=given))).done == 0


def test_a_plan_file_without_a_broker_was_made_for_pulsars_defaults() -> None:
    plain = replace(EMPTY, broker=BrokerSettings())
    document = to_document(make_plan(plain))

    assert document.pop("broker") is None
    assert document["digest"] == digest(document)
    assert resume(document, make_plan(plain)).done == 0
    other = BrokerSettings(schema_compatibility_strategy=Strategy.BACKWARD)
    with pytest.raises(StalePlanError, match="schemaCompatibilityStrategy was FULL"):
        resume(document, make_plan(replace(EMPTY, broker=other)))


def test_what_could_not_be_asked_is_not_in_the_digest() -> None:
    document = to_document(make_plan(EMPTY))
    silent = replace(EMPTY, broker=replace(learned(), limits=("No answer.",)))

    assert to_document(make_plan(silent))["digest"] == document["digest"]


SYSTEM = "system_topic_schema_compatibility_strategy"


def learned_by_superuser(**values: SettingValue) -> BrokerSettings:
    """What a superuser learned of auto-update and of these, and nobody else can."""
    known = {"is_allow_auto_update_schema_enabled": False, **values}
    told: dict[str, SettingValue] = {"release": "4.0.7", **known}
    return with_known(assumed_settings(), known_settings(told, SettingSource.LEARNED))


ONLY_RELEASE = with_known(
    assumed_settings(), known_settings({"release": "4.0.7"}, SettingSource.LEARNED)
)
"""What a role without the right to read the configuration knows."""


@pytest.mark.parametrize("name", ["is_allow_auto_update_schema_enabled", SYSTEM])
def test_what_is_about_clients_is_not_compared_where_one_role_cannot_learn_it(name: str) -> None:
    other: SettingValue = False if name != SYSTEM else Strategy.FULL
    told: dict[str, SettingValue] = {"release": "4.0.7", name: other}
    superuser = with_known(assumed_settings(), known_settings(told, SettingSource.LEARNED))
    seen = replace(ONLY_RELEASE, sources=superuser.sources)

    for before, after in ((superuser, ONLY_RELEASE), (ONLY_RELEASE, superuser)):
        document = to_document(make_plan(replace(EMPTY, broker=before)))
        assert not resume(document, make_plan(replace(EMPTY, broker=after))).done
    document = to_document(make_plan(replace(EMPTY, broker=superuser)))
    with pytest.raises(StalePlanError, match=f"{camel_case(name)} was .* and is"):
        resume(document, make_plan(replace(EMPTY, broker=seen)))


def test_another_setting_that_a_role_cannot_learn_has_a_next_step() -> None:
    superuser = learned_by_superuser(schema_compatibility_strategy=Strategy.BACKWARD)
    for before, after, said in (
        (superuser, ONLY_RELEASE, r"was BACKWARD and is FULL \(assumed: the role could not"),
        (ONLY_RELEASE, superuser, r"was FULL \(assumed: the role could not .* and is BACKWARD"),
    ):
        document = to_document(make_plan(replace(EMPTY, broker=before)))
        with pytest.raises(StalePlanError, match=said) as stale:
            resume(document, make_plan(replace(EMPTY, broker=after)))
        assert "plan and apply with roles that may read" in stale.value.hint
        assert "`brokerDefaults`" in stale.value.hint


def test_checkers_that_a_role_cannot_learn_have_a_next_step() -> None:
    """Where auto-update is from gitops.yaml too: that names no checkers."""
    superuser = replace(learned_by_superuser(), types_without_checker=(SchemaType.AVRO,))
    given = {"is_allow_auto_update_schema_enabled": SettingSource.GIVEN}
    for other in (ONLY_RELEASE, replace(ONLY_RELEASE, sources={**ONLY_RELEASE.sources, **given})):
        document = to_document(make_plan(replace(EMPTY, broker=superuser)))
        with pytest.raises(StalePlanError, match=r"was AVRO and is none \(assumed") as stale:
            resume(document, make_plan(replace(EMPTY, broker=other)))
        assert "plan and apply with roles that may read" in stale.value.hint


def test_a_checker_that_was_left_out_since_makes_a_plan_stale() -> None:
    document = to_document(make_plan(EMPTY))
    later = replace(learned(), types_without_checker=(SchemaType.AVRO,))

    with pytest.raises(StalePlanError, match="typesWithoutChecker was none and is AVRO"):
        resume(document, make_plan(replace(EMPTY, broker=later)))
