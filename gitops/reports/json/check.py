"""A check as stable JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gitops.model.check import CheckReport, Impact, RegistryCheck
from gitops.model.findings import Finding
from gitops.model.plan import Plan
from gitops.model.rollout import Delete, Drain, Migration, Move, Register, Rollout, Step, Upgrade
from gitops.planning.plan_document import (
    API_VERSION,
    cause_documents,
    finding_document,
    proposal_document,
    to_document,
)
from gitops.reports.json.replay import replay_document
from gitops.reports.rollout_wording import Line, advice, lines, migration_lines
from gitops.rollout.acts import act_of


def check_document(report: CheckReport) -> dict[str, Any]:
    """Everything in a report, sorted, without a time."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Check",
        "base": report.base,
        "head": report.head,
        "reference": report.reference,
        "files": report.files,
        "touched": _touched(report.touched),
        "registries": [
            _registry(registry, has_base=bool(report.base)) for registry in report.registries
        ],
        "failures": [
            {"registry": name, "message": why} for name, why in sorted(report.failures.items())
        ],
        "unchecked": list(report.unchecked),
        "findings": _findings(report.findings),
        "causes": cause_documents(report.findings),
        "limitWaiver": proposal_document(report.limit_waiver),
        "command": report.command,
    }


def _touched(touched: Impact) -> dict[str, Any]:
    return {
        "topics": {str(name): list(files) for name, files in touched.topics.items()},
        "namespaces": {str(name): list(files) for name, files in touched.namespaces.items()},
        "clients": list(touched.clients),
        "waivers": list(touched.waivers),
        "removed": [str(topic) for topic in touched.removed],
        "renamed": {str(new): str(old) for new, old in touched.renamed.items()},
    }


def _registry(registry_check: RegistryCheck, *, has_base: bool) -> dict[str, Any]:
    history = registry_check.history
    return {
        "plan": to_document(registry_check.plan),
        "history": {
            "source": history.source.value,
            "recorded": history.recorded or None,
            "limits": list(history.limits),
        },
        "strategiesBefore": _by_name(
            {t: s.value for t, s in registry_check.strategies_before.items()}
        ),
        "refusedBefore": _by_name(
            {t: _findings(f) for t, f in registry_check.refused_before.items()}
        ),
        "drift": to_document(registry_check.drift) if registry_check.drift else None,
        "rollout": rollout_document(registry_check.rollout, registry_check.plan, has_base=has_base),
        "replay": replay_document(registry_check.replay) if registry_check.replay else None,
    }


def rollouts_document(report: CheckReport) -> dict[str, Any]:
    """The rollouts alone, by registry."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Rollouts",
        "base": report.base,
        "head": report.head,
        "rollouts": [
            {
                "registry": registry.plan.registry,
                **rollout_document(registry.rollout, registry.plan, has_base=bool(report.base)),
            }
            for registry in report.registries
        ],
    }


def rollout_document(rollout: Rollout, plan: Plan, *, has_base: bool = True) -> dict[str, Any]:
    """The steps in order and the lines that people read, or why there is no order."""
    numbers = {ordered.step: number for number, ordered in enumerate(rollout.steps)}
    return {
        "steps": [
            {
                **_step(ordered.step),
                "wave": ordered.wave,
                "reasons": list(
                    dict.fromkeys(wait.reason.sentence() for wait in ordered.waits_for)
                ),
                "mayStay": isinstance(ordered.step, Upgrade)
                and ordered.step.service in rollout.may_stay,
                "advice": "; ".join(advice(act_of(ordered), rollout)) or None,
            }
            for ordered in rollout.steps
        ],
        "lines": [
            _line(line, numbers) for line in lines(rollout, plan, merged_already=not has_base)
        ],
        "later": sorted(rollout.later),
        "blocks": [block.reason for block in rollout.blocks],
        "broken": list(rollout.broken),
        "refused": [str(topic) for topic in rollout.refused],
        "migrations": [_migration(migration) for migration in rollout.migrations],
        **({"notes": list(rollout.notes)} if rollout.notes else {}),
    }


def _line(line: Line, numbers: Mapping[Step, int]) -> dict[str, Any]:
    """One act; its steps are counted from 0."""
    return {
        "kind": line.kind.value,
        "text": line.text,
        "steps": sorted(numbers[ordered.step] for ordered in line.steps),
        "reasons": [reason.sentence() for reason in line.reasons],
        "advice": list(line.advice),
        "warnings": list(line.warnings),
    }


def _migration(migration: Migration) -> dict[str, Any]:
    moves = zip(Move, migration_lines(migration), strict=True)
    return {
        "topic": str(migration.topic),
        "to": str(migration.to),
        "consumers": list(migration.consumers),
        "producers": list(migration.producers),
        "steps": [{"kind": move.value, "text": text} for move, (_, text) in moves],
    }


def _step(step: Step) -> dict[str, Any]:
    match step:
        case Upgrade():
            return {"kind": "upgrade", "client": step.service, "topic": None, "version": None}
        case Register() | Drain():
            kind = "register" if isinstance(step, Register) else "drain"
            topic = str(step.topic)
            return {"kind": kind, "client": None, "topic": topic, "version": step.version}
        case Delete():
            return {"kind": "delete", "client": None, "topic": str(step.topic), "version": None}


def _by_name(values: Mapping[Any, Any]) -> dict[str, Any]:
    return dict(sorted((str(name), value) for name, value in values.items()))


def _findings(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    return [finding_document(finding) for finding in findings]
