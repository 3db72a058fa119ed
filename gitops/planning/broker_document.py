"""What a plan says of the broker that it was made for: in JSON, as findings, and compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
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
        "sources": _sources(broker),
        "limits": list(broker.limits),
    }


def changed_settings(before: object, now: BrokerSettings) -> list[str]:
    """What of a reviewed plan's broker is another now; `before` is None for one without settings.

    Where a value is from does not count, only the value. What decides nothing about what an
    administrator registers (Pulsar 4.0.7) is not compared where one of both roles cannot learn it.
    """
    known = before if isinstance(before, Mapping) else broker_values(BrokerSettings())
    reviewed: dict[str, Any] = {_OTHERS: [], _UNCHECKED: [], **known}
    hidden_then, hidden_now = _hidden(reviewed.get("sources", {})), _hidden(_sources(now))
    return [
        f"{key} was {_shown(reviewed[key], is_hidden=key in hidden_then)} "
        f"and is {_shown(value, is_hidden=key in hidden_now)}"
        for key, value in {**_lists(now), **broker_values(now)}.items()
        if key in reviewed and reviewed[key] != value
        if not (key in _OF_CLIENTS and key in hidden_then | hidden_now)
    ]


def _hidden(sources: Mapping[str, str]) -> frozenset[str]:
    """The settings that could not be learned, by the source of each."""
    keys = {key for key, source in sources.items() if source == SettingSource.ASSUMED.value}
    if sources.get(_AUTO_UPDATE) in _NOT_FROM_CONFIGURATION:
        keys.add(_UNCHECKED)  # nothing but the configuration shows checkers
    return frozenset(keys)


def _sources(broker: BrokerSettings) -> dict[str, str]:
    return {camel_case(name): broker.source(name).value for name in SETTINGS}


def _lists(broker: BrokerSettings) -> dict[str, list[str]]:
    return {
        _OTHERS: list(broker.other_releases),
        _UNCHECKED: [schema_type.value for schema_type in broker.types_without_checker],
    }


def broker_values(broker: BrokerSettings) -> dict[str, str | bool | None]:
    """The settings as JSON has them."""
    return {camel_case(name): setting_text(getattr(broker, name)) for name in SETTINGS}


def conflict_findings(broker: BrokerSettings) -> Iterator[Finding]:
    """Values of gitops.yaml that the cluster contradicts: the cluster's count."""
    for conflict in broker.conflicts:
        where = "broker" if conflict.key == "broker" else f"brokerDefaults.{conflict.key}"
        yield make_finding(
            "PLAN-R011",
            conflict.message,
            subject=conflict.key,
            location=Location(file="gitops.yaml"),
            hint=f"the cluster's value is used: change or remove {where}, or change broker.conf",
        )


def doubt_findings(
    broker: BrokerSettings, hints: Mapping[str, str] = MappingProxyType({})
) -> Iterator[Finding]:
    """What the cluster has and decisions here do not take into account.

    `hints` are by the key of a setting, where there is more to do than to keep it in mind.
    """
    for doubt in broker.doubts:
        hint = hints.get(doubt.key, _DOUBT)
        yield make_finding("PLAN-R012", doubt.message, subject=doubt.key, hint=hint)


_OTHERS: Final = "otherReleases"
_UNCHECKED: Final = "typesWithoutChecker"
_AUTO_UPDATE: Final = "isAllowAutoUpdateSchemaEnabled"
_OF_CLIENTS: Final = (_AUTO_UPDATE, "systemTopicSchemaCompatibilityStrategy")
"""What decides only about what clients register."""
_NOT_FROM_CONFIGURATION: Final = (SettingSource.ASSUMED.value, SettingSource.GIVEN.value)
ASSUMED: Final = " (assumed: the role could not learn it)"
"""Behind a value of a broker's setting that is only assumed."""


def _shown(value: object, *, is_hidden: bool) -> str:
    return f"{_text(value)}{ASSUMED if is_hidden else ''}"


def _text(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return str(value).lower() if isinstance(value, bool) else str(value)


_DOUBT = "verdicts may differ from the broker's: keep this in mind when you read them"
