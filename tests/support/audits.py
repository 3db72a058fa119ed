"""Topics as an audit looks at them, and what a line change does to them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from gitops.audit.audit import Audit, AuditSettings
from gitops.audit.operations import differences
from gitops.audit.topic import AuditedTopic
from gitops.broker.connection import ConnectionPolicies
from gitops.broker.lines.line import BrokerLine
from gitops.broker.lines.table import find_line, line_of
from gitops.model.audit import AuditReport, Operation
from gitops.model.decision import StoredHistory
from gitops.model.names import Domain, NamespaceName, TopicName
from gitops.model.policy import BrokerSettings, NamespacePolicies, Retention, TopicPolicies
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import SchemaEntry, SchemaHistory, SchemaInfo, SchemaType
from gitops.model.state import NamespaceState, TopicState
from gitops.schemas.payload import to_stored

TOPIC: Final = TopicName(NamespaceName("shop", "orders"), "created")
_LETTERS: Final = {
    Operation.PRODUCE: "p",
    Operation.CONSUME: "c",
    Operation.REGISTER: "r",
    Operation.TEST: "t",
    Operation.READ: "g",
}


def record(*fields: object, **members: object) -> str:
    """An Avro record called A."""
    return json.dumps({"type": "record", "name": "A", "fields": list(fields), **members})


GOOD: Final = record()
Definition = str | tuple[str, str] | SchemaInfo


def info(definition: Definition) -> SchemaInfo:
    """AVRO, or the type that stands before the definition."""
    if isinstance(definition, SchemaInfo):
        return definition
    kind, text = ("AVRO", definition) if isinstance(definition, str) else definition
    return SchemaInfo(type=SchemaType(kind), schema=text)


def pair(value: str, kind: str = "AVRO") -> SchemaInfo:
    """A KEY_VALUE of two definitions, the key's in AVRO."""
    kinds = {"key.schema.type": "AVRO", "value.schema.type": kind, "kv.encoding.type": "INLINE"}
    text = json.dumps({"key": json.loads(record(name="K")), "value": json.loads(value)})
    return SchemaInfo(type=SchemaType.KEY_VALUE, schema=text, properties=kinds)


def line(name: str) -> BrokerLine:
    """The line of that name."""
    found = find_line(name)
    assert found is not None
    return found


def audited(
    present: str, *definitions: Definition, strategy: Strategy = Strategy.FULL
) -> AuditedTopic:
    """A topic with these versions on a broker of the present line."""
    entries = tuple(enumerate(to_stored(info(each)) for each in definitions))
    return AuditedTopic(
        name=TOPIC,
        history=StoredHistory(entries=entries, next_version=len(entries)),
        policies=ConnectionPolicies(strategy=strategy),
        line=line(present),
    )


def changes(topic: AuditedTopic, target: str) -> dict[str, int]:
    """Operation and version → the status on the target line, of what is answered otherwise."""
    return {
        f"{_LETTERS[one.operation]}{'' if one.version is None else one.version}": one.after.status
        for one in differences(topic, line(target))
    }


def audit_of(  # noqa: PLR0913 - each is for some tests, by name
    topics: Mapping[str, tuple[Definition, ...]],
    *,
    present: str = "4.0",
    target: str | None = None,
    strategy: Strategy | None = None,
    policies: NamespacePolicies | None = None,
    broker: BrokerSettings | None = None,
    retention: Retention | None = None,
    clusters: tuple[str, ...] = (),
    is_compacted: bool = False,
    topic_policies: TopicPolicies | None = None,
    domain: Domain = "persistent",
) -> AuditReport:
    """An audit of one namespace: its topics with their versions."""
    broker = replace(broker or BrokerSettings(), release=present)
    settings = AuditSettings(
        registry="local",
        address="local.db",
        broker=broker,
        line=line_of(broker),
        target=line_of(replace(broker, release=target)) if target else None,
        strategy=strategy,
    )
    audit = Audit(settings)
    name = TOPIC.namespace
    state = NamespaceState(
        namespace=name,
        policies=policies or NamespacePolicies(),
        retention=retention,
        replication_clusters=clusters,
        is_compacted=is_compacted,
    )
    its = audit.namespace(state, settings)
    states = (_topic(TopicName(name, local, domain), each) for local, each in topics.items())
    audit.add(its, (replace(one, policies=topic_policies or TopicPolicies()) for one in states))
    audit.end(its)
    return audit.report()


def _topic(name: TopicName, definitions: tuple[Definition, ...]) -> TopicState:
    entries = tuple(
        SchemaEntry(version=version, info=info(each)) for version, each in enumerate(definitions)
    )
    return TopicState(topic=name, history=SchemaHistory(entries=entries, next_version=len(entries)))
