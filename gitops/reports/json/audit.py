"""An audit as stable JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gitops.model.audit import AuditReport, Difference, TopicDifferences
from gitops.model.decision import Decision
from gitops.planning.broker_document import broker_document
from gitops.planning.plan_document import API_VERSION, finding_document


def audit_document(report: AuditReport) -> dict[str, Any]:
    """Findings by cause, and of each topic every operation that the target line changes."""
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
        "findings": [finding_document(one) for one in report.findings],
        "differences": _topics(report.differences),
        "steps": list(report.steps),
        "unlisted": report.unlisted or None,
        "limits": list(report.limits),
    }


def _topics(differences: Sequence[TopicDifferences]) -> list[dict[str, Any]]:
    """Topics that lose the same share one list: there may be tens of thousands of them."""
    known: dict[tuple[Difference, ...], list[dict[str, Any]]] = {}
    for one in differences:
        if one.differences not in known:
            known[one.differences] = [_operation(each) for each in one.differences]
    return [{"topic": str(one.topic), "operations": known[one.differences]} for one in differences]


def _operation(one: Difference) -> dict[str, Any]:
    return {
        "operation": one.operation.value,
        "version": one.version,
        "before": _answer(one.before),
        "after": _answer(one.after),
    }


def _answer(decision: Decision) -> dict[str, Any]:
    return {
        "accepted": decision.accepted,
        "status": decision.status,
        "reason": decision.reason,
    }
