"""Drift as stable JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

from gitops.model.drift import (
    DefinitionAnswer,
    Drift,
    DriftReport,
    NamespaceDeletion,
    PartitionDrift,
    PolicyDrift,
    SchemaDeletion,
    UnmanagedNamespace,
    UnmanagedTopic,
    VersionDrift,
    VersionLoss,
    VersionOutsideGit,
)
from gitops.model.policy import value_text
from gitops.planning.plan_document import API_VERSION, change_document
from gitops.reports.json.documents import error_document
from gitops.reports.operation_results import DriftResult

if TYPE_CHECKING:
    from gitops.repository.writing.adoption import Adoption

Document = dict[str, Any]


def drift_document(result: DriftResult) -> Document:
    """The drift of each registry, and why that of others is not known."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Drift",
        "registries": [
            _report(registry.report) for registry in result.registries if registry.report
        ],
        "failures": [
            {"registry": planned.registry, **error_document(planned.error)}
            for planned in result.registries
            if planned.error
        ],
        "adoption": None if result.adoption is None else _adoption(result.adoption),
    }


def _adoption(adoption: Adoption) -> Document:
    return {
        "adopted": sorted(map(str, adoption.adopted)),
        "files": sorted(adoption.files),
        "removed": list(adoption.removed),
        "unused": list(adoption.unused),
        "keptAsBase64": [
            {"topic": str(topic), "reason": why}
            for topic, why in sorted(adoption.kept_as_base64.items())
        ],
        "refused": [
            {"subject": str(item), "message": error.what, "where": error.where, "hint": error.hint}
            for item, error in sorted(adoption.refused.items(), key=lambda items: str(items[0]))
        ],
    }


def _report(report: DriftReport) -> Document:
    recording = report.recording
    return {
        "registry": {"name": report.registry, "address": report.address},
        "snapshot": None
        if recording is None
        else {
            "commit": recording.commit or None,
            "day": recording.day or None,
            "taken": recording.taken or None,
        },
        "counts": {"namespaces": report.namespaces, "topics": report.topics},
        "drifts": [_drift(drift) for drift in report.drifts],
        "pending": report.pending,
        "withoutSchema": report.without_schema,
        "unread": [
            {"topic": str(topic), "reason": why} for topic, why in sorted(report.unread.items())
        ],
        "unlisted": [str(namespace) for namespace in report.unlisted],
        "otherNamespaces": [str(other_namespace) for other_namespace in report.other_namespaces],
        "limits": list(report.limits),
        "recordedLosses": [
            {"topic": str(topic), "versions": list(versions)}
            for topic, versions in sorted(report.recorded_losses.items())
        ],
        "newClients": None
        if report.new_clients is None
        else [
            {
                "topic": str(topic),
                "subscriptions": [
                    {"name": subscription.name, "clients": list(subscription.clients)}
                    for subscription in new.subscriptions
                ],
                "producers": [
                    {"name": producer.name, "client": producer.client} for producer in new.producers
                ],
            }
            for topic, new in sorted(report.new_clients.items())
        ],
    }


def _drift(drift: Drift) -> Document:
    match drift:
        case VersionDrift():
            return {
                "drift": "Versions",
                "topic": str(drift.topic),
                "versions": [_version(version) for version in drift.versions],
                "definition": _answer(drift.definition),
                "limit": drift.limit,
            }
        case PolicyDrift() | PartitionDrift():
            return _policy(drift) if isinstance(drift, PolicyDrift) else _partitions(drift)
        case SchemaDeletion():
            return {
                "drift": "SchemaDeleted" if drift.topic_exists else "TopicDeleted",
                "topic": str(drift.topic),
                "recordedVersions": list(drift.versions),
                "nextVersion": drift.next_version,
                "journal": drift.journal or None,
            }
        case VersionLoss():
            return {
                "drift": "VersionsLost",
                "topic": str(drift.topic),
                "recordedVersions": list(drift.versions),
                "journal": drift.journal or None,
            }
        case NamespaceDeletion():
            return {"drift": "NamespaceDeleted", "namespace": str(drift.namespace)}
        case UnmanagedTopic():
            return _unmanaged_topic(drift)
        case UnmanagedNamespace():
            return {"drift": "UnmanagedNamespace", "namespace": str(drift.namespace)}
        case _:
            assert_never(drift)


def _version(version_outside_git: VersionOutsideGit) -> Document:
    return {
        "version": version_outside_git.version,
        "timestamp": version_outside_git.timestamp,
        "inSnapshot": version_outside_git.recorded,
        "changes": [change_document(change) for change in version_outside_git.changes],
    }


def _answer(answer: DefinitionAnswer) -> Document:
    return {
        "accepted": answer.version is not None,
        "version": answer.version,
        "isNew": answer.is_new,
        "reasons": list(answer.reasons),
        "consumersRefused": answer.consumers or None,
    }


def _policy(drift: PolicyDrift) -> Document:
    return {
        "drift": "Policy",
        "subject": str(drift.subject),
        "key": drift.key,
        "files": value_text(drift.files),
        "registry": value_text(drift.live),
        "snapshot": value_text(drift.recorded),
        "inSnapshot": drift.was_recorded,
        "lockouts": [
            {
                "rule": finding.rule,
                "severity": finding.severity.name.lower(),
                "message": finding.message,
                "subjects": list(finding.subjects),
            }
            for finding in drift.lockouts
        ],
    }


def _partitions(drift: PartitionDrift) -> Document:
    return {
        "drift": "Partitions",
        "topic": str(drift.topic),
        "files": drift.files,
        "registry": drift.live,
        "snapshot": drift.recorded,
    }


def _unmanaged_topic(drift: UnmanagedTopic) -> Document:
    return {
        "drift": "UnmanagedTopic",
        "topic": str(drift.topic),
        "type": drift.type.value if drift.type else None,
        "versions": list(drift.versions),
        "since": drift.since,
        "policies": {key: value_text(value) for key, value in drift.policies.items()},
    }
