"""A restore as stable JSON."""

from __future__ import annotations

from typing import Any

from gitops.model.policy import value_text
from gitops.model.restore import Difference, Obstacle, Restore, TopicRestore
from gitops.planning.fingerprints import subject_name
from gitops.planning.plan_document import API_VERSION
from gitops.reports.json.documents import error_document, to_text
from gitops.reports.operation_results import RestoreResult

Document = dict[str, Any]


def restore_json(result: RestoreResult) -> str:
    """`Restore`."""
    return to_text(restore_document(result))


def restore_document(result: RestoreResult) -> Document:
    """What is to be done or was done, what keeps it from being done, and what is there after it."""
    restore, check = result.restore, result.check
    return {
        "apiVersion": API_VERSION,
        "kind": "Restore",
        "registry": {"name": restore.plan.registry, "address": restore.plan.address},
        "snapshot": _snapshot(restore),
        "dryRun": result.dry_run,
        "topics": [_topic(topic) for topic in restore.topics],
        "obstacles": [_obstacle(obstacle) for obstacle in restore.obstacles],
        "left": [_difference(difference) for difference in restore.left],
        "unrecorded": [_difference(difference) for difference in restore.unrecorded],
        "notes": list(restore.notes),
        "policies": [
            {
                "subject": subject_name(subject),
                "key": change.key,
                "before": value_text(change.before),
                "after": value_text(change.after),
            }
            for subject, changes in result.policies.items()
            for change in changes
        ],
        "actions": {
            "planned": len(restore.plan.actions),
            "done": sum(item.error is None and not item.closes for item in result.results),
            "setBack": sum(item.closes and item.error is None for item in result.results),
        },
        "error": error_document(result.error) if result.error else None,
        "check": None
        if check is None
        else {
            "versions": check.versions,
            "differences": [
                {"topic": str(topic), "reason": why} for topic, why in check.differences.items()
            ],
        },
    }


def _snapshot(restore: Restore) -> Document:
    return {
        "registry": restore.source,
        "release": restore.release or None,
        "taken": restore.taken or None,
    }


def _topic(restore: TopicRestore) -> Document:
    return {
        "topic": str(restore.topic),
        "recordedVersions": [entry.version for entry in restore.recorded.entries],
        "nextVersion": restore.recorded.next_version,
        "deletions": list(restore.deletions),
        "versions": list(restore.versions),
    }


def _difference(difference: Difference) -> Document:
    return {
        "subject": subject_name(difference.subject),
        "reason": difference.reason,
        "hint": difference.hint,
    }


def _obstacle(obstacle: Obstacle) -> Document:
    return {
        "subject": subject_name(obstacle.subject),
        "reason": obstacle.reason,
        "hint": obstacle.hint,
        "versions": list(obstacle.versions),
    }
