"""Plans for the tests of what is made from them."""

from __future__ import annotations

from gitops.model.findings import Location
from gitops.model.names import NamespaceName, TenantName, TopicName
from gitops.model.plan import (
    ChangeKind,
    CreateNamespace,
    CreateTenant,
    CreateTopic,
    DeleteSchema,
    Plan,
    RefusedSchema,
    RegisterSchema,
    SchemaChange,
    SchemaDrift,
    SchemaSwallowed,
    SchemaWithoutEffect,
    SetPolicy,
    UnknownVersion,
)
from gitops.model.policy import PolicyChange
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.rules import make_finding
from gitops.model.state import TenantState
from gitops.model.waivers import WaiverProposal
from tests.support.states import ORDERS, STRING, avro, field

_PAYMENTS = NamespaceName("shop", "payments")


def _topic(name: str) -> TopicName:
    return TopicName(ORDERS, name)


REFUSAL = make_finding(
    "AVRO-R002",
    "the new schema cannot read messages of v7 at 'currency': reader field 'currency' has no "
    "default",
    location=Location(
        file="namespaces/shop/payments/captured.avsc",
        line=14,
        column=7,
        length=9,
        pointer="/fields/1/name",
    ),
    subject="shop/payments/captured",
    hint="give 'currency' a default, or make it [\"null\", …] = null",
)
OTHER = make_finding("PLAN-R006", "the registry has no tenant 'audit'", subject="audit/log")

CHANGED = RegisterSchema(
    topic=_topic("order-created"),
    info=avro(field("quantity", "long")),
    version=4,
    latest_version=3,
    strategy=Strategy.BACKWARD_TRANSITIVE,
    changes=(
        SchemaChange(kind=ChangeKind.ADDED, path="coupon", after="[null, string] = null"),
        SchemaChange(
            kind=ChangeKind.CHANGED,
            path="quantity",
            before="int",
            after="long",
            note="promoted for readers",
        ),
        SchemaChange(
            kind=ChangeKind.CHANGED,
            path="note",
            after="doc only",
            note="Pulsar ignores this",
            ignored=True,
        ),
        SchemaChange(kind=ChangeKind.REMOVED, path="legacy.code", before="int = 0"),
    ),
)
"""A new version with every kind of change."""

DRIFT = SchemaDrift(
    topic=_topic("order-shipped"),
    equal_version=0,
    unknown=(
        UnknownVersion(version=1, timestamp=1_795_000_000_000),
        UnknownVersion(version=2, timestamp=1_795_212_345_678),
    ),
    changes=(
        SchemaChange(kind=ChangeKind.ADDED, path="carrier", after="[null, string] = null"),
        SchemaChange(kind=ChangeKind.CHANGED, path="weight", before="int", after="long"),
    ),
)
"""Two versions that somebody registered past git."""

CREATIONS = (
    CreateTenant(state=TenantState(tenant=TenantName("shop"), admin_roles=frozenset({"ops"}))),
    CreateTopic(topic=_topic("order-created"), partitions=4),
)
"""What a plan creates beside namespaces."""

EVERYTHING = Plan(
    registry="production",
    address="http://pulsar.acme:8080",
    files="sha256:4f1c9e2" + "0" * 57,
    prune=True,
    actions=(
        CreateNamespace(namespace=_PAYMENTS),
        SetPolicy(
            subject=ORDERS,
            change=PolicyChange(
                key="schemaCompatibilityStrategy", before=Strategy.FULL, after=Strategy.BACKWARD
            ),
        ),
        SetPolicy(
            subject=ORDERS,
            change=PolicyChange(key="schemaValidationEnforced", before=None, after=True),
        ),
        SetPolicy(
            subject=_topic("order-created"),
            change=PolicyChange(
                key="schemaCompatibilityStrategy",
                before=Strategy.BACKWARD,
                after=Strategy.BACKWARD_TRANSITIVE,
            ),
        ),
        RegisterSchema(
            topic=_topic("order-cancelled"),
            info=STRING,
            version=0,
            latest_version=None,
            strategy=Strategy.BACKWARD,
        ),
        CHANGED,
        DeleteSchema(topic=_topic("order-legacy"), versions=(0, 1, 5)),
    ),
    notices=(
        SchemaWithoutEffect(topic=_topic("entry"), equal_version=2, latest_version=5),
        DRIFT,
        SchemaSwallowed(
            topic=_topic("noted"),
            version=1,
            changes=(
                SchemaChange(
                    kind=ChangeKind.CHANGED,
                    path="property owner",
                    before="checkout",
                    after="billing",
                    note="Pulsar ignores this",
                    ignored=True,
                ),
            ),
        ),
        RefusedSchema(
            topic=TopicName(_PAYMENTS, "captured"),
            info=avro(field("currency")),
            latest_version=7,
            strategy=Strategy.FULL,
            findings=(REFUSAL,),
            changes=(SchemaChange(kind=ChangeKind.ADDED, path="currency", after="string"),),
            fingerprint="9c0b41d2" * 4,
            waiver=WaiverProposal(
                file="waivers/shop-payments-captured-9c0b41d2.yaml",
                text='kind: Waiver\nreason: ""\n',
            ),
        ),
    ),
    findings=(REFUSAL, OTHER),
    observed={"namespace shop/orders": "a" * 64, "topic shop/orders/order-created": "b" * 64},
    expected={"namespace shop/orders": ("c" * 64, "d" * 64)},
    namespaces=2,
    topics=214,
    unchanged=208,
)
"""A plan with every kind of action and of notice."""
