"""Drift in a terminal: for each registry the verdict, an entry for each drift, and what to do."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from gitops.model.drift import DriftReport
from gitops.reports.drift_wording import (
    DriftEntry,
    adoption_lines,
    drift_entries,
    left_lines,
    names_text,
    next_steps,
    other_lines,
    scope_text,
    verdict_text,
)
from gitops.reports.operation_results import DriftResult, RegistryDrift
from gitops.reports.text.layout import SIGNS, Hanging, change_table
from gitops.reports.text.plain import safe, short

_STYLES = {"✗": "bold red", "⚠": "bold yellow", "✓": "bold green"}
_LONGEST = 2000


def drift_text(result: DriftResult) -> RenderableType:
    """The drift of all registries, one below the other."""
    parts = [
        part for registry in result.registries for part in (_registry(registry, result), Text(""))
    ]
    return Group(*parts[:-1])


def _registry(registry: RegistryDrift, result: DriftResult) -> RenderableType:
    if registry.report is None:
        why = safe(registry.error.what) if registry.error else ""
        return Text.assemble((safe(registry.registry), "bold"), f" · drift is unknown: {why}")
    return Group(*_report(registry.report, result))


def _report(report: DriftReport, result: DriftResult) -> Iterator[RenderableType]:
    if result.adoption is not None:
        # What drifted was listed before; here it is what was written, and what is left.
        below = [
            *adoption_lines(result.adoption),
            *left_lines(report, result.adoption, result.options),
        ]
        yield from (Hanging(Text(short(line, _LONGEST)), 2) for line in below)
        return
    verdict = verdict_text(report)
    yield Text(safe(verdict), style=_STYLES[verdict[0]])
    yield Text(safe(scope_text(report)), style="dim")
    for entry in drift_entries(report):
        yield Text("")
        yield _block(entry)
    below = [*other_lines(report, result.options)]
    below += [f"→ {line}" for line in next_steps(report, result.options)]
    if below:
        yield Text("")
    yield from (Hanging(Text(short(line, _LONGEST)), 2) for line in below)


def _block(entry: DriftEntry) -> RenderableType:
    head = Text.assemble(
        (entry.sign, SIGNS[entry.sign]),
        " ",
        (safe(entry.subject), "bold"),
        f"   {entry.title}",
    )
    body: list[RenderableType] = []
    if entry.names:
        names = names_text(entry)
        is_cut = names != ", ".join(entry.names)
        body.append(Text(safe(f"{names}{'; `--format json` names all' if is_cut else ''}")))
    for line in entry.lines:
        body.append(Text(short(line.text, _LONGEST)))
        if line.changes:
            body.append(Padding(change_table(line.changes), (0, 0, 0, 2), expand=False))
    return Group(head, Padding(Group(*body), (0, 0, 0, 4), expand=False))
