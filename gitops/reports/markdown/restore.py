"""A restore as Markdown: the verdict, a table of its topics, and what else is written."""

from __future__ import annotations

from gitops.reports.markdown.document import COMMENT_LIMIT, Section, fit
from gitops.reports.markdown.escaping import code, message, prose
from gitops.reports.operation_results import RestoreResult
from gitops.reports.restore_wording import (
    RestoreEntry,
    other_lines,
    restore_entries,
    scope_text,
    verdict_text,
)

_EVERYTHING = f"{code('--format json')} shows all"


def restore_markdown(result: RestoreResult, limit: int = COMMENT_LIMIT) -> str:
    """The document, of at most `limit` bytes."""
    head = f"### {prose(verdict_text(result))}\n\n{prose(scope_text(result.restore))}\n\n"
    rows = Section(
        blocks=tuple(_row(restore_entry) for restore_entry in restore_entries(result)),
        head="| | Subject | Restore |\n|---|---|---|\n",
        tail="\n",
        cut=1,
        noun="topics",
    )
    lines = tuple(f"- {message(line)}\n" for line in other_lines(result))
    sections = [Section(blocks=(head,)), rows, Section(blocks=lines, cut=2, noun="sentences")]
    return fit([section for section in sections if section.blocks], limit, _EVERYTHING)


def _row(entry: RestoreEntry) -> str:
    text = "<br>".join(prose(word) for word in (entry.title, *entry.lines))
    return f"| {prose(entry.sign)} | {code(entry.subject)} | {text} |\n"
