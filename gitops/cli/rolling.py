"""`rollout` from its options to its exit code: a check, of which only the order is shown."""

from __future__ import annotations

from gitops.cli.checked import Asked, checked
from gitops.cli.console import print_report, print_text
from gitops.cli.exits import Exit, tell
from gitops.cli.options import Format
from gitops.cli.planned import Display
from gitops.reporters.check_json import rollouts_document
from gitops.reporters.json_report import to_text
from gitops.reporters.text.rollout import rollouts_report


def run(asked: Asked, display: Display) -> int:
    """Print the steps; 1 where there is no order, 4 where a registry has no answer."""
    with checked(asked, display) as (outcome, _):
        report = outcome.report
    if display.output_format is Format.JSON:
        print_text(to_text(rollouts_document(report)), display.output)
    else:
        shown = rollouts_report(report)
        print_report(shown, output=display.output, no_color=display.no_color)
    for name, error in outcome.errors.items():
        tell(error, f"no answer for {name}: ")
    if outcome.errors:
        return Exit.OUTSIDE
    blocked = any(one.rollout.blocks for one in report.registries)
    return Exit.FINDINGS if blocked else Exit.GOOD
