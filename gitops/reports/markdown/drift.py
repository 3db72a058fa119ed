"""Drift as Markdown, for an issue: for each registry the verdict, a list, and what to do."""

from __future__ import annotations

from collections.abc import Iterator

from gitops.model.drift import DriftReport
from gitops.model.plan import SchemaChange
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
from gitops.reports.markdown.document import COMMENT_LIMIT, Section, changes_block, fit
from gitops.reports.markdown.escaping import code, message, prose
from gitops.reports.operation_results import DriftResult, RegistryDrift


def drift_markdown(result: DriftResult, limit: int = COMMENT_LIMIT) -> str:
    """The document, of at most `limit` bytes."""
    sections = [part for registry in result.registries for part in _registry(registry, result)]
    everything = f"{code(f'{result.command} --format json')} shows all"
    last = Section(blocks=(f"<sub>reproduce: {code(result.command)}</sub>\n",))
    return fit([*(section for section in sections if section.blocks), last], limit, everything)


def _registry(registry: RegistryDrift, result: DriftResult) -> Iterator[Section]:
    if registry.report is None:
        why = prose(registry.error.what) if registry.error else ""
        yield Section(blocks=(f"### {prose(registry.registry)}: drift is unknown\n\n{why}\n\n",))
        return
    yield from _report(registry.report, result)


def _report(report: DriftReport, result: DriftResult) -> Iterator[Section]:
    if result.adoption is not None:
        lines = [
            *adoption_lines(result.adoption),
            *left_lines(report, result.adoption, result.options),
        ]
        yield Section(
            blocks=tuple(f"- {message(line)}\n" for line in lines),
            head=f"### {prose(report.registry)}: adopted\n\n",
            tail="\n",
            cut=4,
            noun="files",
        )
        return
    verdict, scope = prose(verdict_text(report)), prose(scope_text(report))
    entries = drift_entries(report)
    yield Section(blocks=(f"### {verdict}\n\n{scope}\n\n",))
    yield Section(
        blocks=tuple(_row(entry) for entry in entries),
        head="| | Subject | Drift |\n|---|---|---|\n",
        tail="\n",
        cut=1,
        noun="differences",
    )
    steps = next_steps(report, result.options)
    yield Section(blocks=tuple(f"→ {message(line)}<br>\n" for line in steps), tail="\n")
    yield Section(
        blocks=tuple(_fold(entry) for entry in entries if _has_more(entry)),
        cut=2,
        noun="differences' details",
    )
    yield Section(
        blocks=tuple(f"- {message(line)}\n" for line in other_lines(report, result.options)),
        head="#### No drift, or not known\n\n",
        tail="\n",
        cut=3,
        noun="sentences",
    )


def _row(entry: DriftEntry) -> str:
    text = prose(f"{entry.title}: {entry.lines[0].text}")
    subject = code(entry.subject)
    if entry.names:
        subject = prose(f"{entry.subject}: {names_text(entry)}")
    return f"| {prose(entry.sign)} | {subject} | {text} |\n"


def _has_more(entry: DriftEntry) -> bool:
    """Whether the table's row is not all of it."""
    has_more_names = bool(entry.names) and names_text(entry) != ", ".join(entry.names)
    return len(entry.lines) > 1 or bool(entry.lines[0].changes) or has_more_names


def _fold(entry: DriftEntry) -> str:
    parts = [f"{prose(', '.join(entry.names))}\n\n"] if entry.names else []
    parts += [f"{prose(line.text)}\n\n{_changes(line.changes)}" for line in entry.lines]
    head = f"{prose(entry.subject)}: {prose(entry.title)}"
    return f"<details><summary>{head}</summary>\n\n{''.join(parts)}</details>\n\n"


def _changes(changes: tuple[SchemaChange, ...]) -> str:
    return f"{changes_block(changes)}\n" if changes else ""
