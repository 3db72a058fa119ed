"""The parts that several documents have: a finding, the differences of two schemas, a fix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gitops.model.findings import Finding, Location, Severity
from gitops.model.plan import ChangeKind, SchemaChange
from gitops.reporters.markdown.escaping import block, code, message, prose

ICONS: Final = {Severity.ERROR: "✗", Severity.WARNING: "⚠", Severity.INFO: "i"}

# As GitHub colours a diff: green, red and, for `!`, orange.
_SIGNS: Final = {ChangeKind.ADDED: "+", ChangeKind.REMOVED: "-", ChangeKind.CHANGED: "!"}
_PATCH_HEAD: Final = 2
"""The lines of a unified diff that name the files."""


def finding_item(finding: Finding, registries: Sequence[str] = ()) -> str:
    """One item of a list: place and rule, what is wrong, what to do, the fix."""
    others = [name for name in registries if name != finding.subject]
    about = [_place(finding), code(finding.rule), *map(prose, others)]
    lines = [f"- {ICONS.get(finding.severity, '')} {' · '.join(about)}", message(finding.message)]
    lines += [f"→ {message(finding.hint)}"] if finding.hint else []
    fix = patch_block(finding.patch, indent="  ")
    return "<br>\n  ".join(lines) + "\n" + (f"\n{fix}\n" if fix else "")


def _place(finding: Finding) -> str:
    here, other = finding.location, finding.compared
    where = f"{code(str(here))}{_whose(here)}" if here else code(finding.subject)
    if other is None or not other.line:  # a stored version, and no file
        return where
    if here and other.in_base and other.file == here.file:
        return f"{where}, compared with line {other.line} in the base"
    return f"{where}, compared with {code(str(other))}{_whose(other)}"


def _whose(where: Location) -> str:
    return " in the base" if where.in_base else ""


def changes_block(changes: Sequence[SchemaChange]) -> str:
    """The semantic differences as a diff; empty without any."""
    width = max((min(len(change.path), 40) for change in changes), default=0)
    lines = [_change(change, width) for change in changes]
    return block(lines, "diff") if lines else ""


def _change(change: SchemaChange, width: int) -> str:
    values = " → ".join(each for each in (change.before, change.after) if each)
    note = f"   # {change.note}" if change.note else ""
    path = (change.path or "(schema)").ljust(width)
    return f"{_SIGNS[change.kind]} {path}   {values}{note}".rstrip()


def patch_block(patch: str, indent: str = "") -> str:
    """A unified diff without the lines that name its files; empty without any."""
    lines = patch.removesuffix("\n").split("\n")[_PATCH_HEAD:]
    return block(lines, "diff", indent) if lines else ""
