"""What `fmt` changed or would change."""

from __future__ import annotations

from collections.abc import Iterator

from gitops.model.findings import Finding
from gitops.reporters.text.plain import safe
from gitops.usecases.format import Formatting, Reformatted


def formatting_text(formatting: Formatting, *, written: bool, diff: bool) -> str:
    """A line for each file, or its unified diff, then the numbers; files left alone with why."""
    lines = [
        *(
            line
            for each in formatting.changes
            for line in _change(each, written=written, diff=diff)
        ),
        *(line for each in formatting.findings for line in _finding(each)),
        _sum(formatting, written=written),
    ]
    return "".join(f"{line}\n" for line in lines)


def _change(change: Reformatted, *, written: bool, diff: bool) -> Iterator[str]:
    if diff and change.diff:
        for line in change.diff.removesuffix("\n").split("\n"):
            yield "\t".join(map(safe, line.split("\t")))
        return
    did = "changed" if written else "would change"
    why = ", which is not shown: it may hold a secret" if diff and change.sensitive else ""
    yield f"{did} {safe(change.path)}{why}"


def _finding(finding: Finding) -> Iterator[str]:
    where = f" {safe(str(finding.location))}" if finding.location else ""
    yield f"left alone{where}  {finding.rule} {safe(finding.message)}"
    if finding.hint:
        yield f"  {safe(finding.hint)}"


def _sum(formatting: Formatting, *, written: bool) -> str:
    parts = []
    if formatting.changes:
        parts.append(f"{len(formatting.changes)} {'changed' if written else 'would change'}")
    parts.append(f"{formatting.canonical} in order")
    if formatting.findings:
        files = {each.location.file for each in formatting.findings if each.location}
        parts.append(f"{len(files)} left alone")
    return ", ".join(parts)
