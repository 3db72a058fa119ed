"""What is folded below the table: for each topic what differs, why that is not let in, a fix."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import shorten
from typing import Final

from gitops.model.findings import Finding
from gitops.reporters.markdown.escaping import block, code, prose
from gitops.reporters.markdown.parts import changes_block, finding_item
from gitops.reporters.markdown.replay import replay_body
from gitops.reporters.markdown.rows import Row, Standing, Weight
from gitops.reporters.tally import count

_MAX_FINDINGS: Final = 20
_MAX_ITEMS: Final = 8000
"""Characters of findings, then one more is too many: a fold that is larger than a comment is cut as
a whole, and tells nothing."""
_MAX_TITLE: Final = 120


def details(rows: Iterable[Row], *, several: bool, unfolded: bool) -> tuple[str, ...]:
    """One fold for each topic; registries of which there is the same to say share it.

    Registries are named where there are `several`.
    """
    folds: dict[tuple[str, str, str], list[str]] = {}
    for row in rows:
        if body := "" if _is_said_elsewhere(row) else _body(row):
            names = folds.setdefault((str(row.topic), _title(row), body), [])
            names += [row.registry] if several else []
    opened = "<details open>" if unfolded else "<details>"
    return tuple(
        f"{opened}{_summary(topic, title, registries)}\n\n{body}\n</details>\n\n"
        for (topic, title, body), registries in folds.items()
    )


def _is_said_elsewhere(row: Row) -> bool:
    """What Pulsar ignores has a section of its own."""
    return row.standing is Standing.IGNORED and not row.findings and row.weight is Weight.GOOD


def _summary(topic: str, title: str, registries: list[str]) -> str:
    on = f" on {prose(', '.join(registries))}" if any(registries) else ""
    return f"<summary>{title[0]} <b>{prose(topic)}</b>{on}{title[1:]}</summary>"


def _title(row: Row) -> str:
    """The sign of the verdict, and the first thing to know."""
    is_odd = row.standing >= Standing.ACCEPTED and row.weight is not Weight.GOOD
    if row.replay and (is_odd or row.is_unread):
        return f"{row.replay.sign}: {prose(row.replay.cell.removeprefix(f'{row.replay.sign} '))}"
    if row.before:
        said = row.verdict.removeprefix("⚠ ")
    elif row.findings:
        worst = max(row.findings, key=lambda finding: finding.severity)
        said = shorten(worst.message, _MAX_TITLE, placeholder=" …")
    else:
        said = count(len(row.changes), "change")
    return f"{row.verdict[0]}: {prose(said)}"


def _body(row: Row) -> str:
    """The parts, a blank line between two; the fixes stand beside what they mend."""
    parts = (
        changes_block(row.changes),
        _waived(row),
        _reasons(row),
        _before(row),
        _waiver(row),
        replay_body(row.replay) if row.replay else "",
    )
    return "\n".join(part for part in parts if part)


def _waived(row: Row) -> str:
    """Which waiver lets pass what is said below."""
    if not row.waived_by:
        return ""
    return f"The waiver {code(row.waived_by)} lets it in, in spite of this:\n"


def _reasons(row: Row) -> str:
    return _items(row.findings)


def _items(findings: Sequence[Finding]) -> str:
    """The worst ones, and how many more there are."""
    worst = sorted(findings, key=lambda finding: -finding.severity)
    items: list[str] = []
    for finding in worst[:_MAX_FINDINGS]:
        if sum(map(len, items)) > _MAX_ITEMS:
            break
        items.append(finding_item(finding))
    left = len(findings) - len(items)
    return "".join(items) + (f"- … {count(left, 'more finding')}\n" if left > 0 else "")


def _before(row: Row) -> str:
    """What this change would meet if it did not loosen the policies."""
    if not row.before:
        return ""
    return f"Without the loosened policies it would be refused:\n\n{_items(row.before)}"


def _waiver(row: Row) -> str:
    """The file that would let it pass, ready to paste."""
    if row.waiver is None:
        return ""
    note = f" ({prose(row.waiver.fits)})" if row.waiver.fits else ""
    lines = row.waiver.text.rstrip("\n").split("\n")
    return f"Or a waiver, as {code(row.waiver.file)}{note}:\n\n{block(lines, 'yaml')}"
