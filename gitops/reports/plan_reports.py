"""Findings and plans as reports of no change: all that they contain is to be done."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace

from gitops.model.check import CheckReport, History, HistorySource, Impact, RegistryCheck
from gitops.model.findings import Finding
from gitops.model.plan import Plan
from gitops.model.rollout import Rollout


def files_report(findings: Sequence[Finding], command: str) -> CheckReport:
    """Findings about files as a report of no change and no registry."""
    return CheckReport(
        base="",
        head="",
        reference="",
        files="",
        touched=Impact(),
        findings=tuple(findings),
        command=command,
    )


def plans_report(
    plans: Sequence[Plan],
    failures: Mapping[str, str] | None = None,
    options: Sequence[str] = (),
) -> CheckReport:
    """Plans as a report of no change: all that they contain is to be done."""
    names = [plan.registry for plan in plans] + list(failures or {})
    prune = ["--prune"] if any(plan.prune for plan in plans) else []
    named = [word for name in names for word in ("--registry", name)]
    return CheckReport(
        base="",
        head="",
        reference="",
        files=plans[0].files if plans else "",
        touched=Impact(),
        registries=tuple(
            RegistryCheck(plan=plan, history=History(source=HistorySource.REGISTRY))
            for plan in plans
        ),
        failures=failures or {},
        command=shlex.join(["pulsar-gitops", "plan", *options, *named, *prune]),
    )


def rollout_report(plan: Plan, rollout: Rollout) -> CheckReport:
    """The steps towards the files as a report of no change."""
    report = plans_report([plan])
    (registry_check,) = report.registries
    return replace(report, registries=(replace(registry_check, rollout=rollout),))
