"""Reads a whole schemas repository."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import closing, suppress
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from gitops.broker.lines.line import BrokerLine
from gitops.broker.lines.table import LINES, UnknownBrokerError, find_line, line_of, nearest_line
from gitops.model.broker_settings import as_if_broker, is_seen
from gitops.model.config import Config
from gitops.model.errors import UnreadableFileError, UsageError
from gitops.model.findings import Finding, Severity
from gitops.model.names import TopicName
from gitops.model.policy import BrokerSettings, SettingSource
from gitops.model.rules import apply_severities
from gitops.model.state import RegistryState, Repository, TopicSource
from gitops.planning.severities import stricter
from gitops.ports import FileTree, Progress, no_progress
from gitops.repository.broker_snapshots import with_recorded
from gitops.repository.definitions.schema_builder import SchemaBuilder
from gitops.repository.loading.clients import load_clients, unknown_topics
from gitops.repository.loading.layout import layout
from gitops.repository.loading.namespaces import load_namespaces, load_tenants
from gitops.repository.loading.settings import load_settings
from gitops.repository.loading.strays import broken_definitions, find_strays
from gitops.repository.loading.topics import load_topics
from gitops.repository.loading.waivers import (
    is_limit_waiver,
    load_limit_waivers,
    load_waivers,
)
from gitops.repository.observed_clients import load_observed_clients
from gitops.repository.snapshots import broken_snapshots
from gitops.repository.tracked_files import TrackedFiles


def load(
    tree: FileTree,
    progress: Progress = no_progress,
    least: Config | None = None,
    *,
    release: str | None = None,
    reported: Mapping[str, BrokerSettings] = MappingProxyType({}),
) -> Repository:
    """Everything that the files say, and everything that is wrong with them, in one run.

    Severities are those of `rules:` in `gitops.yaml`, no milder than those of `least` where it is
    given: the configuration that a change was to be judged by. Definitions are judged by `release`,
    or by the line of the default registry, which is that of `reported` settings if it is in these.
    Raises UsageError where there is no `gitops.yaml`.
    """
    sources = TrackedFiles(tree)
    config, registries, findings = load_settings(sources)
    result = layout(sources.paths)
    tenants, tenant_findings = load_tenants(result.tenants, sources)
    namespaces = load_namespaces(result.namespaces, result.topics, sources)
    lines, assumed = definition_lines(tree, config, release, reported)
    with closing(SchemaBuilder(sources, lines, assumed)) as builder:
        topics = load_topics(result.topics, sources, builder, progress)
        clients = load_clients(result.clients, sources, builder, topics)
        whole = not _has_errors(topics.findings)
        about_limits = [file for file in result.waivers if _is_about_limit(file, sources)]
        limit_waivers, limit_findings = load_limit_waivers(about_limits, sources)
        waivers, waiver_findings = load_waivers(
            [file for file in result.waivers if file not in about_limits],
            sources,
            topics.states if whole else None,
        )
        digest = sources.digest()  # what nothing uses does not count
        content = (finding for source in topics.sources.values() for finding in source.findings)
        used = topics.files | clients.files if whole and not _has_errors(clients.findings) else None
        known = (*topics.findings, *clients.findings, *content)
        strange = (
            unknown_topics(clients.uses, topics.states, namespaces.states, sources) if whole else []
        )
        strays = find_strays(result, used, sources)
        strays += broken_definitions(result, used, builder, known)
    everything = (
        *findings,
        *tenant_findings,
        *namespaces.findings,
        *topics.findings,
        *clients.findings,
        *strange,
        *waiver_findings,
        *limit_findings,
        *strays,
        *broken_snapshots(sources, registries),
    )
    rules = stricter(least, config).rules if least else config.rules
    return Repository(
        config=config,
        desired=RegistryState(
            namespaces=namespaces.states,
            topics=topics.states,
            tenants=tenants,
            partitions=topics.partitions,
        ),
        digest=digest,
        namespaces=namespaces.places,
        topics=_rate(topics.sources, rules),
        clients=tuple(clients.clients),
        observed_clients=load_observed_clients(sources),
        waivers=waivers,
        limit_waivers=limit_waivers,
        findings=_sorted(everything, rules),
    )


def load_config(tree: FileTree) -> Repository:
    """What `gitops.yaml` says, as a repository without any other file.

    Raises UsageError where there is no `gitops.yaml`.
    """
    sources = TrackedFiles(tree)
    config, _, findings = load_settings(sources)
    return Repository(
        config=config,
        desired=RegistryState(),
        digest=sources.digest(),
        findings=_sorted(findings, config.rules),
    )


def _is_about_limit(file: str, sources: TrackedFiles) -> bool:
    try:
        return is_limit_waiver(sources.data(file))
    except UnreadableFileError:
        return False


_OF_LINES: Final = ("AVRO-W023", "EXTERNAL-W001")
"""Findings that name a registry's line, and whether it is assumed."""


def is_about_line_of(finding: Finding, registry: str) -> bool:
    """Whether a finding says what the broker line of this registry does not accept."""
    return finding.rule in _OF_LINES and finding.message.startswith(f"registry {registry} (")


def load_as_reported(
    repository: Repository,
    tree: FileTree,
    registry: str,
    broker: BrokerSettings,
    least: Config | None = None,
) -> Repository:
    """The repository, read again where its brokers report another line than it was judged by.

    A snapshot may be older than the last upgrade, and without one the line was a guess: what that
    guess refuses is judged again, too, by the line that is known now.
    """
    line = find_line(broker.release) if is_seen(broker, "release") else None
    lines, assumed = definition_lines(tree, repository.config)
    if line is None or registry not in lines:
        return repository
    is_guessed = registry in assumed and any(
        finding.rule in _OF_LINES
        for source in repository.topics.values()
        for finding in source.findings
    )
    if line.name == lines[registry].name and not is_guessed:
        return repository
    return load(tree, least=least, reported={registry: broker})


def definition_lines(
    tree: FileTree,
    config: Config,
    release: str | None = None,
    reported: Mapping[str, BrokerSettings] = MappingProxyType({}),
) -> tuple[dict[str, BrokerLine], frozenset[str]]:
    """The broker line of each registry, the default one first, and those that are only assumed."""
    brokers = {**_brokers(tree, config, release), **reported}
    assumed = frozenset(
        name
        for name, broker in brokers.items()
        if broker.source("release") is SettingSource.ASSUMED
    )
    return {name: _line(broker) for name, broker in brokers.items()}, assumed


def _line(broker: BrokerSettings) -> BrokerLine:
    """The line of a broker; the nearest one where a snapshot has a release without a profile.

    What decides by that snapshot fails; what asks the registry itself does not need it.
    """
    try:
        return line_of(broker)
    except UnknownBrokerError:
        if broker.source("release") is not SettingSource.RECORDED:
            raise
        return LINES[nearest_line(broker.release)]


def _brokers(tree: FileTree, config: Config, release: str | None) -> dict[str, BrokerSettings]:
    """What is known of the broker of each registry, the default one first.

    Each is of `release` where one is given, else of the release that its snapshot has. A broken
    snapshot is reported elsewhere.
    """
    names = sorted(config.registries, key=lambda name: (name != config.default_registry, name))
    grouped: dict[str, BrokerSettings] = {}
    for name in names:
        grouped[name] = config.registries[name].broker
        with suppress(UsageError):
            grouped[name] = with_recorded(grouped[name], tree, name)
        if release:
            grouped[name] = as_if_broker(grouped[name], release)
    return grouped or {"": BrokerSettings()}


def _has_errors(findings: Iterable[Finding]) -> bool:
    return any(finding.severity is Severity.ERROR for finding in findings)


def _sorted(findings: Iterable[Finding], rules: Mapping[str, Severity]) -> tuple[Finding, ...]:
    rated = apply_severities(dict.fromkeys(findings), rules)
    return tuple(sorted(rated, key=lambda finding: finding.sort_key))


def _rate(
    sources: Mapping[TopicName, TopicSource], rules: Mapping[str, Severity]
) -> dict[TopicName, TopicSource]:
    return {
        topic: replace(source, findings=_sorted(source.findings, rules))
        if source.findings
        else source
        for topic, source in sources.items()
    }
