"""How what is known of a registry's broker is said: in one line or two."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from gitops.broker.lines.table import find_line, has_legacy_switch
from gitops.model.broker_settings import ASSUMED_CHECKERS, SETTINGS, is_plain
from gitops.model.policy import BrokerSettings, SettingSource

_PULSAR: Final = BrokerSettings()
_RELEASE, _STRATEGY, *_SWITCHES = SETTINGS
_BROKER: Final = "`broker:`"
_DEFAULTS: Final = "`brokerDefaults:`"
_LEGACY: Final = "schema_json_allow_legacy_jackson_format"
_WORDS: Final = {
    "is_allow_auto_update_schema_enabled": "auto-update {}",
    "is_schema_validation_enforced": "validation {}",
    _LEGACY: "legacy JSON format {}",
    "system_topic_schema_compatibility_strategy": "system topics {}",
}


def broker_lines(broker: BrokerSettings, release_key: str = _BROKER) -> tuple[str, ...]:
    """The release and the default strategy with their sources, and why something is assumed.

    Other settings are named where they are not Pulsar's defaults, or are assumed and decide about
    definitions. No line where nothing can be
    otherwise. `release_key` is what sets a release that is assumed.
    """
    if is_plain(broker):
        return ()
    return (f"broker: {', '.join(_settings(broker))}", *_reasons(broker, release_key))


def _settings(broker: BrokerSettings) -> Iterator[str]:
    yield f"Pulsar {with_evidence(broker.release)}{_source(broker, _RELEASE)}"
    strategy = broker.schema_compatibility_strategy.value
    yield f"default strategy {strategy}{_source(broker, _STRATEGY)}"
    for name in _SWITCHES:
        value = getattr(broker, name)
        if value != getattr(_PULSAR, name) or (name == _LEGACY and _is_open(broker)):
            shown = ("on" if value else "off") if isinstance(value, bool) else value.value
            yield f"{_WORDS[name].format(shown)}{_source(broker, name)}"
    if types := broker.types_without_checker:
        yield f"no checker for {' and '.join(schema_type.value for schema_type in types)}"


def with_evidence(release: str) -> str:
    """`4.2`, and `4.1 (read, not run)` where no broker that decides so was seen."""
    line = find_line(release)
    return release if line is None or line.seen else f"{release} (read, not run)"


def _is_open(broker: BrokerSettings) -> bool:
    """Whether definitions are decided by the switch for the old form of JSON, which is assumed."""
    line = find_line(broker.release)
    is_assumed = broker.source(_LEGACY) is SettingSource.ASSUMED
    return is_assumed and line is not None and has_legacy_switch(line)


def _source(broker: BrokerSettings, name: str) -> str:
    source = broker.source(name)
    return "" if source is SettingSource.DEFAULT else f" ({source.value})"


def _reasons(broker: BrokerSettings, release_key: str) -> Iterator[str]:
    assumed = [name for name in SETTINGS if broker.source(name) is SettingSource.ASSUMED]
    what = "what else is assumed" if ASSUMED_CHECKERS in broker.limits else "what is assumed"
    texts = [*broker.limits, *_remedy(assumed, release_key, what)]
    if texts:
        yield " ".join(texts)


def _remedy(assumed: Sequence[str], release_key: str, what: str) -> Iterator[str]:
    """Which keys, or which option, set what is assumed."""
    keys = list(dict.fromkeys(release_key if name == _RELEASE else _DEFAULTS for name in assumed))
    if keys:
        where = " in gitops.yaml" if keys[-1] in (_BROKER, _DEFAULTS) else ""
        yield f"{' and '.join(keys)}{where} {'sets' if len(keys) == 1 else 'set'} {what}."
