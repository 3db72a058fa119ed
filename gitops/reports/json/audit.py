"""An audit as stable JSON."""

from __future__ import annotations

from typing import Any

from gitops.model.audit import AuditReport, Difference, TopicDifferences
from gitops.model.decision import Decision
from gitops.planning.broker_document import broker_document
from gitops.planning.plan_document import API_VERSION, finding_document
from gitops.reports.json.documents import Items


def audit_document(report: AuditReport) -> dict[str, Any]:
    """Findings by cause, and of each topic every operation that the target line changes.

    There may be tens of thousands of both: their parts are made when they are written.
    """
    findings, differences = report.findings, report.differences
    counts = report.counts
    return {
        "apiVersion": API_VERSION,
        "kind": "Audit",
        "registry": {"name": report.registry, "address": report.address},
        "broker": report.line,
        "brokerSettings": broker_document(report.broker),
        "asIfBroker": report.target or None,
        "asIfStrategy": report.strategy or None,
        "counts": {
            "namespaces": counts.namespaces,
            "topics": counts.topics,
            "versions": counts.versions,
            "topicsThatLoseSomething": counts.changed,
        },
        "findings": Items(lambda: map(finding_document, findings), is_empty=not findings),
        "differences": Items(lambda: map(_topic, differences), is_empty=not differences),
        "steps": list(report.steps),
        "unlisted": report.unlisted or None,
        "limits": list(report.limits),
    }


def _topic(topic_differences: TopicDifferences) -> dict[str, Any]:
    return {
        "topic": str(topic_differences.topic),
        "operations": [_operation(difference) for difference in topic_differences.differences],
    }


def _operation(difference: Difference) -> dict[str, Any]:
    return {
        "operation": difference.operation.value,
        "version": difference.version,
        "before": _answer(difference.before),
        "after": _answer(difference.after),
    }


def _answer(decision: Decision) -> dict[str, Any]:
    return {
        "accepted": decision.accepted,
        "status": decision.status,
        "reason": decision.reason,
    }
