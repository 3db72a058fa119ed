"""Findings and histories as stable JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Final

from gitops.compatibility.decision import Decision
from gitops.model.findings import Finding
from gitops.model.names import NamespaceName, TopicName
from gitops.model.plan import SchemaChange
from gitops.model.policy import Policies, SchemaCompatibilityStrategy, plain_policies
from gitops.model.schema import SchemaEntry
from gitops.planning.plan_document import (
    API_VERSION,
    change_document,
    finding_document,
)

_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")


def to_text(document: object) -> str:
    """Indented JSON with a final line end; half a surrogate pair, which no file takes, escaped."""
    text = json.dumps(document, indent=2, ensure_ascii=False)
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n"


def findings_document(findings: Sequence[Finding]) -> dict[str, Any]:
    """All findings of a run."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Findings",
        "findings": [finding_document(finding) for finding in findings],
    }


def entry_document(topic: TopicName, entry: SchemaEntry) -> dict[str, Any]:
    """One stored version."""
    return {
        "topic": str(topic),
        "version": entry.version,
        "type": entry.info.type.value,
        "timestamp": entry.timestamp,
        "schema": entry.info.schema,
        "properties": dict(sorted(entry.info.properties.items())),
    }


def policies_document(
    subject: NamespaceName | TopicName, own: Policies, effective: SchemaCompatibilityStrategy
) -> dict[str, Any]:
    """What is set on a subject, and the strategy that holds for it."""
    return {
        "subject": str(subject),
        "policies": plain_policies(own),
        "effectiveSchemaCompatibilityStrategy": effective.value,
    }


def decision_document(
    decision: Decision, findings: Sequence[Finding], changes: Sequence[SchemaChange]
) -> dict[str, Any]:
    """What a broker would answer, and why."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Decision",
        "accepted": decision.accepted,
        "version": decision.version,
        "known": decision.known,
        "status": decision.status,
        "reason": decision.reason,
        "changes": [change_document(change) for change in changes],
        "findings": [finding_document(finding) for finding in findings],
    }
