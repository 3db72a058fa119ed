"""Policies: which strategy holds in the end, and which values say nothing."""

from __future__ import annotations

from dataclasses import fields

import pytest

from gitops.model.policy import (
    BrokerSettings,
    NamespacePolicies,
    PolicyValue,
    TopicPolicies,
    UpgradeFirst,
    camel_case,
    effective_strategy,
    is_unset,
    managed_items,
    snake_case,
    upgrade_first,
)
from gitops.model.policy import SchemaAutoUpdateCompatibilityStrategy as Legacy
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy


@pytest.mark.parametrize(
    ("key", "value", "unset"),
    [
        ("schemaCompatibilityStrategy", None, True),
        ("schemaCompatibilityStrategy", Strategy.UNDEFINED, True),
        ("schemaCompatibilityStrategy", Strategy.FULL, False),
        ("schemaValidationEnforced", False, True),
        ("schemaValidationEnforced", True, False),
        ("isAllowAutoUpdateSchema", None, True),
        ("isAllowAutoUpdateSchema", False, False),
        ("schemaAutoUpdateCompatibilityStrategy", Legacy.FULL, False),
    ],
)
def test_values_that_say_no_more_than_their_absence(
    key: str, value: PolicyValue, *, unset: bool
) -> None:
    assert is_unset(key, value) is unset


@pytest.mark.parametrize(
    ("topic", "namespace", "legacy", "broker", "holds"),
    [
        (Strategy.BACKWARD, Strategy.FORWARD, Legacy.FULL, Strategy.FULL, Strategy.BACKWARD),
        (None, Strategy.FORWARD, Legacy.FULL, Strategy.BACKWARD, Strategy.FORWARD),
        (
            Strategy.UNDEFINED,
            Strategy.UNDEFINED,
            Legacy.FULL_TRANSITIVE,
            Strategy.BACKWARD,
            Strategy.FULL_TRANSITIVE,
        ),
        (None, None, None, Strategy.BACKWARD, Strategy.BACKWARD),
        (None, None, None, Strategy.UNDEFINED, Strategy.FULL),
        (
            None,
            None,
            Legacy.AUTO_UPDATE_DISABLED,
            Strategy.BACKWARD,
            Strategy.ALWAYS_INCOMPATIBLE,
        ),
    ],
)
def test_the_strategy_that_holds(
    topic: Strategy | None,
    namespace: Strategy | None,
    legacy: Legacy | None,
    broker: Strategy,
    holds: Strategy,
) -> None:
    found = effective_strategy(
        TopicPolicies(schema_compatibility_strategy=topic),
        NamespacePolicies(
            schema_compatibility_strategy=namespace,
            schema_auto_update_compatibility_strategy=legacy,
        ),
        BrokerSettings(schema_compatibility_strategy=broker),
    )

    assert found is holds


@pytest.mark.parametrize("legacy", Legacy)
def test_every_legacy_setting_stands_for_a_strategy(legacy: Legacy) -> None:
    word = legacy.strategy.value.replace("_", "").lower()

    assert legacy.value.lower() in (word, "autoupdatedisabled")


@pytest.mark.parametrize("kind", [NamespacePolicies, TopicPolicies])
def test_keys_are_pulsars_own(kind: type[NamespacePolicies | TopicPolicies]) -> None:
    for field in fields(kind):
        assert snake_case(camel_case(field.name)) == field.name
    assert camel_case("is_allow_auto_update_schema") == "isAllowAutoUpdateSchema"


def test_only_keys_that_are_set_are_managed() -> None:
    policies = NamespacePolicies(
        schema_validation_enforced=False, schema_compatibility_strategy=Strategy.FULL
    )

    assert managed_items(policies) == (
        ("schemaCompatibilityStrategy", Strategy.FULL),
        ("schemaValidationEnforced", False),
    )
    assert managed_items(TopicPolicies()) == ()


@pytest.mark.parametrize("strategy", Strategy)
def test_who_upgrades_first_follows_from_the_strategy(strategy: Strategy) -> None:
    documented = {
        "BACKWARD": UpgradeFirst.CONSUMERS,
        "FORWARD": UpgradeFirst.PRODUCERS,
        "FULL": UpgradeFirst.ANY_ORDER,
        "ALWAYS_COMPATIBLE": UpgradeFirst.ANY_ORDER,
        "ALWAYS_INCOMPATIBLE": UpgradeFirst.NOBODY,
        "UNDEFINED": UpgradeFirst.ANY_ORDER,  # FULL holds then
    }

    assert upgrade_first(strategy) is documented[strategy.value.removesuffix("_TRANSITIVE")]
