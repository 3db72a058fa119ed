"""`explain`: what a rule, a strategy, a schema type or an exit code means."""

from __future__ import annotations

from typing import Annotated

import typer

from gitops.cli import options
from gitops.cli.completion import terms
from gitops.cli.exits import Exit


def explain(
    term: Annotated[
        str | None,
        typer.Argument(
            metavar="TERM",
            help="A rule or a kind of rules, a strategy, schema type or exit code: AVRO-R002, "
            "WAIVER, BACKWARD, KEY_VALUE, 3; or strategies, schema-types, exit-codes; none: list "
            "all rules.",
            autocompletion=terms,
        ),
    ] = None,
    no_color: options.NoColor = False,
) -> int:
    """Explain a rule, with an example and the fix; a strategy, schema type or exit code."""
    from rich.markdown import Markdown

    from gitops.cli.console import print_report
    from gitops.model.errors import UsageError
    from gitops.model.rules import RULES
    from gitops.reports.text.findings import rules_report
    from gitops.repository.shipped_files import guess_term, rule_page, term_page

    if term is None:
        print_report(rules_report(RULES.values()), no_color=no_color)
        return Exit.GOOD
    name = term.upper()
    page = rule_page(name) if name in RULES else term_page(name.replace("-", "_"))
    of_kind = [rule for rule in RULES.values() if rule.id.startswith(f"{name}-")]
    if page is None and of_kind:
        print_report(rules_report(of_kind), no_color=no_color)
        return Exit.GOOD
    if page is None:
        meant = guess_term(term)
        hint = (
            f"did you mean {meant}?"
            if meant
            else "`pulsar-gitops explain` lists all rules and words"
        )
        raise UsageError(
            f"there is no rule, strategy, schema type or exit code '{term}'", hint=hint
        )
    print_report(Markdown(page), no_color=no_color)
    return Exit.GOOD
