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
    topics = sorted(topics_of(report), key=lambda one: one.topic)
    return {
        "apiVersion": API_VERSION,
        "kind": "Replay",
        "registry": report.registry,
        "history": {"source": report.source, "limits": list(report.limits)},
        "complete": report.complete,
        "rows": report.rows,
        "topics": [_topic(one) for one in topics],
        "findings": [finding_document(one) for one in report.findings],
    }


def _topic(topic: TopicResult) -> dict[str, Any]:
    return {
        "topic": str(topic.topic),
        "strategy": topic.strategy.value,
        "rows": topic.rows,
        "readers": [_reader(one) for one in topic.asked],
        "notReplayed": [_aside(one) for one in topic.aside],
    }


def _reader(one: ReaderReplay) -> dict[str, Any]:
    return {
        "reader": one.reader,
        "direction": one.direction.value,
        "gates": one.gates,
        "logicalTypes": one.logical_types,
        **_aside(one),
        "failed": one.failed,
        "counted": one.counted,
        "fields": [_field(each) for each in one.fields],
    }


def _aside(one: ReaderReplay) -> dict[str, Any]:
    return {
        "version": one.version,
        "rows": one.rows,
        "failures": [_failure(each) for each in one.failures],
    }


def _failure(one: ReplayFailure) -> dict[str, Any]:
    return {
        "path": one.path,
        "reason": one.reason,
        "rows": one.rows,
        "examples": [
            {"where": each.where, "message": each.message, "value": each.value}
            for each in one.examples
        ],
    }


def _field(one: FieldReplay) -> dict[str, Any]:
    return {
        "path": one.path,
        "read": one.read,
        "promoted": one.promoted,
        "changed": one.changed,
        "defaulted": one.defaulted,
        "dropped": one.dropped,
        "nulls": one.nulls,
        "symbols": dict(one.symbols),
        "branches": dict(one.branches),
        "distributions": [_distribution(each) for each in one.distributions],
        "example": _changed(one.example),
    }


def _distribution(one: Distribution) -> dict[str, Any]:
    return {
        "unit": one.unit,
        "width": one.width,
        "bins": [{"from": start, "count": count} for start, count in one.bins],
        "least": one.least,
        "most": one.most,
        "other": one.other,
    }


def _changed(one: ChangedExample | None) -> dict[str, Any] | None:
    if one is None:
        return None
    return {"where": one.where, "reason": one.reason, "before": one.before, "after": one.after}
