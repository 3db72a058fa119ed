"""Findings of one cause over topics, as one finding with its subjects."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from gitops.model.findings import Finding, group


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """A finding about one subject, and the message that all findings of its cause share."""

    message: str
    finding: Finding


class CauseGroups:
    """Findings by rule, message of their cause and remedy."""

    def __init__(self) -> None:
        self._groups: dict[tuple[str, str, str], list[Finding]] = {}

    def add(self, causes: Iterable[Cause]) -> None:
        """Add findings; the order of the first ones of each cause is kept."""
        for one in causes:
            key = (one.finding.rule, one.message, one.finding.hint)
            self._groups.setdefault(key, []).append(one.finding)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """One finding a cause: the worst first, then upgrades, then those with most subjects."""
        grouped = [group(key[1], found) for key, found in self._groups.items()]
        return tuple(sorted(grouped, key=_rank))


_FAMILIES: Final = "UHS"
"""An upgrade, health, strategies: what was asked for comes first."""


def _rank(one: Finding) -> tuple[int, int, str, int, str]:
    family = one.rule.removeprefix("AUDIT-")[:1]
    return -one.severity, _FAMILIES.index(family), one.rule, -len(one.members), one.message
