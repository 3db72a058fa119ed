"""`explain`: what a rule means, an example, how to fix it."""

from __future__ import annotations

from typing import Annotated

import typer

from gitops.cli import options
from gitops.cli.exits import Exit


def explain(
    rule: Annotated[str, typer.Argument(metavar="RULE-ID", help="Such as AVRO-R002.")],
    no_color: options.NoColor = False,
) -> int:
    """Say what a rule means, with an example and the fix."""
    from rich.markdown import Markdown

    from gitops.cli.console import print_report
    from gitops.model.errors import UsageError
    from gitops.model.rules import RULES
    from gitops.repository.rule_pages import rule_page
    from gitops.repository.suggestions import did_you_mean

    if rule.upper() not in RULES:
        hint = did_you_mean(rule, RULES) or "the rules are listed in docs/reference/rules"
        raise UsageError(f"there is no rule '{rule}'", hint=hint)
    print_report(Markdown(rule_page(rule.upper())), no_color=no_color)
    return Exit.GOOD
