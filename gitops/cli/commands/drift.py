"""`drift`: what a registry has and the files in git do not, and since when."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from gitops.cli import options
from gitops.cli.exits import Exit, print_error
from gitops.cli.options import HERE
from gitops.cli.session import OpenedRepository, open_registry, open_repository
from gitops.model.errors import GitopsError
from gitops.reports import results

if TYPE_CHECKING:
    from gitops.cli.answer import Display

_WORST_FIRST: Final = (Exit.OUTSIDE, Exit.USAGE, Exit.FINDINGS, Exit.CHANGES, Exit.GOOD)


def drift(
    repo: options.Repo = HERE,
    registry: options.RegistryNames = None,
    output_format: Annotated[
        str, options.format_of(results.DriftResult, results.FindingsResult)
    ] = options.FORMAT,
    output: options.OutputFile = None,
    no_color: options.NoColor = False,
) -> int:
    """Find what changed in a registry outside git, and since when."""
    from gitops.changes.registries import registry_config
    from gitops.cli import plan_output
    from gitops.cli.answer import Display, print_result

    display = Display(output_format=output_format, output=output, no_color=no_color)
    opened = open_repository(repo, output)
    if code := plan_output.print_blocking_findings(opened, display):
        return code
    names = [registry_config(opened.repository, name)[0] for name in registry or [None]]
    found = [_drift_of(name, opened, display) for name in dict.fromkeys(names)]
    print_result(results.DriftResult(registries=found, options=opened.options), display)
    for one in found:
        if one.error:
            print_error(one.error, f"no answer for {one.registry}: ")
    codes = {_code(one) for one in found}
    return next((each for each in _WORST_FIRST if each in codes), Exit.OUTSIDE)


def _drift_of(name: str, opened: OpenedRepository, display: Display) -> results.RegistryDrift:
    from gitops.cli.plan_output import plan_request
    from gitops.cli.progress import progress_bar
    from gitops.usecases.drift import drift

    try:
        with open_registry(opened, [name]) as (live, config):
            bar = progress_bar(no_color=display.no_color)
            request = plan_request(opened, live, config)
            with bar as progress:
                found = drift(request, opened.root, opened.tree, progress)
    except GitopsError as error:
        return results.RegistryDrift(registry=name, error=error)
    return results.RegistryDrift(registry=name, report=found.report)


def _code(one: results.RegistryDrift) -> int:
    if one.report is None:
        return one.error.exit_code if one.error else Exit.OUTSIDE
    if one.report.unread:
        return Exit.OUTSIDE
    return Exit.CHANGES if one.report.drifts else Exit.GOOD
