"""Drift of every kind, for the tests of what is made from it."""

from __future__ import annotations

from gitops.model.drift import (
    DefinitionAnswer,
    DriftReport,
    NamespaceDeletion,
    PartitionDrift,
    PolicyDrift,
    Recording,
    SchemaDeletion,
    UnmanagedNamespace,
    UnmanagedTopic,
    VersionDrift,
    VersionLoss,
    VersionOutsideGit,
)
from gitops.model.errors import UsageError
from gitops.model.names import NamespaceName, TopicName
from gitops.model.plan import ChangeKind, SchemaChange
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import SchemaType
from gitops.repository.writing.adoption import Adoption
from tests.support.states import ORDERS

_COUPON = SchemaChange(kind=ChangeKind.ADDED, path="coupon", after="[null, string] = null")
_STRATEGY = "schemaCompatibilityStrategy"


def _topic(name: str) -> TopicName:
    return TopicName(ORDERS, name)


EVERYTHING = DriftReport(
    registry="production",
    address="http://pulsar.acme:8080",
    drifts=(
        PolicyDrift(
            subject=ORDERS,
            key=_STRATEGY,
            files=Strategy.FULL,
            live=Strategy.BACKWARD,
            recorded=Strategy.FULL,
            was_recorded=True,
        ),
        PolicyDrift(subject=ORDERS, key="schemaValidationEnforced", files=True, live=False),
        NamespaceDeletion(namespace=NamespaceName("shop", "gone")),
        UnmanagedNamespace(namespace=NamespaceName("shop", "old")),
        PartitionDrift(topic=_topic("bulk"), files=4, live=8, recorded=4),
        VersionDrift(
            topic=_topic("created"),
            versions=(
                VersionOutsideGit(version=3, timestamp=1_795_000_000_000, recorded=True),
                VersionOutsideGit(
                    version=4, timestamp=1_795_212_345_678, changes=(_COUPON,), recorded=False
                ),
            ),
            definition=DefinitionAnswer(version=2, consumers="v4 has no 'note'"),
        ),
        VersionDrift(
            topic=_topic("changed"),
            versions=(VersionOutsideGit(version=1, changes=(_COUPON,)),),
            definition=DefinitionAnswer(version=2, is_new=True),
            limit="the clone is shallow",
        ),
        VersionDrift(
            topic=_topic("refused"),
            versions=(VersionOutsideGit(version=1, changes=(_COUPON,)),),
            definition=DefinitionAnswer(version=None, reasons=("no default", "another type")),
        ),
        SchemaDeletion(topic=_topic("deleted"), versions=(0, 1)),
        SchemaDeletion(topic=_topic("tombstone"), next_version=2),
        SchemaDeletion(topic=_topic("no-topic"), versions=(0,), topic_exists=False),
        VersionLoss(topic=_topic("lost"), versions=(0, 1)),
        PolicyDrift(
            subject=_topic("loose"),
            key=_STRATEGY,
            files=None,
            live=Strategy.ALWAYS_COMPATIBLE,
            was_recorded=True,
        ),
        UnmanagedTopic(
            topic=_topic("by-hand"),
            type=SchemaType.AVRO,
            versions=(0, 1),
            since=1_795_000_000_000,
            policies={_STRATEGY: Strategy.FULL},
        ),
    ),
    recording=Recording(commit="4f1c9e2" + "0" * 33, day="2026-11-20"),
    namespaces=3,
    topics=12,
    pending=2,
    without_schema=1,
    unread={_topic("broken"): "500 no such ledger"},
    unlisted=(NamespaceName("shop", "secret"),),
    other_namespaces=(NamespaceName("shop", "returns"),),
    limits=("Topics that only earlier files named are unknown: the clone is shallow.",),
)
"""A report with everything that one may have."""

ADOPTION = Adoption(
    files={"namespaces/shop/orders/created.avsc": b"{}"},
    removed=("namespaces/shop/orders/deleted.yaml",),
    unused=("types/money.avsc",),
    kept_as_base64={_topic("native"): "no protoc"},
    adopted=(_topic("created"), _topic("deleted")),
    refused={
        _topic("refused"): UsageError("it has changes", where="refused.yaml", hint="commit them")
    },
)
"""An adoption of some of it."""
