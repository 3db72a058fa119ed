"""A registry that is in use, and a plan with every kind of action for it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from gitops.model.names import NamespaceName, TopicName
from gitops.model.plan import Plan
from gitops.model.policy import NamespacePolicies, PolicyChange, TopicPolicies
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.state import RegistryState
from gitops.planning.plan import make_plan
from gitops.planning.plan_document import Document, to_document
from gitops.registries.embedded.registry import EmbeddedRegistry
from gitops.repository.plan_file import parse_plan
from tests.support.states import (
    CREATED,
    ORDERS,
    STRING,
    avro,
    field,
    observe,
    question,
    state,
    topic_state,
)

PAYMENTS: Final = NamespaceName("shop", "payments")
GONE: Final = TopicName(ORDERS, "gone")
ALSO_GONE: Final = TopicName(ORDERS, "gone-too")
PAID: Final = TopicName(PAYMENTS, "paid")
OLD, NEW = avro(field("a")), avro(field("a"), field("b", default=""))
DESIRED: Final = state(
    topic_state(
        CREATED,
        NEW,
        policies=TopicPolicies(
            schema_compatibility_strategy=Strategy.BACKWARD, schema_validation_enforced=True
        ),
    ),
    topic_state(PAID, STRING),
    namespaces={
        ORDERS: NamespacePolicies(is_allow_auto_update_schema=False),
        PAYMENTS: NamespacePolicies(
            schema_compatibility_strategy=Strategy.FULL, schema_validation_enforced=True
        ),
    },
)
_WHOLE: Final = state(
    topic_state(GONE), topic_state(ALSO_GONE), namespaces={ORDERS: NamespacePolicies()}
)
ACTIONS: Final = 10
"""How many actions a plan for all of it has."""


class _Spelling(EmbeddedRegistry):
    """Spells out what a new namespace says by itself, as a Pulsar 4.0.7 broker does."""

    def create_namespace(self, namespace: NamespaceName) -> None:
        super().create_namespace(namespace)
        undefined = PolicyChange(
            key="schemaCompatibilityStrategy", before=None, after=Strategy.UNDEFINED
        )
        unset = PolicyChange(key="schemaValidationEnforced", before=None, after=False)
        allowed = PolicyChange(key="isAllowAutoUpdateSchema", before=None, after=True)
        self.set_policies(namespace, [undefined, unset, allowed])


@contextmanager
def registry_in_use(path: Path) -> Iterator[EmbeddedRegistry]:
    """Holds an older schema, and two that a pruning plan deletes."""
    opened = _Spelling("local", path)
    opened.create_namespace(ORDERS)
    opened.register_schema(CREATED, OLD)
    for topic in (GONE, ALSO_GONE):
        opened.register_schema(topic, STRING)
    yield opened
    opened.close()


def planned(registry: EmbeddedRegistry, desired: RegistryState = DESIRED) -> Plan:
    """The plan for it, with --prune."""
    return make_plan(question(desired, observe(registry, desired, _WHOLE), prune=True))


def written(plan: Plan) -> Document:
    """The plan as it comes back from its file."""
    return parse_plan(json.dumps(to_document(plan)), "plan.json")
