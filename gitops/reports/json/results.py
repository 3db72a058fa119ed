"""Each kind of result as the text of a JSON document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gitops.planning.plan_document import to_document
from gitops.reports import operation_results, results
from gitops.reports.json.audit import audit_document
from gitops.reports.json.check import check_document, rollouts_document
from gitops.reports.json.documents import (
    applied_document,
    applied_plans_document,
    client_connections_document,
    connection_document,
    decision_document,
    entry_document,
    findings_document,
    formatted_document,
    imported_document,
    info_document,
    journal_document,
    match_document,
    plans_document,
    policies_document,
    recorded_document,
    to_parts,
    to_text,
)
from gitops.reports.json.drift import drift_document
from gitops.reports.json.publication import forecast_document, publication_document
from gitops.reports.json.replay import replay_document


def findings(result: results.FindingsResult) -> str:
    """`Findings`."""
    return to_text(findings_document(result.findings))


def check(result: results.CheckResult) -> str:
    """`Check`."""
    return to_text(check_document(result.check))


def plan(result: results.PlanResult) -> str:
    """The plan, as `plan --out` writes it."""
    return to_text(to_document(result.plan))


def plans(result: results.PlansResult) -> str:
    """`Plans`."""
    failures = [(planned.registry, planned.error) for planned in result.plans if planned.error]
    return to_text(
        plans_document([registry.plan for registry in result.plans if registry.plan], failures)
    )


def decision(result: results.DecisionResult) -> str:
    """`Decision`."""
    comparison = result.comparison
    return to_text(decision_document(comparison.decision, comparison.findings, comparison.changes))


def replay(result: results.ReplayResult) -> str:
    """`Replay`."""
    return to_text(replay_document(result.replay))


def rollout(result: results.RolloutResult) -> str:
    """`Rollouts`."""
    return to_text(rollouts_document(result.report))


def apply(result: results.AppliedResult) -> str:
    """`Applied`."""
    return to_text(_applied(result))


def apply_plans(result: results.AppliedPlansResult) -> str:
    """`AppliedPlans`."""
    return to_text(applied_plans_document(map(_applied, result.applied), result.failures))


def _applied(result: results.AppliedResult) -> dict[str, Any]:
    return applied_document(
        result.plan,
        result.results,
        digest=result.digest,
        done_before=result.done_before,
        skipped=result.skipped,
    )


def journal(result: operation_results.JournalResult) -> str:
    """`Journal`."""
    return to_text(journal_document(result.path, result.runs))


def import_registry(result: results.ImportResult) -> str:
    """`Imported`."""
    return to_text(imported_document(result.registry, result.files, result.topics, result.kept))


def snapshot(result: operation_results.SnapshotResult) -> str:
    """`Recorded`."""
    return to_text(recorded_document(result))


def fmt(result: results.FmtResult) -> str:
    """`Formatted`."""
    document = formatted_document(result.formatting, written=result.written, diff=result.diff)
    return to_text(document)


def version(result: results.VersionResult) -> str:
    """One stored version."""
    return to_text(entry_document(result.topic, result.entry))


def versions(result: results.VersionsResult) -> str:
    """A list of stored versions."""
    return to_text([entry_document(result.topic, entry) for entry in result.history.entries])


def policies(result: results.PoliciesResult) -> str:
    """The policies of a subject, and its strategy."""
    return to_text(policies_document(result.subject, result.own, result.effective))


def connection(result: results.ConnectionResult) -> str:
    """`Connection`."""
    return to_text(connection_document(result.connection, result.registry))


def client_connections(result: results.ClientConnectionsResult) -> str:
    """`ClientConnections`."""
    return to_text(client_connections_document(result.connections, result.registry))


def publication(result: results.PublicationResult) -> str:
    """`Publication`."""
    return to_text(publication_document(result))


def forecast(result: results.ForecastResult) -> str:
    """`PublicationForecast`."""
    return to_text(forecast_document(result))


def extraction(result: results.ExtractionResult) -> str:
    """What `schemas upload` and `pulsar-admin schemas upload` accept."""
    return to_text(info_document(result.info))


def match(result: results.MatchResult) -> str:
    """`SchemaMatch`."""
    return to_text(match_document(result.matched, result.registry))


def audit(result: operation_results.AuditResult) -> Iterator[str]:
    """`Audit`."""
    return to_parts(audit_document(result.audit))


def drift(result: operation_results.DriftResult) -> str:
    """`Drift`."""
    return to_text(drift_document(result))
