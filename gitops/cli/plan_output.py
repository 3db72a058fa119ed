"""What `plan` and `apply` share: making a plan, showing it, and its exit code."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import RenderableType

from gitops.changes.known_names import known_names
from gitops.cli.console import make_folder, print_report, print_text, say, write_text
from gitops.cli.exits import Exit
from gitops.cli.findings_output import exit_code, finish
from gitops.cli.options import FailOn, Format
from gitops.cli.progress import progress_bar
from gitops.cli.pull_request_output import print_reported
from gitops.cli.session import OpenedRepository, today
from gitops.git.references import describe
from gitops.model.check import CheckReport, History, HistorySource, Impact, RegistryCheck
from gitops.model.config import RegistryConfig
from gitops.model.plan import Plan, RefusedSchema
from gitops.model.state import Scope
from gitops.planning.plan_document import to_document
from gitops.planning.severities import graded
from gitops.ports import Registry
from gitops.registries.git.provenance import provenance_at_head
from gitops.reports.json.documents import to_text
from gitops.reports.text.plan import plan_report
from gitops.repository.definitions.locations import Locator
from gitops.repository.snapshots import latest_recorded
from gitops.usecases.plan import PlanRequest, blocks
from gitops.usecases.plan import plan as run
from gitops.usecases.validate import validate


@dataclass(frozen=True, slots=True, kw_only=True)
class Display:
    """How a command shows its answer."""

    output_format: Format = Format.TEXT
    output: Path | None = None
    reports: tuple[tuple[Format, Path], ...] = ()
    fail_on: FailOn = FailOn.ERROR
    no_color: bool = False


def stopped(opened: OpenedRepository, display: Display) -> int | None:
    """Print all findings where some leave nothing to plan from, and answer the exit code.

    Those inside definitions are told at once, though a plan could be made in spite of them.
    """
    repository = opened.repository
    if not blocks(graded(repository.findings, repository.config.rules)):
        return None
    found = validate(
        repository, recorded=lambda topics: latest_recorded(opened.tree, topics), today=today()
    )
    finish(
        found,
        opened,
        display.output_format,
        display.output,
        display.fail_on,
        no_color=display.no_color,
    )
    return Exit.FINDINGS


def make(
    opened: OpenedRepository,
    registry: Registry,
    config: RegistryConfig,
    display: Display,
    *,
    prune: bool,
    reviewed: Scope | None = None,
) -> Plan:
    """Make the plan, with a progress bar; raises UnplannableError."""
    planning = replace(planning_of(opened, registry, config), prune=prune, reviewed=reviewed)
    if reviewed is None:
        known = known_names(opened.root, opened.tree, opened.repository, registry.name)
        look_up = provenance_at_head(opened.root, opened.repository)
        planning = replace(planning, known=known, look_up=look_up)
    with progress_bar(no_color=display.no_color) as progress:
        return run(planning, progress)


def planning_of(
    opened: OpenedRepository, registry: Registry, config: RegistryConfig
) -> PlanRequest:
    """What a plan of the files is made from."""
    repository = opened.repository
    return PlanRequest(
        repository=repository,
        registry=registry,
        config=config,
        locate=Locator(opened.tree, repository.topics).locate,
        today=today(),
    )


def show(plan: Plan, opened: OpenedRepository, display: Display, seconds: float) -> None:
    """Print the plan as it was asked for."""
    if display.output_format is Format.JSON:
        print_text(to_text(to_document(plan)), display.output)
    elif not print_reported(
        plans_report([plan]), display.output_format, opened.root, display.output
    ):
        shown = report(plan, opened, seconds)
        print_report(shown, output=display.output, no_color=display.no_color)


def plans_report(plans: Sequence[Plan], failures: Mapping[str, str] | None = None) -> CheckReport:
    """Plans as a report of no change: everything that they say is to be done."""
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
        command=shlex.join(["pulsar-gitops", "plan", *named, *prune]),
    )


def report(plan: Plan, opened: OpenedRepository, seconds: float) -> RenderableType:
    """The plan for a terminal; `seconds` is how long it took."""
    files = f"files {plan.files.removeprefix('sha256:')[:7]}"
    commit = describe(opened.root)
    return plan_report(
        plan,
        opened.excerpt,
        files=f"{files} ({commit})" if commit else files,
        seconds=seconds,
    )


def write(plan: Plan, path: Path) -> str:
    """Write the plan file; answers its digest."""
    document = to_document(plan)
    write_text(path, to_text(document))
    return str(document["digest"])


def write_waivers(plans: Iterable[Plan], folder: Path) -> None:
    """Write a waiver for each refusal that one can lift; what is there already is kept."""
    refusals = (one for plan in plans for one in plan.notices if isinstance(one, RefusedSchema))
    proposals = {one.waiver.file: one.waiver.text for one in refusals if one.waiver}
    for file, text in sorted(proposals.items()):
        path = folder / file.rsplit("/", 1)[-1]
        if path.exists():
            say(f"{path} is there already, and kept")
            continue
        make_folder(folder)
        write_text(path, text)
        say(f"waiver written to {path}: say why in reason, and who approves it in approvedBy")


def code(plan: Plan, display: Display, *, detailed: bool = False) -> int:
    """1 where a finding is at or above the threshold; else 3 for differences where `detailed`."""
    found = exit_code(plan.findings, display.fail_on)
    return Exit.CHANGES if found == Exit.GOOD and detailed and plan.has_differences else found
