"""What `plan` and `apply` share: making a plan, showing it, and its exit code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gitops.changes.plan_scope import narrow
from gitops.changes.repository_plan import PlanRequest, blocks, fixes_of_repository
from gitops.cli.answer import Display, exit_code, folder_in_git, print_findings
from gitops.cli.console import make_folder, print_message, write_text
from gitops.cli.exits import Exit
from gitops.cli.progress import progress_bar
from gitops.cli.session import OpenedRepository, today
from gitops.git.references import describe
from gitops.model.check import CheckReport
from gitops.model.config import RegistryConfig
from gitops.model.findings import Severity
from gitops.model.plan import Plan, RefusedSchema
from gitops.model.waivers import WaiverProposal
from gitops.planning.plan_document import to_document
from gitops.planning.reviewed_plan import scope_of
from gitops.planning.severities import rate_findings
from gitops.planning.skipped_subjects import skip_blocked_subjects
from gitops.planning.waivers import with_written_proposals
from gitops.ports import Registry
from gitops.registries.git.earlier_definitions import definitions_at_head
from gitops.registries.git.recorded_versions import recorded_at_head
from gitops.registries.snapshot import SnapshotRegistry
from gitops.reports.json.documents import plans_document, to_text
from gitops.reports.results import PlanResult, RegistryPlan
from gitops.repository.definitions.locations import Locator
from gitops.repository.folder import write_files
from gitops.repository.loader import load_as_reported
from gitops.repository.snapshots import latest_recorded_schemas
from gitops.usecases.plan import plan
from gitops.usecases.validate import validate


def print_blocking_findings(opened: OpenedRepository, display: Display) -> int | None:
    """Print all findings where some leave nothing to plan from, and answer the exit code.

    Those inside definitions are told at once, though a plan could be made in spite of them.
    """
    repository = opened.repository
    if not blocks(rate_findings(repository.findings, repository.config.rules)):
        return None
    findings = validate(
        repository,
        recorded=lambda topics: latest_recorded_schemas(opened.tree, topics),
        today=today(),
    )
    print_findings(findings, opened, display)
    return Exit.FINDINGS


def make_plan(
    opened: OpenedRepository,
    registry: Registry,
    config: RegistryConfig,
    display: Display,
    *,
    prune: bool,
    reviewed: Mapping[str, Any] | None = None,
    keep_going: bool = False,
    asks_for_clients: bool = True,
) -> Plan:
    """Make the plan, with a progress bar; raises UnplannableError.

    `reviewed` is the document of a plan: then it is made of what that looked at.
    """
    request = replace(
        _fixing_request(opened, registry, config),
        prune=prune,
        keep_going=keep_going,
        asks_for_clients=asks_for_clients,
    )
    if reviewed:
        request = replace(
            request,
            prune=bool(reviewed["prune"]),
            keep_going=bool(reviewed.get("keepGoing")),
            reviewed=scope_of(reviewed),
        )
    with progress_bar(no_color=display.no_color) as progress:
        return plan(request, opened.root, opened.tree, progress)


def plan_request(
    opened: OpenedRepository, registry: Registry, config: RegistryConfig
) -> PlanRequest:
    """What a plan of the files is made from."""
    repository = opened.repository
    if not opened.release:
        read_again = load_as_reported(repository, opened.tree, registry.name, registry.broker)
        if read_again is not repository:
            repository = read_again
            if scope := opened.repository.scope:
                repository = narrow(repository, scope, opened.tree)
    return PlanRequest(
        repository=repository,
        registry=registry,
        config=config,
        locate=Locator(opened.tree, repository.topics).locate,
        today=today(),
        recorded=recorded_at_head(
            opened.root,
            SnapshotRegistry(registry.name, opened.tree, registry.broker),
            repository.config.registries,
            address=registry.address,
        ),
        definitions=definitions_at_head(opened.root, repository.topics),
    )


def _fixing_request(
    opened: OpenedRepository, registry: Registry, config: RegistryConfig
) -> PlanRequest:
    """The same for a plan whose refusals have patches."""
    request = plan_request(opened, registry, config)
    return replace(request, tree=opened.tree, release=opened.release)


def write_fixes(
    opened: OpenedRepository, registry: Registry, config: RegistryConfig, display: Display
) -> bool:
    """Write the edits that take refusals of a plan away; answers whether there are any."""
    with progress_bar(no_color=display.no_color) as progress:
        fixes = fixes_of_repository(_fixing_request(opened, registry, config), progress)
    edit_files(opened.root, fixes)
    return print_fixes(opened.root, fixes)


def edit_files(root: Path, fixes: Mapping[str, bytes]) -> None:
    """Write edited definitions; a symbolic link is left alone."""
    write_files(root, {path: fixes[path] for path in fixes.keys() - _links(root, fixes)})


def _links(root: Path, paths: Iterable[str]) -> set[str]:
    return {path for path in paths if (root / path).is_symlink()}


def print_fixes(root: Path, fixes: Mapping[str, bytes]) -> bool:
    """Print which definitions were edited; answers whether there are any."""
    links = _links(root, fixes)
    written = fixes.keys() - links
    for path in sorted(fixes):
        print_message(f"left alone {path}: a symbolic link" if path in links else f"changed {path}")
    if written:
        files = "1 file" if len(written) == 1 else f"{len(written)} files"
        print_message(f"{files} changed: read the changes (git diff), and commit them")
    else:
        print_message("nothing to fix: no edit of a definition is known that Pulsar accepts")
    return bool(written)


def plan_result(plan: Plan, opened: OpenedRepository, seconds: float) -> PlanResult:
    """The plan as a command's answer; `seconds` is how long it took."""
    return PlanResult(
        plan=plan,
        commit=lambda: describe(opened.root),
        seconds=seconds,
        options=opened.options,
        excerpt=opened.excerpt,
        folder=folder_in_git(opened.root),
    )


def write_plan(plan: Plan, path: Path) -> str:
    """Write the plan file; answers its digest."""
    document = to_document(plan)
    write_text(path, to_text(document))
    return str(document["digest"])


def write_plans(plans: Sequence[RegistryPlan], path: Path) -> None:
    """Write the plans of several registries into one file, where each of them has one."""
    made = [registry.plan for registry in plans if registry.plan]
    missing = [planned.registry for planned in plans if not planned.plan]
    if missing:
        print_message(f"no plan file is written: {', '.join(missing)} has no plan")
        return
    write_text(path, to_text(plans_document(made, [])))
    print_message(f"{len(made)} plans written to {path}")


def write_waivers(
    plans: Iterable[Plan], folder: Path, limit_waiver: WaiverProposal | None = None
) -> None:
    """Write a waiver for each refusal that one can lift, and for a limit that is exceeded.

    What is there already is kept.
    """
    waivers = [limit_waiver]
    for made in plans:
        waivers += made.proposals
        waivers += [notice.waiver for notice in made.notices if isinstance(notice, RefusedSchema)]
    proposals = {waiver.file: waiver.text for waiver in waivers if waiver}
    for file, text in sorted(proposals.items()):
        path = folder / file.rsplit("/", 1)[-1]
        if path.exists():
            print_message(f"{path} exists already, and is kept")
            continue
        make_folder(folder)
        write_text(path, text)
        print_message(f"waiver written to {path}: fill in reason and approvedBy")


def name_written_waivers(report: CheckReport) -> CheckReport:
    """The report whose proposed waivers are all written."""
    registries = [
        replace(registry, plan=with_written_waivers(registry.plan))
        for registry in report.registries
    ]
    return replace(report, registries=tuple(registries))


def with_written_waivers(plan: Plan) -> Plan:
    """The plan whose proposed waivers are all written: each says what is left to fill in."""
    refused = [notice.waiver for notice in plan.notices if isinstance(notice, RefusedSchema)]
    files = {waiver.file for waiver in (*plan.proposals, *refused) if waiver}
    return with_written_proposals(plan, files)


def plan_code(plan: Plan, display: Display, *, detailed: bool = False) -> int:
    """1 where a finding is at or above the threshold; else 3 for actions where `detailed`.

    Drift that no action changes is no reason for 3: an apply would have nothing to do. Where an
    apply keeps going, findings do not count as long as they leave an action.
    """
    code = exit_code(plan.findings, display.fail_on)
    actions = plan.actions
    if code != Exit.GOOD:
        actions = remaining_plan(plan, display).actions if plan.keep_going else ()
    return Exit.CHANGES if detailed and actions else code


def remaining_plan(plan: Plan, display: Display) -> Plan:
    """What an apply that keeps going carries out; nothing where a finding blocks all of it."""
    remaining = skip_blocked_subjects(plan, Severity[display.fail_on.name])
    return replace(plan, actions=()) if remaining.is_blocked else remaining.plan
