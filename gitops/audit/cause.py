"""Findings of one cause over topics, as one finding with its subjects; what is only assumed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from gitops.model.audit import ASSUMED
from gitops.model.broker_settings import SETTINGS, shown_setting
from gitops.model.findings import Finding, group
from gitops.model.policy import BrokerSettings, SettingSource, camel_case

RELEASE, STRATEGY, AUTO_UPDATE, VALIDATION, LEGACY_JSON, _ = SETTINGS


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """A finding about one subject, and the message that all findings of its cause share.

    `rests_on` are the fields of BrokerSettings with other values of which it might be none.
    """

    message: str
    finding: Finding
    rests_on: tuple[str, ...] = ()

    def marked(self, assumed: Mapping[str, str]) -> Cause:
        """The cause with what it rests on and is only assumed, if that is any."""
        if not (texts := [text for name, text in assumed.items() if name in self.rests_on]):
            return self
        mark = f"{ASSUMED}{', '.join(texts)}"
        finding = replace(self.finding, message=self.finding.message + mark)
        return replace(self, message=self.message + mark, finding=finding)


def assumed_values(broker: BrokerSettings) -> dict[str, str]:
    """The settings that are only assumed, by field, as people read them."""
    return {
        name: f"{camel_case(name)} {shown_setting(getattr(broker, name))}"
        for name in SETTINGS
        if broker.source(name) is SettingSource.ASSUMED
    }


class CauseGroups:
    """Findings by rule, message of their cause and remedy."""

    def __init__(self) -> None:
        self._groups: dict[tuple[str, str, str], list[Finding]] = {}

    def add(self, causes: Iterable[Cause], assumed: Mapping[str, str] | None = None) -> None:
        """Add findings, with a mark where they rest on what is assumed.

        The order of the first ones of each cause is kept.
        """
        for cause in (item.marked(assumed or {}) for item in causes):
            key = (cause.finding.rule, cause.message, cause.finding.hint)
            self._groups.setdefault(key, []).append(cause.finding)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """One finding a cause: the worst first, then upgrades, then those with most subjects."""
        grouped = [group(key[1], findings) for key, findings in self._groups.items()]
        return tuple(sorted(grouped, key=_rank))


_FAMILIES: Final = "UHS"
"""An upgrade, health, strategies: what was asked for comes first."""


def _rank(finding: Finding) -> tuple[int, int, str, int, str]:
    family = finding.rule.removeprefix("AUDIT-")[:1]
    return (
        -finding.severity,
        _FAMILIES.index(family),
        finding.rule,
        -len(finding.members),
        finding.message,
    )
