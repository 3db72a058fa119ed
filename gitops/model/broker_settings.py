"""What is known of a broker's settings: which value counts where several say one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from gitops.model.policy import (
    BrokerSettings,
    PolicyValue,
    SettingRemark,
    SettingSource,
    camel_case,
    value_text,
)

SETTINGS: Final = (
    "release",
    "schema_compatibility_strategy",
    "is_allow_auto_update_schema_enabled",
    "is_schema_validation_enforced",
    "schema_json_allow_legacy_jackson_format",
    "system_topic_schema_compatibility_strategy",
)
"""The fields of BrokerSettings that are settings of a broker."""

ASSUMED_CHECKERS: Final = "Its schema compatibility checkers are assumed to be Pulsar's own."
"""Of a broker whose configuration is not known: nothing else shows them."""
LATER_RELEASE: Final = (
    "Its brokers accept the type EXTERNAL, so they are of 4.1 or later, and decided as "
    "4.2; `broker:` in gitops.yaml sets it."
)
"""Of a release that is hidden, and shown by a test alone (PROBED)."""
SettingValue = PolicyValue | str
_SEEN: Final = (SettingSource.LEARNED, SettingSource.PROBED, SettingSource.RECORDED)


def assumed_settings(given: Mapping[str, SettingSource] | None = None) -> BrokerSettings:
    """Pulsar's defaults, for a broker that may have others."""
    sources = dict.fromkeys(SETTINGS, SettingSource.ASSUMED)
    return BrokerSettings(sources={**sources, **(given or {})}, default_retention=None)


def known_settings(
    values: Mapping[str, SettingValue],
    source: SettingSource,
    *,
    limits: Iterable[str] = (),
    doubts: Iterable[SettingRemark] = (),
    other_releases: Iterable[str] = (),
) -> BrokerSettings:
    """What was seen of a broker: `values` by field; the rest is not known."""
    settings = BrokerSettings(
        sources=dict.fromkeys(values, source),
        limits=tuple(limits),
        doubts=tuple(doubts),
        other_releases=tuple(other_releases),
        default_retention=None,
    )
    return replace(settings, **values)  # type: ignore[arg-type] # fields by name


def with_probed(known: BrokerSettings, values: Mapping[str, SettingValue]) -> BrokerSettings:
    """What is known, and `values` by field, which namespaces showed."""
    sources = {**known.sources, **dict.fromkeys(values, SettingSource.PROBED)}
    return replace(known, **values, sources=sources)  # type: ignore[arg-type] # fields by name


def with_known(declared: BrokerSettings, known: BrokerSettings) -> BrokerSettings:
    """What holds: `--as-if-broker`, else what was seen, else gitops.yaml, else what is assumed."""
    is_option = declared.source("release") is SettingSource.OPTION
    seen = [
        name
        for name in SETTINGS
        if is_seen(known, name) and declared.source(name) is not SettingSource.OPTION
    ]
    conflicts = (_conflict(name, declared, known) for name in seen)
    values: dict[str, SettingValue] = {name: getattr(known, name) for name in seen}
    return replace(
        declared,
        **values,  # type: ignore[arg-type] # fields by name
        sources={**declared.sources, **{name: known.source(name) for name in seen}},
        limits=known.limits,
        conflicts=tuple(conflict for conflict in conflicts if conflict),
        doubts=known.doubts,
        types_without_checker=known.types_without_checker,
        default_retention=known.default_retention or declared.default_retention,
        deletes_inactive_topics=known.deletes_inactive_topics,
        is_unanswered=known.is_unanswered,
        has_policy_topics=known.has_policy_topics,
        other_releases=() if is_option else known.other_releases,
    )


def announced_release(declared: BrokerSettings, settings: BrokerSettings) -> str:
    """The release that `gitops.yaml` says where the cluster has another line; empty for none.

    `settings` are what `with_known` made of the declared ones.
    """
    return (
        declared.release if any(conflict.key == "broker" for conflict in settings.conflicts) else ""
    )


def former_settings(before: BrokerSettings, now: BrokerSettings) -> BrokerSettings:
    """What held before a change of `gitops.yaml`: where that was only assumed, what holds now."""
    assumed = [name for name in SETTINGS if before.source(name) is SettingSource.ASSUMED]
    values = {name: getattr(now, name) for name in assumed}
    return replace(before, **values)


def as_if_broker(settings: BrokerSettings, release: str) -> BrokerSettings:
    """The settings with the release that `--as-if-broker` names."""
    return _with_release(settings, release, SettingSource.OPTION)


def named_broker(settings: BrokerSettings, release: str) -> BrokerSettings:
    """The settings with the release that `--broker` names."""
    return _with_release(settings, release, SettingSource.NAMED)


def _with_release(settings: BrokerSettings, release: str, source: SettingSource) -> BrokerSettings:
    sources = {**settings.sources, "release": source}
    return replace(settings, release=release, sources=sources)


def is_plain(settings: BrokerSettings) -> bool:
    """Whether nobody has said anything of a broker that has no other settings than Pulsar's own."""
    return all(settings.source(name) is SettingSource.DEFAULT for name in SETTINGS)


def broker_notes(settings: BrokerSettings, names: Collection[str] = SETTINGS) -> Iterator[str]:
    """Sentences on what may be otherwise than an answer has it.

    That is what of these fields is only assumed, what contradicts, and what nobody knows.
    """
    assumed = [name for name in names if settings.source(name) is SettingSource.ASSUMED]
    if _RELEASE in assumed:
        yield _ASSUMED_RELEASE.format(settings.release)
    if any(text != _RELEASE for text in assumed):
        yield _ASSUMED_DEFAULTS
    yield from (
        f"{conflict.message}: the cluster's value is used" for conflict in settings.conflicts
    )
    yield from (doubt.message for doubt in settings.doubts)


_RELEASE: Final = "release"
_ASSUMED_DEFAULTS: Final = (
    "assumed of the broker: Pulsar's defaults, since the role may not read its configuration; "
    "`brokerDefaults` in a gitops.yaml can set it"
)
_ASSUMED_RELEASE: Final = (
    "assumed of the broker: Pulsar {}, since it does not report its release; `broker` "
    "in a gitops.yaml can set it"
)


def is_seen(settings: BrokerSettings, name: str) -> bool:
    """Whether the broker itself has told the value of a field, now or when it was recorded."""
    return settings.source(name) in _SEEN


def seen_settings(settings: BrokerSettings) -> dict[str, SettingValue]:
    """The values that the broker itself has told, by field."""
    return {name: getattr(settings, name) for name in SETTINGS if is_seen(settings, name)}


def setting_text(value: SettingValue) -> str | bool | None:
    """A setting's value as JSON has it."""
    return value if isinstance(value, str) else value_text(value)


def _conflict(name: str, declared: BrokerSettings, known: BrokerSettings) -> SettingRemark | None:
    value, seen = getattr(declared, name), getattr(known, name)
    if declared.source(name) is not SettingSource.GIVEN or value == seen:
        return None
    if name == "release" and _is_version_of(seen, value):
        return None
    key = "broker" if name == "release" else camel_case(name)
    cluster, files = shown_setting(seen), shown_setting(value)
    if name == "release" and known.source(name) is SettingSource.PROBED:
        cluster = f"{cluster} or later"  # a test shows no more
    message = f"{key} is {cluster} in the cluster, and {files} in gitops.yaml"
    return SettingRemark(key=key, message=message)


def _is_version_of(release: str, line: str) -> bool:
    return release.startswith((f"{line}.", f"{line}-"))


def shown_setting(value: SettingValue) -> str:
    """A setting's value as broker.conf has it."""
    text = setting_text(value)
    return str(text).lower() if isinstance(text, bool) else str(text)
