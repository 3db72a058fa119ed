"""`drift`: what a registry has and the files in git do not, and since when."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Final

import typer

from gitops.cli import options
from gitops.cli.exits import Exit, print_error
from gitops.cli.options import HERE
from gitops.cli.session import OpenedRepository, open_registry, open_repository
from gitops.model.errors import GitopsError, UsageError
from gitops.model.names import NamespaceName, TopicName
from gitops.reports import results
from gitops.reports.operation_results import DriftResult, RegistryDrift

if TYPE_CHECKING:
    from gitops.changes.repository_plan import PlanRequest
    from gitops.cli.answer import Display
    from gitops.usecases.drift import FoundDrift

_WORST_FIRST: Final = (Exit.OUTSIDE, Exit.USAGE, Exit.FINDINGS, Exit.CHANGES, Exit.GOOD)
_NAMESPACE: Final = 1
"""The slashes in a namespace's name."""


def drift(
    subjects: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TOPIC|NAMESPACE",
            help="With --adopt: only these.",
            show_default="all",
        ),
    ] = None,
    adopt: Annotated[
        bool, typer.Option("--adopt", help="Write what the registry has into the files.")
    ] = False,
    repo: options.Repo = HERE,
    registry: options.RegistryNames = None,
    clients: Annotated[
        bool,
        typer.Option("--clients", help="Also find clients that nobody declared or recorded."),
    ] = False,
    output_format: Annotated[
        str, options.format_of(DriftResult, results.FindingsResult)
    ] = options.FORMAT,
    output: options.OutputFile = None,
    as_if_broker: options.AsIfBroker = None,
    no_color: options.NoColor = False,
) -> int:
    """Find what changed in a registry outside git, and since when."""
    from gitops.changes.registries import registries_in_order, registry_config
    from gitops.cli import plan_output
    from gitops.cli.answer import Display, print_result

    wanted = [_subject(text) for text in subjects or ()]
    display = Display(output_format=output_format, output=output, no_color=no_color)
    opened = open_repository(repo, output, release=as_if_broker)
    config = opened.repository.config
    names = registries_in_order(registry or [config.default_registry], config)
    _require_one(wanted, names, adopt=adopt)
    if adopt and clients:
        raise UsageError(
            "--adopt writes no clients",
            hint="`pulsar-gitops snapshot --clients` records who is connected, `pulsar-gitops "
            "import --clients` proposes manifests",
        )
    if code := plan_output.print_blocking_findings(opened, display):
        return code
    if adopt:
        result = _adopt(names, opened, display, wanted)
        print_result(result, display)
        return _adopted_code(result)
    for name in names:
        registry_config(opened.repository, name)
    registries = [_drift_of(name, opened, display, asks_for_clients=clients) for name in names]
    print_result(DriftResult(registries=registries, options=opened.options), display)
    for item in registries:
        if item.error:
            print_error(item.error, f"no answer for {item.registry}: ")
    codes = {_code(element) for element in registries}
    return next((element for element in _WORST_FIRST if element in codes), Exit.OUTSIDE)


def _subject(text: str) -> NamespaceName | TopicName:
    is_namespace = text.count("/") == _NAMESPACE
    return NamespaceName.parse(text) if is_namespace else TopicName.parse(text)


def _require_one(
    wanted: Collection[NamespaceName | TopicName], registries: Collection[str], *, adopt: bool
) -> None:
    """Raise UsageError for names without `--adopt`, and for several registries with it."""
    if wanted and not adopt:
        raise UsageError(
            f"{next(iter(wanted))} is named, and nothing is to be adopted",
            hint="add --adopt, or leave the name out: drift lists all topics",
        )
    if adopt and len(registries) > 1:
        raise UsageError(
            "--adopt writes what one registry has, and --registry names several",
            hint="run it once for the registry that is right",
        )


@contextmanager
def _found(
    names: list[str], opened: OpenedRepository, display: Display, *, asks_for_clients: bool = False
) -> Iterator[tuple[FoundDrift, PlanRequest]]:
    """The drift of a registry, which is open for as long as that is of use."""
    from gitops.cli.plan_output import plan_request
    from gitops.cli.progress import progress_bar
    from gitops.usecases.drift import drift

    with (
        open_registry(opened, names, release=opened.release) as (live, config),
        progress_bar(no_color=display.no_color) as progress,
    ):
        request = plan_request(opened, live, config)
        request = replace(request, asks_for_clients=asks_for_clients)
        yield drift(request, opened.root, opened.tree, progress), request


def _drift_of(
    name: str, opened: OpenedRepository, display: Display, *, asks_for_clients: bool
) -> RegistryDrift:
    try:
        with _found([name], opened, display, asks_for_clients=asks_for_clients) as (found_drift, _):
            return RegistryDrift(registry=name, report=found_drift.report)
    except GitopsError as error:
        return RegistryDrift(registry=name, error=error)


def _adopt(
    names: list[str],
    opened: OpenedRepository,
    display: Display,
    wanted: Collection[NamespaceName | TopicName],
) -> DriftResult:
    """Write the files; raises what keeps the drift from being known."""
    from gitops.repository.folder import write_files
    from gitops.usecases.drift import adopt_drift

    with _found(names, opened, display) as (found_drift, request):
        adoption = adopt_drift(found_drift, request, opened.root, opened.tree, wanted)
    write_files(opened.root, adoption.files, adoption.removed)
    registry = RegistryDrift(registry=request.registry.name, report=found_drift.report)
    return DriftResult(registries=[registry], options=opened.options, adoption=adoption)


def _adopted_code(result: DriftResult) -> int:
    """3 where drift is left."""
    (registry,) = result.registries
    adopted = set(result.adoption.adopted) if result.adoption else set()
    drifts = registry.report.drifts if registry.report else ()
    if registry.report and registry.report.unread:
        return Exit.OUTSIDE
    return Exit.CHANGES if any(item.subject not in adopted for item in drifts) else Exit.GOOD


def _code(registry: RegistryDrift) -> int:
    if registry.report is None:
        return registry.error.exit_code if registry.error else Exit.OUTSIDE
    if registry.report.unread:
        return Exit.OUTSIDE
    return Exit.CHANGES if registry.report.drifts or registry.report.new_clients else Exit.GOOD
