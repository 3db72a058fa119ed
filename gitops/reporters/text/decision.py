"""One decision in a terminal: the verdict, what differs, and every reason."""

from __future__ import annotations

from functools import cache
from typing import Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from gitops.compatibility.decision import Decision
from gitops.model.findings import Location
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.reporters.tally import count
from gitops.reporters.text.changes import change_table
from gitops.reporters.text.findings import finding_block
from gitops.reporters.text.plain import safe
from gitops.usecases.compare_files import Compared

_MAX_FINDINGS: Final = 200


def decision_report(compared: Compared) -> RenderableType:
    """The whole answer."""
    decision, findings, old = compared.decision, compared.findings, compared.old
    lines_of = cache(lambda file: compared.texts.get(file, "").splitlines())

    def excerpt(where: Location) -> str | None:
        lines = lines_of(where.file)
        return lines[where.line - 1] if 0 < where.line <= len(lines) else None

    parts: list[RenderableType] = [_verdict(compared.strategy, decision, len(old) - 1)]
    if len(old) > 1:
        named = " · ".join(f"v{number} {safe(file)}" for number, file in enumerate(old))
        parts.append(Text(f"    {named}", style="dim"))
    if compared.changes:
        parts.append(Padding(change_table(compared.changes), (0, 0, 0, 4)))
    for finding in findings[:_MAX_FINDINGS]:
        parts += [Text(""), finding_block(finding, excerpt)]
    left = len(findings) - _MAX_FINDINGS
    if left > 0:
        parts += [Text(""), Text(f"… {count(left, 'more finding')}; `--format json` has all")]
    return Group(*parts)


def _verdict(strategy: SchemaCompatibilityStrategy, decision: Decision, latest: int) -> Text:
    if not decision.accepted:
        under = f" under {strategy.value}" if latest >= 0 else " as the first schema of a topic"
        return Text.assemble(("✗ refused", "bold red"), under)
    if latest < 0:
        said = " as v0, the first schema of a topic: nothing was compared"
    elif not decision.known:
        said = f" under {strategy.value} as v{decision.version}"
    elif (decision.version or 0) < latest:
        equal = f"v{decision.version}, which it equals"
        said = f" as {equal}: v{latest} stays the latest, and nothing changes"
        return Text.assemble(("⚠ accepted", "bold yellow"), said)
    else:
        said = f" as v{decision.version}, which it equals"
    return Text.assemble(("✓ accepted", "bold green"), said)
