"""The three policies that decide about clients, and who set each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from gitops.model.names import TopicName
from gitops.model.policy import (
    BrokerDefaults,
    NamespacePolicies,
    SchemaCompatibilityStrategy,
    TopicPolicies,
    strategy_in_force,
)

_OWN: Final = "Pulsar's own topic"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionPolicies:
    """What holds for the clients of a topic; `…_by` says who set it: topic, namespace, broker."""

    strategy: SchemaCompatibilityStrategy
    allows_auto_update: bool = True
    enforces_validation: bool = False
    strategy_by: str = "broker"
    auto_update_by: str = "broker"
    validation_by: str = "broker"


def connection_policies(
    topic: TopicName, own: TopicPolicies, namespace: NamespacePolicies, broker: BrokerDefaults
) -> ConnectionPolicies:
    """What a Pulsar 4.0.7 broker resolves for a client.

    The strategy as for a registration; isAllowAutoUpdateSchema of the namespace, else of the
    broker; schemaValidationEnforced of the broker if it is on there, which nobody can take back,
    else of the topic, else of the namespace. A system topic is ALWAYS_COMPATIBLE with auto-update
    on for its clients, whatever its namespace says; a registration by REST knows no such exception.
    """
    enforced, enforced_by = _enforced(own, namespace, broker)
    if topic.is_system:
        return ConnectionPolicies(
            strategy=SchemaCompatibilityStrategy.ALWAYS_COMPATIBLE,
            strategy_by=_OWN,
            auto_update_by=_OWN,
            enforces_validation=enforced,
            validation_by=enforced_by,
        )
    strategy, strategy_by = strategy_in_force(own, namespace, broker)
    allowed = namespace.is_allow_auto_update_schema
    return ConnectionPolicies(
        strategy=strategy,
        strategy_by=strategy_by,
        allows_auto_update=broker.is_allow_auto_update_schema_enabled
        if allowed is None
        else allowed,
        auto_update_by="broker" if allowed is None else "namespace",
        enforces_validation=enforced,
        validation_by=enforced_by,
    )


def _enforced(
    own: TopicPolicies, namespace: NamespacePolicies, broker: BrokerDefaults
) -> tuple[bool, str]:
    if broker.is_schema_validation_enforced:
        return True, "broker"
    if own.schema_validation_enforced is not None:
        return own.schema_validation_enforced, "topic"
    # A namespace always says something: false is what it says unless it was told otherwise.
    return bool(namespace.schema_validation_enforced), "namespace"
