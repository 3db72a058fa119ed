"""One decision in a terminal: the verdict, what differs, and every reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from gitops.compatibility.decision import Decision
from gitops.model.findings import Finding, Location
from gitops.model.plan import SchemaChange
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.reporters.text.changes import change_table
from gitops.reporters.text.findings import finding_block

_MAX_FINDINGS: Final = 200


def decision_report(
    strategy: SchemaCompatibilityStrategy,
    decision: Decision,
    findings: Sequence[Finding],
    changes: Sequence[SchemaChange],
    texts: Mapping[str, str],
) -> RenderableType:
    """The whole answer; `texts` are the files that findings point into."""
    lines_of = cache(lambda file: texts.get(file, "").splitlines())

    def excerpt(where: Location) -> str | None:
        lines = lines_of(where.file)
        return lines[where.line - 1] if 0 < where.line <= len(lines) else None

    parts: list[RenderableType] = [_verdict(strategy, decision)]
    if changes:
        parts.append(Padding(change_table(changes), (0, 0, 0, 4)))
    for finding in findings[:_MAX_FINDINGS]:
        parts += [Text(""), finding_block(finding, excerpt)]
    left = len(findings) - _MAX_FINDINGS
    if left > 0:
        parts += [Text(""), Text(f"… {left} more findings; `--format json` has all")]
    return Group(*parts)


def _verdict(strategy: SchemaCompatibilityStrategy, decision: Decision) -> Text:
    if not decision.accepted:
        return Text.assemble(("✗ refused", "bold red"), f" under {strategy.value}")
    if decision.known:
        said = f" as v{decision.version}, which it equals"
    else:
        said = f" under {strategy.value} as v{decision.version}"
    return Text.assemble(("✓ accepted", "bold green"), said)
