"""Reports of changes for the tests of what is made from them."""

from __future__ import annotations

from dataclasses import replace

from gitops.model.check import CheckReport, History, HistorySource, Impact, RegistryCheck
from gitops.model.findings import Location
from gitops.model.names import NamespaceName, TopicName
from gitops.model.plan import (
    ChangeKind,
    Plan,
    RefusedSchema,
    RegisterSchema,
    SchemaChange,
    SchemaSwallowed,
    SchemaWithoutEffect,
    SetPolicy,
)
from gitops.model.policy import PolicyChange
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.rules import make_finding
from gitops.model.waivers import WaiverProposal
from tests.support.states import ORDERS, STRING, avro, field

PAYMENTS = NamespaceName("shop", "payments")
CAPTURED = TopicName(PAYMENTS, "captured")
CREATED = TopicName(ORDERS, "order-created")
CANCELLED = TopicName(ORDERS, "order-cancelled")
NOTED = TopicName(ORDERS, "noted")
ENTRY = TopicName(ORDERS, "entry")

PATCH = """\
--- a/namespaces/shop/payments/captured.avsc
+++ b/namespaces/shop/payments/captured.avsc
@@ -13,3 +13,3 @@
     {"name": "amount", "type": "long"},
-    {"name": "currency", "type": "string"}
+    {"name": "currency", "type": ["null", "string"], "default": null}
   ]
"""

REFUSAL = replace(
    make_finding(
        "AVRO-R002",
        "the new schema cannot read messages of v7 at 'currency': reader field 'currency' "
        "(string) has no default",
        location=Location(
            file="namespaces/shop/payments/captured.avsc",
            line=14,
            column=6,
            length=6,
            pointer="/fields/1/name",
        ),
        subject="shop/payments/captured",
        hint="give 'currency' a default, or make it [\"null\", …] = null",
    ),
    compared=Location(file="v7", pointer="/fields"),
    patch=PATCH,
)
"""An error with all that a finding can have."""

SNEAKED = make_finding(
    "AVRO-R002",
    "v3 cannot read messages of the new schema at 'legacy': reader field 'legacy' has no default",
    location=Location(file="namespaces/shop/orders/order-created.avsc", line=9, column=5),
    subject="shop/orders/order-created",
)
REVERT = make_finding(
    "PLAN-R003",
    "this schema is v2; Pulsar keeps v5 as the latest, so a revert does not roll back",
    subject="shop/orders/entry",
    hint="add a custom property to the schema to make it a new version, or keep the latest",
)
GUARD = make_finding(
    "PLAN-R004",
    "3 of 8 topics would change (38 %), and safety.maxChangedShare allows 30 %",
    subject="production",
    hint="apply it in parts, or raise the limit in gitops.yaml",
)
UNKNOWN_KEY = make_finding(
    "REPO-R011",
    "unknown value 'BACKWARDS' for schemaCompatibilityStrategy",
    location=Location(file="namespaces/shop/orders/namespace.yaml", line=4, column=30, length=9),
    hint="did you mean BACKWARD?",
)

_NOTE = SchemaChange(
    kind=ChangeKind.CHANGED,
    path="note",
    before="",
    after="doc only",
    note="Pulsar ignores this",
    ignored=True,
)

PRODUCTION = Plan(
    registry="production",
    address="http://pulsar.acme:8080",
    files="sha256:4f1c9e2" + "0" * 57,
    actions=(
        SetPolicy(
            subject=ORDERS,
            change=PolicyChange(
                key="schemaCompatibilityStrategy", before=Strategy.FULL, after=Strategy.BACKWARD
            ),
        ),
        RegisterSchema(
            topic=CANCELLED,
            info=STRING,
            version=0,
            latest_version=None,
            strategy=Strategy.BACKWARD,
        ),
        RegisterSchema(
            topic=CREATED,
            info=avro(field("quantity", "long")),
            version=4,
            latest_version=3,
            strategy=Strategy.BACKWARD,
            changes=(
                SchemaChange(
                    kind=ChangeKind.ADDED, path="coupon", after='["null", "string"] = null'
                ),
                SchemaChange(
                    kind=ChangeKind.CHANGED,
                    path="quantity",
                    before="int",
                    after="long",
                    note="promoted for readers",
                ),
                SchemaChange(kind=ChangeKind.REMOVED, path="legacy", before="string"),
                _NOTE,
            ),
        ),
    ),
    notices=(
        RefusedSchema(
            topic=CAPTURED,
            info=avro(field("currency")),
            latest_version=7,
            strategy=Strategy.FULL,
            findings=(REFUSAL,),
            changes=(SchemaChange(kind=ChangeKind.ADDED, path="currency", after="string"),),
            fingerprint="4b356305ff1b76091a41f6682b5b7a0a",
            waiver=WaiverProposal(
                file="waivers/shop-payments-captured-4b356305.yaml",
                text='kind: Waiver\nreason: "" # why this change may pass\n',
            ),
        ),
        SchemaWithoutEffect(topic=ENTRY, equal_version=2, latest_version=5),
        SchemaSwallowed(topic=NOTED, version=1, changes=(_NOTE,)),
    ),
    findings=(REFUSAL, REVERT, GUARD),
    namespaces=2,
    topics=8,
    unchanged=3,
)

STAGING = replace(
    PRODUCTION,
    registry="staging",
    address="http://pulsar-staging.acme:8080",
    actions=PRODUCTION.actions[1:],
    notices=(PRODUCTION.notices[0],),
    findings=(REFUSAL,),
)

DRIFT = Plan(
    registry="production",
    address="http://pulsar.acme:8080",
    files="sha256:" + "1" * 64,
    actions=(
        RegisterSchema(
            topic=TopicName(ORDERS, "shipped"),
            info=STRING,
            version=2,
            latest_version=1,
            strategy=Strategy.FULL,
        ),
        SetPolicy(
            subject=PAYMENTS,
            change=PolicyChange(key="schemaValidationEnforced", before=False, after=True),
        ),
    ),
)

CHECK = CheckReport(
    base="4d7f2a90" * 5,
    head="",
    reference="origin/main",
    files=PRODUCTION.files,
    touched=Impact(
        topics={
            **dict.fromkeys((CAPTURED, CREATED), ("types/money.avsc",)),
            **dict.fromkeys((CANCELLED, NOTED, ENTRY), ()),
        },
        clients=("billing",),
    ),
    registries=(
        RegistryCheck(
            plan=PRODUCTION,
            history=History(
                source=HistorySource.SNAPSHOT,
                recorded="2026-11-20",
                limits=("Versions that were registered after that day are not known.",),
            ),
            strategies_before={CREATED: Strategy.FULL},
            refused_before={CREATED: (SNEAKED,)},
            drift=DRIFT,
        ),
        RegistryCheck(plan=STAGING, history=History(source=HistorySource.REGISTRY)),
    ),
    failures={"dr": "no answer from the registry: connection refused"},
    findings=(UNKNOWN_KEY,),
    command="pulsar-gitops check --base origin/main",
)
"""A change with everything that a report can hold."""

EMPTY = CheckReport(base="", head="", reference="", files="", touched=Impact())
"""Nothing to say."""

WAIVED = replace(
    EMPTY,
    registries=(
        RegistryCheck(
            plan=replace(
                PRODUCTION,
                actions=(
                    RegisterSchema(
                        topic=CAPTURED,
                        info=avro(field("currency")),
                        version=8,
                        latest_version=7,
                        strategy=Strategy.FULL,
                        findings=(REFUSAL,),
                        waiver="captured-currency",
                        accepted=False,
                    ),
                ),
                notices=(),
                findings=(),
            ),
            history=History(source=HistorySource.REGISTRY),
        ),
    ),
)
"""A schema that Pulsar would refuse, and that a waiver lets in."""
