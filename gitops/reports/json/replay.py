"""A replay as stable JSON: nothing in it depends on the engine or the time."""

from __future__ import annotations

from typing import Any

from gitops.model.replay import (
    ChangedExample,
    Distribution,
    FieldReplay,
    ReaderReplay,
    ReplayFailure,
    ReplayReport,
)
from gitops.planning.plan_document import API_VERSION, finding_document
from gitops.reports.replay_by_topic import TopicResult, topics_of


def replay_document(report: ReplayReport) -> dict[str, Any]:
    """Everything in a report, by topic."""
    topics = sorted(topics_of(report), key=lambda result: result.topic)
    return {
        "apiVersion": API_VERSION,
        "kind": "Replay",
        "registry": report.registry,
        "history": {"source": report.source, "limits": list(report.limits)},
        "complete": report.complete,
        "rows": report.rows,
        "topics": [_topic(topic) for topic in topics],
        "findings": [finding_document(finding) for finding in report.findings],
    }


def _topic(topic: TopicResult) -> dict[str, Any]:
    return {
        "topic": str(topic.topic),
        "strategy": topic.strategy.value,
        "rows": topic.rows,
        "readers": [_reader(reader) for reader in topic.asked],
        "notReplayed": [_aside(reader) for reader in topic.aside],
    }


def _reader(reader: ReaderReplay) -> dict[str, Any]:
    return {
        "reader": reader.reader,
        "direction": reader.direction.value,
        "gates": reader.gates,
        "logicalTypes": reader.logical_types,
        **_aside(reader),
        "failed": reader.failed,
        "counted": reader.counted,
        "fields": [_field(field) for field in reader.fields],
    }


def _aside(reader: ReaderReplay) -> dict[str, Any]:
    return {
        "version": reader.version,
        "rows": reader.rows,
        "failures": [_failure(failure) for failure in reader.failures],
    }


def _failure(failure: ReplayFailure) -> dict[str, Any]:
    return {
        "path": failure.path,
        "reason": failure.reason,
        "rows": failure.rows,
        "examples": [
            {"where": example.where, "message": example.message, "value": example.value}
            for example in failure.examples
        ],
    }


def _field(field: FieldReplay) -> dict[str, Any]:
    return {
        "path": field.path,
        "read": field.read,
        "promoted": field.promoted,
        "changed": field.changed,
        "defaulted": field.defaulted,
        "dropped": field.dropped,
        "nulls": field.nulls,
        "symbols": dict(field.symbols),
        "branches": dict(field.branches),
        "distributions": [_distribution(distribution) for distribution in field.distributions],
        "example": _changed(field.example),
    }


def _distribution(distribution: Distribution) -> dict[str, Any]:
    return {
        "unit": distribution.unit,
        "width": distribution.width,
        "bins": [{"from": start, "count": count} for start, count in distribution.bins],
        "least": distribution.least,
        "most": distribution.most,
        "other": distribution.other,
    }


def _changed(example: ChangedExample | None) -> dict[str, Any] | None:
    if example is None:
        return None
    return {
        "where": example.where,
        "reason": example.reason,
        "before": example.before,
        "after": example.after,
    }
