"""Findings and histories as stable JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final

from gitops.changes.client_connections import Answer, ClientConnections
from gitops.model.apply_result import Result
from gitops.model.decision import Decision
from gitops.model.errors import GitopsError
from gitops.model.findings import Finding
from gitops.model.journal import JournalRun, outcome_of
from gitops.model.names import NamespaceName, TopicName
from gitops.model.plan import Plan, SchemaChange
from gitops.model.policy import Policies, SchemaCompatibilityStrategy, plain_policies
from gitops.model.schema import SchemaEntry, SchemaInfo
from gitops.planning.plan_document import (
    API_VERSION,
    action_document,
    change_document,
    finding_document,
    to_document,
)
from gitops.planning.registry_comparison import version_skews
from gitops.planning.skipped_subjects import SkippedSubject
from gitops.ports import Registry
from gitops.reports.operation_results import SnapshotResult
from gitops.repository.formatting.repository import FormatResult
from gitops.repository.writing.imported_files import ImportedFiles
from gitops.usecases.connect import Connection, SchemaAdmission
from gitops.usecases.schemas import ClassMatch

_PIECES: Final = 10_000
_UNSEEN: Final = re.compile(
    "[\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f"
    "\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0001\U000e0020-\U000e007f]"
)
"""Controls, formats, ends of lines and halves of pairs: some turn a text around, or end a line."""


def to_text(document: object) -> str:
    """Indented JSON with a final line end; what cannot be seen, or ends a line, escaped.

    So are half a surrogate pair, which no file takes, and `##[`, which starts a command wherever it
    stands in the log of a GitHub workflow.
    """
    return "".join(to_parts(document))


def to_parts(document: object) -> Iterator[str]:
    """The same in parts, of which a document that may be large needs one at a time."""
    pieces = json.JSONEncoder(indent=2, ensure_ascii=False).iterencode(document)
    while part := "".join(islice(pieces, _PIECES)):  # each string is one piece
        escaped = part.replace("##[", "##\\u005b")
        yield _UNSEEN.sub(_escaped, escaped)
    yield "\n"


def _escaped(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


class Items(list[Any]):
    """A list for `to_parts` whose items are made one by one, when their turn has come."""

    def __init__(self, make: Callable[[], Iterable[object]], *, is_empty: bool) -> None:
        super().__init__([] if is_empty else [None])  # an encoder asks whether there are any
        self._make = make

    def __iter__(self) -> Iterator[object]:
        return iter(self._make())


def findings_document(findings: Sequence[Finding]) -> dict[str, Any]:
    """All findings of a run."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Findings",
        "findings": [finding_document(finding) for finding in findings],
    }


def plans_document(
    plans: Sequence[Plan], failures: Sequence[tuple[str, GitopsError]]
) -> dict[str, Any]:
    """The plans for several registries, and why others have none, by the registry's name."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Plans",
        "plans": [to_document(plan) for plan in plans],
        "failures": _failures(failures),
        "versionSkew": [
            {
                "topic": str(version_skew.topic),
                "versions": dict(version_skew.versions),
                "sameSchema": version_skew.same_schema,
            }
            for version_skew in version_skews(plans)
        ],
    }


def applied_document(
    plan: Plan,
    results: Sequence[Result],
    *,
    digest: str,
    done_before: int,
    skipped: Sequence[SkippedSubject] = (),
) -> dict[str, Any]:
    """What became of each action of `plan`; those without a result were not attempted.

    Where it stopped, what set a loosened topic back stands behind the action that failed.

    `digest` is that of the plan that was reviewed, `done_before` how many of its actions an
    earlier run had carried out. `skipped` are subjects that are left as they are.
    """
    tried = {id(result.action) for result in results}
    left = [action for action in plan.actions if id(action) not in tried]
    return {
        "apiVersion": API_VERSION,
        "kind": "Applied",
        "registry": {"name": plan.registry, "address": plan.address},
        "plan": digest,
        "doneBefore": done_before,
        "results": [
            *(_result(result) for result in results),
            *(_result(Result(action=action), outcome="notAttempted") for action in left),
        ],
        "findings": [finding_document(finding) for finding in plan.findings],
        **(
            {"skipped": [_skipped_document(skipped_subject) for skipped_subject in skipped]}
            if skipped
            else {}
        ),
    }


def _skipped_document(skipped: SkippedSubject) -> dict[str, Any]:
    return {
        "subject": skipped.subject,
        "rule": skipped.rule,
        "reason": skipped.reason,
        "actions": skipped.actions,
    }


def applied_plans_document(
    applied: Iterable[dict[str, Any]], failures: Sequence[tuple[str, GitopsError]]
) -> dict[str, Any]:
    """What became of the plans of several registries, and why some are not carried out whole."""
    return {
        "apiVersion": API_VERSION,
        "kind": "AppliedPlans",
        "applied": list(applied),
        "failures": _failures(failures),
    }


def _failures(failures: Sequence[tuple[str, GitopsError]]) -> list[dict[str, Any]]:
    return [{"registry": name, **error_document(error)} for name, error in failures]


def _result(result: Result, outcome: str = "") -> dict[str, Any]:
    return {
        "action": action_document(result.action),
        "outcome": outcome or outcome_of(result.error).value,
        "version": result.version,
        "error": error_document(result.error) if result.error else None,
        "closes": result.closes,
    }


def error_document(error: GitopsError) -> dict[str, Any]:
    """What happened, where, what to do, and the exit code that it would have been alone."""
    return {
        "message": error.what,
        "where": error.where,
        "hint": error.hint,
        "exitCode": error.exit_code,
    }


def journal_document(path: str, runs: Iterable[JournalRun]) -> dict[str, Any]:
    """The applies that a journal tells of, each with its attempts."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Journal",
        "path": path,
        "applies": [_run(run) for run in runs],
    }


def _run(run: JournalRun) -> dict[str, Any]:
    return {
        "registry": {"name": run.registry, "address": run.address},
        "plan": run.digest,
        "began": run.began,
        "ended": run.ended or None,
        "outcome": run.outcome or "unknown",
        "actions": run.actions,
        "doneBefore": run.done_before,
        "attempts": [
            {
                "action": attempt.action,
                "outcome": attempt.outcome.value,
                "version": attempt.version,
                "error": attempt.error or None,
                "closes": attempt.closes,
            }
            for attempt in run.attempts
        ],
    }


def imported_document(
    registry: Registry, made: ImportedFiles, topics: Iterable[TopicName], kept: Iterable[TopicName]
) -> dict[str, Any]:
    """The files that an import wrote, for which topics, and those that had a manifest before."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Imported",
        "registry": {"name": registry.name, "address": registry.address},
        "files": sorted(made.files),
        "topics": [str(topic) for topic in sorted(topics)],
        "kept": [str(topic) for topic in sorted(kept)],
        "keptAsBase64": [
            {"topic": str(topic), "reason": reason}
            for topic, reason in sorted(made.kept_as_base64.items())
        ],
        "ownTypes": [
            {"topic": str(topic), "types": list(types)}
            for topic, types in sorted(made.unshared.items())
        ],
    }


def recorded_document(result: SnapshotResult) -> dict[str, Any]:
    """The files of a snapshot, and how many of them are new, other or gone."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Recorded",
        "registry": {"name": result.registry.name, "address": result.registry.address},
        "files": sorted(result.files),
        "changed": result.changed,
        "notes": list(result.notes),
    }


def formatted_document(formatting: FormatResult, *, written: bool, diff: bool) -> dict[str, Any]:
    """What `fmt` changed, or would change where nothing was `written`."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Formatted",
        "written": written,
        "files": [
            {
                "path": change.path,
                **({"diff": change.diff} if diff and not change.sensitive else {}),
            }
            for change in formatting.changes
        ],
        "inOrder": formatting.canonical,
        "findings": [finding_document(finding) for finding in formatting.findings],
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


def info_document(info: SchemaInfo) -> dict[str, Any]:
    """A schema as POST of admin REST takes it."""
    return {
        "type": info.type.value,
        "schema": info.schema,
        "properties": dict(sorted(info.properties.items())),
    }


def match_document(matched: ClassMatch, registry: Registry) -> dict[str, Any]:
    """What a topic has of the schema of a class."""
    match, decision = matched.match, matched.match.decision
    file = {"path": match.file, "version": match.file_version} if match.file else None
    return {
        "apiVersion": API_VERSION,
        "kind": "SchemaMatch",
        "pulsar": match.line.example,
        "registry": {"name": registry.name, "address": registry.address},
        "topic": str(match.topic),
        "class": matched.name,
        "type": matched.extraction.info.type.value,
        "schemaCompatibilityStrategy": match.strategy.value,
        "accepted": decision.accepted,
        "version": decision.version,
        "known": decision.known,
        "registered": match.is_registered,
        "file": file,
        "reason": decision.reason,
        "changes": [change_document(change) for change in match.changes],
        "findings": [finding_document(finding) for finding in match.findings],
        "notes": list(matched.extraction.notes),
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


def connection_document(connection: Connection, registry: Registry) -> dict[str, Any]:
    """Whether a client is let in, with each of its schemas, and every step of the decision."""
    request, policies = connection.request, connection.policies
    return {
        "apiVersion": API_VERSION,
        "kind": "Connection",
        "pulsar": connection.line.example,
        "registry": {"name": registry.name, "address": registry.address},
        "topic": str(request.topic),
        "role": request.role,
        "topicUse": request.use,
        "policies": {
            "schemaCompatibilityStrategy": policies.strategy.value,
            "isAllowAutoUpdateSchema": policies.allows_auto_update,
            "schemaValidationEnforced": policies.enforces_validation,
        },
        "accepted": connection.accepted,
        "admissions": [_admission(schema_admission) for schema_admission in connection.answered],
        "misread": [
            {
                "language": misread_version.language,
                "version": misread_version.version,
                "path": misread_version.path,
                "message": misread_version.message,
                "wrongValues": misread_version.is_silent,
            }
            for misread_version in connection.misread
        ],
        "notes": list(connection.notes),
    }


def client_connections_document(
    connections: ClientConnections, registry: Registry
) -> dict[str, Any]:
    """Whether a declared client is let in, with each of its schemas, now and after the plan."""
    return {
        "apiVersion": API_VERSION,
        "kind": "ClientConnections",
        "pulsar": connections.line.example,
        "registry": {"name": registry.name, "address": registry.address},
        "client": connections.client.name,
        "accepted": connections.accepted,
        "connections": [
            {
                "topic": str(connection.topic),
                "role": connection.role,
                "subscription": connection.subscription or None,
                "schema": connection.schema,
                "location": str(connection.location),
                "now": _answer(connection.now),
                "afterPlan": _answer(connection.after_plan),
            }
            for connection in connections.connections
        ],
        "notes": list(connections.notes),
    }


def _answer(answer: Answer) -> dict[str, Any]:
    admission = answer.admission
    return {
        "answer": answer.verdict,
        "reason": answer.reason,
        "version": admission.version if admission else None,
        "registers": admission.registers if admission else False,
        "error": admission.error if admission else None,
    }


def _admission(answered: SchemaAdmission) -> dict[str, Any]:
    admission = answered.admission
    return {
        "request": admission.request,
        "schema": answered.name,
        "sends": admission.sent.type.value if admission.sent else None,
        "accepted": admission.accepted,
        "version": admission.version,
        "registers": admission.registers,
        "error": admission.error,
        "message": admission.decision.reason if admission.error else "",
        "steps": [
            {
                "question": step.question,
                "answer": step.answer,
                "passed": step.passed,
                "why": step.why,
            }
            for step in admission.steps
        ],
        "notes": list(admission.notes),
        "findings": [finding_document(finding) for finding in answered.findings],
        "differs": None
        if answered.differs is None
        else {
            "version": answered.differs.version,
            "changes": [change_document(change) for change in answered.differs.changes],
            "advice": answered.differs.advice,
        },
    }
