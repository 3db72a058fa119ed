"""Restores that reports are made of."""

from __future__ import annotations

from typing import Final

from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import BrokerSettings, NamespacePolicies
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.restore import Restore, RestoreCheck
from gitops.model.schema import SchemaHistory
from gitops.model.state import NamespaceState, RegistryState, TopicState
from gitops.planning.restore import RestoreInput, prove_restore
from tests.support.states import CREATED, ORDERS, STRING, avro, field, state, topic_state

_ONE: Final = avro(field("id"))
_TWO: Final = avro(field("number"))
_DOCUMENTED: Final = avro(field("id"), doc="an order")
_FULL: Final = NamespacePolicies(
    schema_compatibility_strategy=Strategy.FULL, is_allow_auto_update_schema=True
)


def _restore(recorded: RegistryState) -> Restore:
    """Into a registry that has one topic of it."""
    live = RegistryState(
        namespaces={n: NamespaceState(namespace=n, exists=False) for n in recorded.namespaces},
        topics={
            name: topic if name.local_name == "status" else TopicState(topic=name)
            for name, topic in recorded.topics.items()
        },
    )
    return prove_restore(
        RestoreInput(
            source="production",
            recorded=recorded,
            live=live,
            registry="rehearsal",
            address="rehearsal.db",
            broker=BrokerSettings(),
            unreadable={},
        )
    )


_DELETED: Final = TopicState(
    topic=TopicName(ORDERS, "deleted"), history=SchemaHistory(next_version=2)
)
_STATUS: Final = topic_state(TopicName(ORDERS, "status"), STRING)
_PAID: Final = topic_state(TopicName(NamespaceName("shop", "payments"), "paid"), STRING, after=1)

WORK: Final = _restore(
    state(topic_state(CREATED, _ONE, _TWO), _DELETED, _STATUS, _PAID, namespaces={ORDERS: _FULL})
)
"""Versions, deletions in place of others, a topic that is there, policies."""

OBSTACLES: Final = _restore(
    state(topic_state(CREATED, _ONE, _DOCUMENTED, _TWO), _STATUS, namespaces={ORDERS: _FULL})
)
"""A version that a broker would not store."""

CHECK: Final = RestoreCheck(versions=3, differences={CREATED: "v1 is another schema"})
"""In the end one topic is not as recorded."""
