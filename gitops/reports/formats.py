"""The table of report formats: format × kind of result → renderer. Nothing else names a format.

A new format is a module with its renderers and a line here for each kind of result that it has.
A command offers every format that has all kinds of its results. A renderer of `ReviewResult`
serves every kind that is one, unless the format has a renderer of its own for that kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from gitops.reports import operation_results, results

if TYPE_CHECKING:
    from rich.console import RenderableType

_TEXT: Final = "gitops.reports.text"
_JSON: Final = "gitops.reports.json.results"

FORMATS: Final[Mapping[str, Mapping[type, str]]] = {
    "text": {
        results.FindingsResult: f"{_TEXT}.findings:findings_text",
        results.CheckResult: f"{_TEXT}.check:check_text",
        results.PlanResult: f"{_TEXT}.plan:plan_text",
        results.PlansResult: f"{_TEXT}.plan:plans_text",
        results.DecisionResult: f"{_TEXT}.decision:decision_text",
        results.ReplayResult: f"{_TEXT}.replay:replay_text",
        results.RolloutResult: f"{_TEXT}.rollout:rollout_text",
        # A class makes a line of each part as soon as it is there.
        results.AppliedResult: f"{_TEXT}.apply:ActionLines",
        operation_results.JournalResult: f"{_TEXT}.journal:journal_text",
        results.ImportResult: f"{_TEXT}.written_files:import_text",
        operation_results.SnapshotResult: f"{_TEXT}.written_files:snapshot_text",
        results.CaptureResult: f"{_TEXT}.written_files:capture_text",
        results.PublicationResult: f"{_TEXT}.publication:publication_text",
        results.ForecastResult: f"{_TEXT}.publication:forecast_text",
        results.FmtResult: f"{_TEXT}.findings:fmt_text",
        results.VersionResult: f"{_TEXT}.history:version_text",
        results.VersionsResult: f"{_TEXT}.history:versions_text",
        results.PoliciesResult: f"{_TEXT}.history:policies_text",
        results.ConnectionResult: f"{_TEXT}.decision:connection_text",
        results.ClientConnectionsResult: f"{_TEXT}.decision:client_connections_text",
        results.ExtractionResult: f"{_TEXT}.history:extraction_text",
        results.MatchResult: f"{_TEXT}.decision:match_text",
        operation_results.AuditResult: f"{_TEXT}.audit:audit_text",
        operation_results.DriftResult: f"{_TEXT}.drift:drift_text",
        operation_results.RestoreResult: f"{_TEXT}.restore:restore_text",
    },
    "json": {
        results.FindingsResult: f"{_JSON}:findings",
        results.CheckResult: f"{_JSON}:check",
        results.PlanResult: f"{_JSON}:plan",
        results.PlansResult: f"{_JSON}:plans",
        results.DecisionResult: f"{_JSON}:decision",
        results.ReplayResult: f"{_JSON}:replay",
        results.RolloutResult: f"{_JSON}:rollout",
        results.AppliedResult: f"{_JSON}:apply",
        results.AppliedPlansResult: f"{_JSON}:apply_plans",
        operation_results.JournalResult: f"{_JSON}:journal",
        results.ImportResult: f"{_JSON}:import_registry",
        operation_results.SnapshotResult: f"{_JSON}:snapshot",
        results.PublicationResult: f"{_JSON}:publication",
        results.ForecastResult: f"{_JSON}:forecast",
        results.FmtResult: f"{_JSON}:fmt",
        results.VersionResult: f"{_JSON}:version",
        results.VersionsResult: f"{_JSON}:versions",
        results.PoliciesResult: f"{_JSON}:policies",
        results.ConnectionResult: f"{_JSON}:connection",
        results.ClientConnectionsResult: f"{_JSON}:client_connections",
        results.ExtractionResult: f"{_JSON}:extraction",
        results.MatchResult: f"{_JSON}:match",
        operation_results.AuditResult: f"{_JSON}:audit",
        operation_results.DriftResult: f"{_JSON}:drift",
        operation_results.RestoreResult: "gitops.reports.json.restore:restore_json",
    },
    "markdown": {
        results.ReviewResult: "gitops.reports.markdown.report:review_markdown",
        results.DecisionResult: "gitops.reports.markdown.document:decision_result_markdown",
        results.ReplayResult: "gitops.reports.markdown.replay:replay_result_markdown",
        operation_results.AuditResult: "gitops.reports.markdown.audit:audit_markdown",
        operation_results.DriftResult: "gitops.reports.markdown.drift:drift_markdown",
        operation_results.RestoreResult: "gitops.reports.markdown.restore:restore_markdown",
    },
    "github": {results.ReviewResult: "gitops.reports.github:step_output"},
    "sarif": {results.ReviewResult: "gitops.reports.sarif:sarif_text"},
    "codequality": {results.ReviewResult: "gitops.reports.codequality:codequality_text"},
    "html": {
        results.ReplayPage: "gitops.reports.html.replay:page_html",
        operation_results.AuditResult: "gitops.reports.html.audit:audit_html",
    },
}

DEFAULT: Final = "text"
PAGE: Final = "html"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepFiles:
    """For a step of a workflow: values for later steps, and a summary in at most so many bytes."""

    outputs: Mapping[str, str]
    summary: Callable[[int], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What a renderer makes: text as it is, in parts too, or something that a terminal lays out.

    A note is for people, who find it on stderr unless they want it in a file.
    """

    body: str | Iterator[str] | RenderableType
    is_note: bool = False
    step: StepFiles | None = None


def available_formats(*kinds: type) -> tuple[str, ...]:
    """The formats that have all of these kinds of results."""
    return tuple(name for name in FORMATS if all(_row(name, kind) for kind in kinds))


def renderer(name: str, kind: type) -> Any:  # noqa: ANN401 - each takes its own kind of result
    """What makes the format's text of this kind, imported now; KeyError where it has none."""
    module, _, function = _row(name, kind).partition(":")
    if not function:
        raise KeyError(f"{name} has no {kind.__name__}")
    return getattr(import_module(module), function)


def render(name: str, result: object) -> Output:
    """The result in this format."""
    made = renderer(name, type(result))(result)
    return made if isinstance(made, Output) else Output(body=made)


def summary(result: results.ReviewResult, limit: int) -> str:
    """The result as Markdown in at most `limit` bytes, for formats that add a summary."""
    return str(renderer("markdown", type(result))(result, limit))


def _row(name: str, kind: type) -> str:
    """The nearest row: of the kind itself, or of what it is one of; empty where there is none."""
    return next((FORMATS[name][item] for item in kind.__mro__ if item in FORMATS[name]), "")
