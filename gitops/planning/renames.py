"""A field that is missing because it was renamed: what to do about the rename comes first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gitops.model.findings import Finding


def renames(findings: Sequence[Finding]) -> dict[str, Finding]:
    """What looks like a rename (AVRO-W006), by the pointer to the new field's name."""
    return {
        one.location.pointer: one for one in findings if one.rule == "AVRO-W006" and one.location
    }


def hinted_at_renames(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings; one about a missing field (AVRO-R002) that seems renamed says both ways."""
    known = renames(findings)
    return tuple(_hinted(one, known.get(_pointer(one))) for one in findings)


def _pointer(one: Finding) -> str:
    is_missing = one.rule == "AVRO-R002" and one.location is not None
    return one.location.pointer if one.location and is_missing else "-"


def _hinted(one: Finding, rename: Finding | None) -> Finding:
    if rename is None:
        return one
    lost = f"else {one.hint}: what older messages carry under the old name is then lost"
    return replace(one, hint=f"{rename.hint}; {lost}")
