"""What Markdown documents share: findings, differences, fixes, sections that fit a size."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from gitops.model.decision import Decision
from gitops.model.findings import Finding, Location, Severity
from gitops.model.plan import ChangeKind, SchemaChange
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.reports.check_summary import name_list, several_subjects
from gitops.reports.markdown.escaping import block, code, message, prose
from gitops.reports.results import DecisionResult
from gitops.repository.file_comparison import Comparison

# The parts that several documents have: a finding, the differences of two schemas, a fix.

ICONS: Final = {Severity.ERROR: "✗", Severity.WARNING: "⚠", Severity.INFO: "\N{INFORMATION SOURCE}"}

# As GitHub colours a diff: green, red and, for `!`, orange.
_SIGNS: Final = {ChangeKind.ADDED: "+", ChangeKind.REMOVED: "-", ChangeKind.CHANGED: "!"}
_NAMED: Final = 10
"""How many subjects of one finding are named."""
_PATCH_HEAD: Final = 2
"""The lines of a unified diff that name the files."""


def finding_item(finding: Finding, registries: Sequence[str] = ()) -> str:
    """One item of a list: place and rule, what is wrong, what to do, the fix."""
    others = [name for name in registries if name != finding.subject]
    about = [_place(finding), code(finding.rule), *map(prose, others)]
    lines = [f"- {ICONS.get(finding.severity, '')} {' · '.join(about)}", message(finding.message)]
    lines += [f"for {names}"] if (names := _subjects(finding)) else []
    lines += [f"→ {message(finding.hint)}"] if finding.hint else []
    fix = patch_block(finding.patch, indent="  ")
    return "<br>\n  ".join(lines) + "\n" + (f"\n{fix}\n" if fix else "")


def _subjects(finding: Finding) -> str:
    """Whom a finding is about, where these are several."""
    return name_list([code(name) for name in several_subjects(finding)], _NAMED)


def _place(finding: Finding) -> str:
    here, location = finding.location, finding.compared
    where = f"{code(str(here))}{_whose(here)}" if here else code(finding.subject)
    # A stored version, and no file; a whole record, which a field misses; or several sides.
    if location is None or not location.line or not location.pointer or len(finding.subjects) > 1:
        return where
    if here and location.in_base and location.file == here.file:
        return f"{where}, compared with line {location.line} in the base"
    return f"{where}, compared with {code(str(location))}{_whose(location)}"


def _whose(where: Location) -> str:
    return " in the base" if where.in_base else ""


def changes_block(changes: Sequence[SchemaChange]) -> str:
    """The semantic differences as a diff; empty without any."""
    width = max((min(len(change.path), 40) for change in changes), default=0)
    lines = [_change(change, width) for change in changes]
    return block(lines, "diff") if lines else ""


def _change(change: SchemaChange, width: int) -> str:
    values = " → ".join(value for value in (change.before, change.after) if value)
    note = f"   # {change.note}" if change.note else ""
    path = (change.path or "(schema)").ljust(width)
    return f"{_SIGNS[change.kind]} {path}   {values}{note}".rstrip()


def paragraphs(parts: Iterable[str]) -> str:
    """The parts that are not empty, one blank line between two."""
    *others, last = [part for part in parts if part] or [""]
    return "".join(part.rstrip("\n") + "\n\n" for part in others) + last


def patch_block(patch: str, indent: str = "") -> str:
    """A unified diff without the lines that name its files; empty without any."""
    lines = patch.replace("\r\n", "\n").removesuffix("\n").split("\n")[_PATCH_HEAD:]
    return block(lines, "diff", indent) if lines else ""


# A document in sections, cut to a size: what matters least goes first, and it says so.


COMMENT_LIMIT: Final = 65_000
"""Bytes. GitHub takes 65,536 characters in a pull request's body and more in a comment; bytes are
never fewer than characters. The rest is room for what a workflow adds, such as a marker."""

SUMMARY_LIMIT: Final = 1024 * 1024 - 1024
"""Bytes. GitHub drops a step's summary of more than 1 MiB as a whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Blocks of one kind, the most important first; each is whole Markdown with its line end.

    `cut` orders the sections: the highest is cut first, and one of 0 never is. `noun` names the
    blocks where some are left out. `head` and `tail` stand around them.
    """

    blocks: tuple[str, ...]
    head: str = ""
    tail: str = ""
    cut: int = 0
    noun: str = ""


_LAST: Final = 3
"""Sections with a `cut` up to this are why a change is refused."""
_WHOLE: Final = 10
_SUMMARY: Final = re.compile(r"<details(?: open)?><summary>(.*?)</summary>")
_SINGULAR: Final = {
    "differences": "difference",
    "findings": "finding",
    "policies": "policy",
    "registries": "registry",
    "registries' sources": "registry's source",
    "steps": "step",
    "topics": "topic",
}
"""The nouns of sections; details of topics stay many."""


def fit(sections: Sequence[Section], limit: int, everything: str) -> str:
    """The document in at most `limit` bytes; `everything` says, as Markdown, what shows all.

    Details are cut to their summaries before anything is left out: those of refused topics, which
    are cut last, beyond the first ones only; and all of them before any is left out.
    """
    order = sorted(range(len(sections)), key=lambda number: -sections[number].cut)
    shown = list(sections)
    for number in order:
        whole = _WHOLE if shown[number].cut <= _LAST else 0
        shown[number] = _summarized(shown[number], _over(shown, limit), everything, whole)
    kept = [len(section.blocks) for section in shown]
    over = _over(shown, limit)
    for number in order:
        section = shown[number]
        if over <= 0 or not section.cut:
            break
        before = _size(_all(section))
        shown[number] = section = _summarized(section, over, everything)
        kept[number] = len(section.blocks)
        over -= before - _size(_all(section))
        if over > 0:
            before = _size(_all(section))
            kept[number] = _fitting(section, before - over, everything)
            over -= before - _size(_render(section, kept[number], everything))
    parts = (_render(s, k, everything) for s, k in zip(shown, kept, strict=True))
    return "".join(parts)


def _over(sections: Sequence[Section], limit: int) -> int:
    return _size("".join(map(_all, sections))) - limit


def _summarized(section: Section, over: int, everything: str, whole: int = 0) -> Section:
    """With the titles alone of as many folds, the last first, as it takes to save `over` bytes.

    The first `whole` ones stay as they are.
    """
    if over <= 0 or not section.cut:
        return section
    blocks, number = list(section.blocks), 0
    note = _size(_summary_note(len(blocks), everything))
    for place in reversed(range(whole, len(blocks))):
        title = _SUMMARY.match(blocks[place])
        if over + note <= 0:
            break
        if title:
            number += 1
            over -= _size(blocks[place]) - _size(item := f"- {title[1]}\n")
            blocks[place] = item
    if number:
        blocks[-1] += _summary_note(number, everything)
    return replace(section, blocks=tuple(blocks))


def _summary_note(number: int, everything: str) -> str:
    what = "details of 1 item are" if number == 1 else f"details of {number:,} items are"
    return f"\n_The {what} left out for GitHub's limit: {everything}._\n\n"


def _fitting(section: Section, room: int, everything: str) -> int:
    """How many blocks fit into so many bytes, with the note that says that there are more."""
    room -= _size(section.head) + _size(section.tail) + _size(_note(section, 0, everything))
    for number, text in enumerate(section.blocks):
        room -= _size(text)
        if room < 0:
            return number
    return len(section.blocks) - 1


def _render(section: Section, kept: int, everything: str) -> str:
    if kept == len(section.blocks):
        return _all(section)
    note = _note(section, kept, everything)
    if not kept:
        return note
    return f"{section.head}{''.join(section.blocks[:kept])}{section.tail}{note}"


def _all(section: Section) -> str:
    return f"{section.head}{''.join(section.blocks)}{section.tail}" if section.blocks else ""


def _note(section: Section, kept: int, everything: str) -> str:
    left = len(section.blocks) - kept
    noun = section.noun if left != 1 else _SINGULAR.get(section.noun, section.noun)
    return f"\n_… and {left:,} more {noun}, left out for GitHub's limit: {everything}_\n\n"


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


# One decision as Markdown: the verdict, what differs, every reason.


def decision_result_markdown(result: DecisionResult, limit: int = COMMENT_LIMIT) -> str:
    """The decision, of at most `limit` bytes."""
    return decision_markdown(result.comparison, limit)


def decision_markdown(compared: Comparison, limit: int = COMMENT_LIMIT) -> str:
    """The document, of at most `limit` bytes."""
    latest = len(compared.old) - 1
    items = tuple(finding_item(finding) for finding in compared.findings)
    sections = (
        Section(blocks=(f"### {_verdict(compared.strategy, compared.decision, latest)}\n\n",)),
        Section(blocks=(f"{changes_block(compared.changes)}\n",) if compared.changes else ()),
        Section(blocks=items, cut=1, noun="findings"),
    )
    shows = "`pulsar-gitops compat --format json` shows all"
    return fit([section for section in sections if section.blocks], limit, shows)


def _verdict(strategy: SchemaCompatibilityStrategy, decision: Decision, latest: int) -> str:
    if latest < 0:
        verb = "✓ Pulsar would accept it" if decision.accepted else "✗ Pulsar would refuse it"
        compared = ": nothing was compared" if decision.accepted else ""
        return f"{verb} as the first schema of a topic{compared}"
    if not decision.accepted:
        return f"✗ Pulsar would refuse it under {strategy.value}"
    if decision.known and (decision.version or 0) < latest:
        equal = f"v{decision.version}, which it equals"
        return f"⚠ Pulsar treats it as {equal}: v{latest} stays the latest, and nothing changes"
    if decision.known:
        return f"✓ Pulsar treats it as v{decision.version}, which it equals"
    return f"✓ Pulsar would accept it under {strategy.value} as v{decision.version}"
