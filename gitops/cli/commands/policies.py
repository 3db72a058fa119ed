"""`policies`: a registry's schema policies by hand, in Pulsar's own words."""

from __future__ import annotations

from typing import Annotated

import typer

from gitops import signals
from gitops.cli import options
from gitops.cli.completion import subjects
from gitops.cli.exits import Exit
from gitops.cli.options import HERE
from gitops.reports import results

app = typer.Typer(
    help="Read and set the schema policies of a namespace or a topic.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)

Subject = Annotated[
    str,
    typer.Argument(
        metavar="SUBJECT",
        help="tenant/namespace, or tenant/namespace/topic",
        autocompletion=subjects,
    ),
]


@app.command("get", short_help="Print the policies and the strategy.")
def get(
    subject: Subject,
    repo: options.Repo = HERE,
    registry: options.RegistryName = None,
    output_format: Annotated[str, options.format_of(results.PoliciesResult)] = options.FORMAT,
    output: options.OutputFile = None,
    no_color: options.NoColor = False,
) -> int:
    """Print the policies and the strategy in force."""
    from gitops.cli.answer import Display, print_result
    from gitops.cli.session import open_registry, open_repository
    from gitops.usecases.policies import observe_policies, parse_subject

    name = parse_subject(subject)
    with open_registry(open_repository(repo, output), registry) as (live, _):
        observed = observe_policies(live, name, existing=True)
    display = Display(output_format=output_format, output=output, no_color=no_color)
    result = results.PoliciesResult(subject=name, own=observed.own, effective=observed.effective)
    print_result(result, display)
    return Exit.GOOD


@app.command("set", short_help="Set policies; an empty value removes one.")
def set_policies(
    subject: Subject,
    assignments: Annotated[
        list[str],
        typer.Argument(metavar="KEY=VALUE", help="Such as schemaCompatibilityStrategy=FULL."),
    ],
    yes: Annotated[
        bool, typer.Option("--yes", help="Set them even if clients are locked out.")
    ] = False,
    repo: options.Repo = HERE,
    registry: options.RegistryName = None,
) -> int:
    """Set policies; an empty value removes a setting.

    Nothing is set where clients with the latest version of a topic could no longer connect.
    """
    from gitops.cli.console import print_message
    from gitops.cli.session import open_registry, open_repository
    from gitops.model.findings import Severity
    from gitops.planning.policies import policy_text
    from gitops.usecases.policies import (
        find_policy_lockouts,
        observe_policies,
        parse_assignments,
        parse_subject,
    )

    name = parse_subject(subject)
    with open_registry(open_repository(repo), registry) as (live, _):
        changes = parse_assignments(observe_policies(live, name).own, assignments)
        findings = find_policy_lockouts(live, name, changes)
        for finding in findings:
            print_message(f"{finding.severity.name.lower()}: {finding.subject}: {finding.message}")
        if not yes and any(finding.severity is Severity.ERROR for finding in findings):
            print_message("nothing was set; --yes sets the policies all the same")
            return Exit.FINDINGS
        signals.raise_if_requested()
        live.set_policies(name, changes)
    for change in changes:
        print_message(f"{change.key}  {policy_text(change.before)} → {policy_text(change.after)}")
    return Exit.GOOD
