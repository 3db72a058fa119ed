"""Rules about what a registry contains."""

from __future__ import annotations

from typing import Final

from gitops.model.rules.rule import error, info, warning

AUDIT_RULES: Final = (
    error(
        "AUDIT-U001",
        "a stored version is not valid on the target line",
        "audit.upgrade._kind",
    ),
    error("AUDIT-U002", "a JSON definition is not Avro", "audit.upgrade._kind"),
    error("AUDIT-U003", "the target line refuses a valid schema", "audit.upgrade._losses"),
    info(
        "AUDIT-U004",
        "the target line accepts what is refused today",
        "audit.upgrade.upgrade_causes",
    ),
    info(
        "AUDIT-U005",
        "only the target line accepts some kinds of definitions",
        "audit.downgrade.downgrade_cause",
    ),
    warning(
        "AUDIT-S001",
        "another strategy would have refused a version",
        "audit.strategies.refusal_causes",
    ),
    info("AUDIT-S002", "a stricter strategy fits already", "audit.strategies.stricter_cause"),
    error(
        "AUDIT-S003",
        "another strategy would lock clients out",
        "audit.strategies.lockout_causes",
    ),
    error(
        "AUDIT-H001",
        "versions break the strategy that is in force",
        "audit.health._broken_promise",
    ),
    error("AUDIT-H002", "no new schema can be registered", "audit.health._poison"),
    warning(
        "AUDIT-H003",
        "Pulsar accepted a change that readers fail on",
        "audit.health._unchecked",
    ),
    warning(
        "AUDIT-H004",
        "ALWAYS_COMPATIBLE, and the latest version cannot read older ones",
        "audit.health._unreadable",
    ),
    info(
        "AUDIT-H005",
        "any producer may register, or write without a schema",
        "audit.namespace.NamespaceAudit.causes",
    ),
    info(
        "AUDIT-H006",
        "topics without a schema beside topics with one",
        "audit.namespace.NamespaceAudit.causes",
    ),
    warning(
        "AUDIT-H007",
        "two policies of a namespace do not fit together",
        "audit.namespace.NamespaceAudit.causes",
    ),
    error(
        "AUDIT-H008",
        "the broker cannot show a topic's schemas",
        "audit.health.unread_causes",
    ),
    warning(
        "AUDIT-H009",
        "ALWAYS_COMPATIBLE where messages are retained",
        "audit.namespace.NamespaceAudit.causes",
    ),
    info(
        "AUDIT-H010",
        "brokers delete inactive topics with their schemas",
        "audit.health.inactive_topic_findings",
    ),
    info(
        "AUDIT-H011",
        "a namespace is replicated between clusters",
        "audit.namespace.NamespaceAudit.causes",
    ),
    warning(
        "AUDIT-H012",
        "compacted topics, and a strategy that lets old messages become unreadable",
        "audit.namespace.NamespaceAudit.causes",
    ),
    error(
        "AUDIT-H013",
        "consumers with the latest version are refused",
        "audit.health._refused_consumers",
    ),
)
"""AUDIT-*: U is about an upgrade, S about strategies, H about health."""
