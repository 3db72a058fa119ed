"""`explain`: what a rule means, an example, how to fix it."""

from __future__ import annotations

from typing import Annotated

import typer

from gitops.cli import options
from gitops.cli.completion import rules
from gitops.cli.exits import Exit


def explain(
    rule: Annotated[
        str | None,
        typer.Argument(
            metavar="RULE-ID", help="Such as AVRO-R002; none: list all.", autocompletion=rules
        ),
    ] = None,
    no_color: options.NoColor = False,
) -> int:
    """Say what a rule means, with an example and the fix; without a rule, list them all."""
    from rich.markdown import Markdown

    from gitops.cli.console import print_report
    from gitops.model.errors import UsageError
    from gitops.model.rules import RULES
    from gitops.reports.text.findings import rules_report
    from gitops.repository.shipped_files import guess_rule, rule_page

    if rule is None:
        print_report(rules_report(RULES.values()), no_color=no_color)
        return Exit.GOOD
    if rule.upper() not in RULES:
        meant = guess_rule(rule)
        hint = f"did you mean {meant}?" if meant else "`pulsar-gitops explain` lists all rules"
        raise UsageError(f"there is no rule '{rule}'", hint=hint)
    print_report(Markdown(rule_page(rule.upper())), no_color=no_color)
    return Exit.GOOD
