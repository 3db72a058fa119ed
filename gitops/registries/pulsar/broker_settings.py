"""Asks a cluster for its brokers' release and for what broker.conf says about schemas.

Nothing here fails a command: what a role may not read is not known, and is assumed and shown.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from gitops.broker.lines.table import find_line
from gitops.model.broker_settings import ASSUMED_CHECKERS, SETTINGS, SettingValue, known_settings
from gitops.model.errors import OutsideError
from gitops.model.policy import (
    BrokerSettings,
    Retention,
    SchemaCompatibilityStrategy,
    SettingRemark,
    SettingSource,
    camel_case,
)
from gitops.model.schema import SchemaType
from gitops.planning.rolling_upgrade import release_doubts
from gitops.registries.pulsar.address import broker_origin
from gitops.registries.pulsar.threads import map_in_threads
from gitops.schemas.installed_checkers import installed_types

if TYPE_CHECKING:
    from gitops.registries.pulsar.admin_client import AdminClient
    from gitops.registries.pulsar.error_responses import Answer

VERSION: Final = "brokers/version"
_CONFIGURATION: Final = "brokers/configuration/runtime"
_BROKERS: Final = "brokers"
_RELEASE: Final = re.compile(r"\d{1,9}\.\d{1,9}[\w.+-]{0,60}", re.ASCII)
_MOST_BROKERS: Final = 64
"""Of a cluster with more, this many are asked for their release."""

_LEGACY_JSON: Final = "schema_json_allow_legacy_jackson_format"
_BOOLEANS: Final = {"true": True, "false": False}
_CHECKERS: Final = "schemaRegistryCompatibilityCheckers"
_RETENTION: Final = ("defaultRetentionTimeInMinutes", "defaultRetentionSizeInMB")
_INACTIVE: Final = "brokerDeleteInactiveTopicsEnabled"
_POLICIES_SERVICE: Final = "topicPoliciesServiceClassName"
_POLICY_TOPICS: Final = "org.apache.pulsar.broker.service.SystemTopicBasedTopicPoliciesService"
"""The only one before 4.0; 4.2 can also keep them as metadata."""
_POLICY_SWITCHES: Final = ("systemTopicEnabled", "topicLevelPoliciesEnabled")
_INTEGER: Final = re.compile(r"-?\d{1,18}", re.ASCII)
_PACKAGE: Final = "org.apache.pulsar.broker.service.schema."
_DEFAULTS: Final = {
    "JsonSchemaCompatibilityCheck": "JSON",
    "AvroSchemaCompatibilityCheck": "AVRO",
    "ProtobufNativeSchemaCompatibilityCheck": "PROTOBUF_NATIVE",
    "ExternalSchemaCompatibilityCheck": "EXTERNAL",  # from 4.1 on
}
_OTHERS: Final = {
    "ProtobufSchemaCompatibilityCheck": "PROTOBUF",
    "ProtobufNativeSchemaAdvancedCompatibilityCheck": "PROTOBUF_NATIVE",  # from 5.0.1 on
}
"""Pulsar's own checkers that a broker has only where its configuration names them."""
_LONGEST: Final = 80
_FORBIDDEN: Final = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)


@dataclass(slots=True)
class _Findings:
    """What was learned so far, by field of BrokerSettings, and what was not."""

    values: dict[str, SettingValue] = field(default_factory=dict)
    limits: list[str] = field(default_factory=list)
    doubts: list[SettingRemark] = field(default_factory=list)
    other_releases: list[str] = field(default_factory=list)
    unchecked: list[SchemaType] = field(default_factory=list)
    retention: Retention | None = None
    deletes_inactive: bool | None = None
    has_policy_topics: bool = False


def learn_settings(client: AdminClient, *, threads: int) -> BrokerSettings:
    """What the cluster tells: its release and, where the role may read it, its configuration.

    Three requests at once, and one more to each other broker that the cluster names: during a
    rolling upgrade they differ, and the oldest one decides here.
    """

    def get(path: str) -> Answer | None:
        try:
            return client.get(path)
        except OutsideError:
            return None

    version, configuration, brokers = map_in_threads(
        get, (VERSION, _CONFIGURATION, _BROKERS), threads=threads, on_progress=lambda _done: None
    )
    findings = _Findings()
    _add_release(findings, version, _other_releases(client, brokers, threads))
    if brokers and brokers.status in _FORBIDDEN:
        findings.limits.append(
            f"Whether other brokers have another release is not known: {_why(brokers)}."
        )
    _add_configuration(findings, configuration)
    known = known_settings(
        findings.values,
        SettingSource.LEARNED,
        limits=findings.limits,
        doubts=findings.doubts,
        other_releases=findings.other_releases,
    )
    return replace(
        known,
        types_without_checker=tuple(findings.unchecked),
        default_retention=findings.retention,
        deletes_inactive_topics=findings.deletes_inactive,
        has_policy_topics=findings.has_policy_topics,
        is_unanswered=any(_has_failed(answer) for answer in (version, configuration)),
    )


def _has_failed(answer: Answer | None) -> bool:
    return answer is None or answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR


# Releases.


def _add_release(findings: _Findings, answer: Answer | None, others: list[str | None]) -> None:
    first = _release(answer)
    texts = [text for text in (first, *others) if text]
    if not texts:
        findings.limits.append(f"The cluster does not report its release: {_why(answer)}.")
        return
    releases = sorted(set(texts), key=_release_key)
    findings.values["release"], *findings.other_releases = releases
    if silent := others.count(None):
        count = f"{silent} other broker{'' if silent == 1 else 's'}"
        findings.limits.append(f"{count} could not be asked for {_its(silent)} release.")
    findings.doubts += release_doubts(releases)


def _its(number: int) -> str:
    return "its" if number == 1 else "their"


def _release(answer: Answer | None) -> str | None:
    """The text of GET /brokers/version, None for anything that is no release."""
    if answer is None or answer.status != HTTPStatus.OK:
        return None
    text = answer.body[:_LONGEST].decode("utf-8", "replace").strip().strip('"')
    return text if _RELEASE.fullmatch(text) else None


def _release_key(release: str) -> tuple[tuple[int, ...], str]:
    return tuple(int(part) for part in re.findall(r"\d+", release)), release


def _other_releases(client: AdminClient, brokers: Answer | None, threads: int) -> list[str | None]:
    """The releases of all active brokers where there are several; None where one is silent.

    A broker's name is the host and port of its web service (Pulsar 4.0.7). Who asks through a
    proxy cannot reach them, and waits no longer than a moment.
    """
    names = _names(brokers)
    if len(names) < 2:  # noqa: PLR2004 - the only one has been asked
        return []

    def get(name: str) -> str | None:
        origin = broker_origin(name, client.address.origin)
        try:
            return _release(client.get_quickly(origin, VERSION)) if origin else None
        except OutsideError:
            return None

    return map_in_threads(
        get, names[:_MOST_BROKERS], threads=threads, on_progress=lambda _done: None
    )


def _names(answer: Answer | None) -> list[str]:
    content = _json(answer)
    if not isinstance(content, list):
        return []
    return sorted({value for value in content if isinstance(value, str)})


# The configuration.


def _add_configuration(findings: _Findings, answer: Answer | None) -> None:
    """Of all values only those about schemas are looked at: others may be secrets."""
    content = _json(answer)
    if not isinstance(content, Mapping):
        findings.limits += (
            f"The broker's configuration is not known: {_why(answer)}.",
            ASSUMED_CHECKERS,
        )
        return
    for name in SETTINGS[1:]:
        _add_setting(findings, name, content.get(camel_case(name)))
    # Before 4.2 there is no such switch, and the line itself is as if it were on.
    findings.values.setdefault(_LEGACY_JSON, False)
    release = findings.values.get("release")
    _add_checkers(findings, content.get(_CHECKERS), release)
    findings.retention = _retention(*(content.get(key) for key in _RETENTION))
    findings.deletes_inactive = _boolean(content, _INACTIVE)
    is_service = content.get(_POLICIES_SERVICE, _POLICY_TOPICS) == _POLICY_TOPICS
    findings.has_policy_topics = is_service and all(
        _boolean(content, key) for key in _POLICY_SWITCHES
    )


def _boolean(content: Mapping[Any, Any], key: str) -> bool | None:
    return _BOOLEANS.get(str(content.get(key)).lower())


def _add_setting(findings: _Findings, name: str, text: object) -> None:
    if text is None:
        return
    value = _value(name, str(text))
    if value is None:
        shown = "".join(word if word.isprintable() else " " for word in str(text)[:_LONGEST])
        message = f"{camel_case(name)} is '{shown}' in the cluster, which is not supported here"
        findings.doubts.append(SettingRemark(key=camel_case(name), message=message))
    else:
        findings.values[name] = value


def _value(name: str, text: str) -> SettingValue | None:
    if not name.endswith("strategy"):
        return _BOOLEANS.get(text.lower())
    strategy = SchemaCompatibilityStrategy.__members__.get(text)
    # Nobody has said anything: then FULL holds (Pulsar 4.0.7).
    is_unset = strategy is SchemaCompatibilityStrategy.UNDEFINED
    is_default = name == "schema_compatibility_strategy"
    return SchemaCompatibilityStrategy.FULL if is_unset and is_default else strategy


def _retention(minutes: object, megabytes: object) -> Retention | None:
    """What a namespace without a retention has; None where the answer does not show it."""
    texts = str(minutes), str(megabytes)
    if not all(map(_INTEGER.fullmatch, texts)):
        return None
    return Retention(minutes=int(texts[0]), megabytes=int(texts[1]))


def _add_checkers(findings: _Findings, text: object, release: SettingValue) -> None:
    """Checkers that are not the line's own, unless packages here stand for them.

    A type whose checker is left out is decided without one; whether it is left out is a doubt where
    an unknown class may be its checker.
    """
    if text is None:
        return
    names = {word.strip() for word in str(text).strip("[]").split(",") if word.strip()}
    classes = {name.removeprefix(_PACKAGE) for name in names}
    foreign, missing = _undecided(classes - _DEFAULTS.keys()), _unchecked(classes, release)
    if foreign:
        message = (
            f"the broker has the checker {_short(foreign)} in {_CHECKERS}, and decisions here are "
            "those of Pulsar's default checkers"
        )
        findings.doubts.append(SettingRemark(key=_CHECKERS, message=message))
    if missing and not classes - _DEFAULTS.keys() - _OTHERS.keys():
        findings.unchecked += [SchemaType(_DEFAULTS[word]) for word in missing]
    elif missing:
        types = " and ".join(_DEFAULTS[word] for word in missing)
        message = (
            f"the broker does not have the checker {_short(missing)} in {_CHECKERS}: it compares "
            f"no two schemas of {types} unless another checker does, and decisions here are those "
            "of Pulsar's default checkers"
        )
        findings.doubts.append(SettingRemark(key=_CHECKERS, message=message))


def _undecided(foreign: set[str]) -> list[str]:
    """The checkers that no installed one stands for; of an unknown class one stands for any."""
    installed = _installed()
    free = installed - {_OTHERS[checker] for checker in foreign if checker in _OTHERS}
    unknown = sorted(foreign - _OTHERS.keys())
    known = [checker for checker in foreign & _OTHERS.keys() if _OTHERS[checker] not in installed]
    return [*sorted(known), *(unknown if len(unknown) > len(free) else [])]


def _unchecked(classes: set[str], release: SettingValue) -> list[str]:
    """The default checkers of the line that neither the broker nor an installed package replaces.

    A type without a checker has Pulsar's plain one, which accepts any schema of the same type
    unless the strategy is ALWAYS_INCOMPATIBLE (Pulsar 4.0.7).
    """
    line = find_line(str(release))
    checked = _installed() | {_OTHERS[text] for text in classes & _OTHERS.keys()}
    if line is None or not line.rules.has_external:
        checked |= {"EXTERNAL"}
    return sorted(
        text for text, kind in _DEFAULTS.items() if text not in classes and kind not in checked
    )


def _installed() -> set[str]:
    return {installed_type.value for installed_type in installed_types()}


def _short(classes: list[str]) -> str:
    text = ", ".join(classes)
    return "".join(word if word.isprintable() else " " for word in text[: 4 * _LONGEST])


# Answers.


def _json(answer: Answer | None) -> object:
    if answer is None or answer.status != HTTPStatus.OK:
        return None
    try:
        return json.loads(answer.body)
    except (ValueError, RecursionError):
        return None


def _why(answer: Answer | None) -> str:
    if answer is None:
        return "no answer came"
    if answer.status in _FORBIDDEN:
        return "the role may not read it"
    if answer.status == HTTPStatus.OK:
        return f"the answer to {answer.where} is something else"
    return f"{answer.where} answered {answer.status}"
