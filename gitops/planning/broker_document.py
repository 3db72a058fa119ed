"""What a plan says of the broker that it was made for: in JSON, as findings, and compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from gitops.model.broker_settings import SETTINGS, is_plain, setting_text
from gitops.model.findings import Finding, Location
from gitops.model.policy import BrokerSettings, SettingSource, camel_case
from gitops.model.rules import make_finding


def broker_document(broker: BrokerSettings) -> dict[str, Any] | None:
    """Each setting with its source; None where nothing can be otherwise."""
    if is_plain(broker):
        return None
    return {
        **broker_values(broker),
        **{key: names for key, names in _lists(broker).items() if names},
        "sources": {camel_case(name): broker.source(name).value for name in SETTINGS},
        "limits": list(broker.limits),
    }


def changed_settings(before: object, now: BrokerSettings) -> list[str]:
    """What of a reviewed plan's broker is another now; `before` is None for one without settings.

    Where a value is from does not count, only the value. Auto-update is not compared where this
    role cannot learn it: it decides nothing about what an administrator registers (Pulsar 4.0.7).
    """
    reviewed = before if isinstance(before, Mapping) else broker_values(BrokerSettings())
    reviewed = {_OTHERS: [], _UNCHECKED: [], **reviewed}
    assumed = assumed_keys(now)
    current = {**_lists(now), **broker_values(now)}
    return [
        f"{key} was {_shown(reviewed[key])} and is {_shown(value)}"
        + (" (assumed: this role cannot learn it)" if key in assumed else "")
        for key, value in current.items()
        if key in reviewed and reviewed[key] != value
        if not (key == _AUTO_UPDATE and key in assumed)
    ]


def assumed_keys(broker: BrokerSettings) -> frozenset[str]:
    """The settings, as broker.conf names them, that could not be learned."""
    return frozenset(
        camel_case(name) for name in SETTINGS if broker.source(name) is SettingSource.ASSUMED
    )


def _lists(broker: BrokerSettings) -> dict[str, list[str]]:
    return {
        _OTHERS: list(broker.other_releases),
        _UNCHECKED: [each.value for each in broker.types_without_checker],
    }


def broker_values(broker: BrokerSettings) -> dict[str, str | bool | None]:
    """The settings as JSON has them."""
    return {camel_case(name): setting_text(getattr(broker, name)) for name in SETTINGS}


def conflict_findings(broker: BrokerSettings) -> Iterator[Finding]:
    """Values of gitops.yaml that the cluster contradicts: the cluster's count."""
    for one in broker.conflicts:
        where = "broker" if one.key == "broker" else f"brokerDefaults.{one.key}"
        yield make_finding(
            "PLAN-R011",
            one.message,
            subject=one.key,
            location=Location(file="gitops.yaml"),
            hint=f"the cluster's value is used: change or remove {where}, or change broker.conf",
        )


def doubt_findings(broker: BrokerSettings) -> Iterator[Finding]:
    """What the cluster has and decisions here do not take into account."""
    for one in broker.doubts:
        yield make_finding("PLAN-R012", one.message, subject=one.key, hint=_DOUBT)


_OTHERS: Final = "otherReleases"
_UNCHECKED: Final = "typesWithoutChecker"
_AUTO_UPDATE: Final = "isAllowAutoUpdateSchemaEnabled"


def _shown(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return str(value).lower() if isinstance(value, bool) else str(value)


_DOUBT = "verdicts may differ from the broker's: keep this in mind when you review the change"
