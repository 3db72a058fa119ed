"""The registries of both sides of a change, and what the files want of one registry."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from gitops.broker.connection import ConnectionPolicies, connection_policies
from gitops.model.config import Config, RegistryConfig
from gitops.model.errors import UsageError
from gitops.model.findings import Severity
from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import BrokerSettings, NamespacePolicies, TopicPolicies
from gitops.model.state import NamespaceState, RegistryState, Repository
from gitops.planning.policies import overlay
from gitops.repository.loading.layout import CONFIG
from gitops.repository.suggestions import did_you_mean

# The registries of both sides of a change: which one is which, and what each says by itself.


def former_name(name: str, base: Config, head: Config) -> str:
    """What the base calls a registry of `head`; its own name where it is no other's address."""
    if name in base.registries:
        return name
    address = _address(head.registries[name])
    for old, config in base.registries.items():
        if old not in head.registries and _address(config) == address:
            return old
    return name


def former_config(name: str, base: Config, head: Config) -> RegistryConfig:
    """What the base has of a registry of `head`; a new one has no policies and no order there."""
    old = base.registries.get(former_name(name, base, head))
    return old or replace(head.registries[name], namespaces={}, after="")


def removed_registries(base: Config, head: Config) -> tuple[str, ...]:
    """The names of registries that `head` has under no name."""
    kept = {former_name(name, base, head) for name in head.registries}
    return tuple(sorted(base.registries.keys() - kept))


def defaults_differ(base: Config, head: Config) -> bool:
    """Whether what a registry's brokers do by default is said to be another."""
    return any(
        former_config(name, base, head).broker != config.broker
        for name, config in head.registries.items()
    )


def changed_overrides(base: Config, head: Config) -> frozenset[NamespaceName]:
    """The namespaces to which a registry gives other policies of its own than before."""
    namespaces: frozenset[NamespaceName] = frozenset()
    return namespaces.union(*(overrides_of(name, base, head) for name in head.registries))


def overrides_of(name: str, base: Config, head: Config) -> frozenset[NamespaceName]:
    """The same for one registry of `head`."""
    old, new = former_config(name, base, head).namespaces, head.registries[name].namespaces
    return frozenset(
        namespace for namespace in {*old, *new} if old.get(namespace) != new.get(namespace)
    )


def _address(config: RegistryConfig) -> tuple[str, str]:
    return config.kind, config.address


def registry_config(repository: Repository, name: str | None) -> tuple[str, RegistryConfig]:
    """The registry called `name`, or the default one; raises UsageError."""
    wanted = name or repository.config.default_registry
    config = repository.config.registries.get(wanted)
    if config is None:
        raise _no_registry(wanted, repository)
    return wanted, config


def _no_registry(wanted: str, repository: Repository) -> UsageError:
    """An entry with an error is left out of the configuration: then the error is what to tell."""
    for finding in repository.findings:
        if (
            finding.severity is Severity.ERROR
            and finding.location
            and finding.location.file == CONFIG
        ):
            what = f"the registries are not known: {finding.message}"
            hint = "pulsar-gitops validate shows all errors of the file"
            return UsageError(what, where=str(finding.location), hint=hint)
    known = repository.config.registries
    hint = did_you_mean(wanted, known) or f"known: {', '.join(sorted(known)) or 'none'}"
    return UsageError(f"there is no registry '{wanted}'", where=CONFIG, hint=hint)


def registries_in_order(names: Iterable[str], config: Config) -> list[str]:
    """The registries of these names and groups, each once, those that come before others first."""
    members = (name for given in names for name in config.groups.get(given, (given,)))
    return sorted(dict.fromkeys(members), key=lambda name: _depth(name, config))


def _depth(name: str, config: Config) -> int:
    """How many registries come before this one."""
    seen: list[str] = []
    while name in config.registries and name not in seen:
        seen.append(name)
        name = config.registries[name].after
    return len(seen)


def desired_state(repository: Repository, config: RegistryConfig) -> RegistryState:
    """The files' state with the registry's own policies for namespaces laid over it."""
    namespaces = dict(repository.desired.namespaces)
    for name in {topic.namespace for topic in repository.desired.topics}:
        namespaces.setdefault(name, NamespaceState(namespace=name))
    return replace(repository.desired, namespaces=_overridden(namespaces, config.namespaces))


def _overridden(
    namespaces: Mapping[NamespaceName, NamespaceState],
    overrides: Mapping[NamespaceName, NamespacePolicies],
) -> dict[NamespaceName, NamespaceState]:
    return {
        name: replace(state, policies=overlay(overrides[name], state.policies))
        if name in overrides
        else state
        for name, state in namespaces.items()
    }


def topic_policies(
    topic: TopicName, observed: RegistryState, wanted: RegistryState, broker: BrokerSettings
) -> ConnectionPolicies:
    """What a broker resolves for a topic: the files' policies over the registry's.

    `observed` contains the topic and its namespace, `wanted` what the files manage.
    """
    own, namespace = wanted.topics.get(topic), wanted.namespaces.get(topic.namespace)
    return connection_policies(
        topic,
        overlay(own.policies if own else TopicPolicies(), observed.topics[topic].policies),
        overlay(
            namespace.policies if namespace else NamespacePolicies(),
            observed.namespaces[topic.namespace].policies,
        ),
        broker,
    )
