"""The registries of both sides of a change: which one is which, and what each says by itself."""

from __future__ import annotations

from dataclasses import replace

from gitops.model.config import Config, RegistryConfig
from gitops.model.names import NamespaceName


def former_name(name: str, base: Config, head: Config) -> str:
    """What the base calls a registry of `head`; its own name where it is no other's address."""
    if name in base.registries:
        return name
    address = _address(head.registries[name])
    for old, config in base.registries.items():
        if old not in head.registries and _address(config) == address:
            return old
    return name


def before(name: str, base: Config, head: Config) -> RegistryConfig:
    """What the base says of a registry of `head`; of a new one, that it has no own policies."""
    old = base.registries.get(former_name(name, base, head))
    return old or replace(head.registries[name], namespaces={})


def taken_out(base: Config, head: Config) -> tuple[str, ...]:
    """The names of registries that `head` has under no name."""
    kept = {former_name(name, base, head) for name in head.registries}
    return tuple(sorted(base.registries.keys() - kept))


def defaults_differ(base: Config, head: Config) -> bool:
    """Whether what a registry's brokers do by default is said to be another."""
    return any(
        before(name, base, head).broker_defaults != config.broker_defaults
        for name, config in head.registries.items()
    )


def overrides_that_differ(base: Config, head: Config) -> frozenset[NamespaceName]:
    """The namespaces to which a registry gives other policies of its own than before."""
    found: frozenset[NamespaceName] = frozenset()
    return found.union(*(overrides_of(name, base, head) for name in head.registries))


def overrides_of(name: str, base: Config, head: Config) -> frozenset[NamespaceName]:
    """The same for one registry of `head`."""
    old, new = before(name, base, head).namespaces, head.registries[name].namespaces
    return frozenset(each for each in {*old, *new} if old.get(each) != new.get(each))


def _address(config: RegistryConfig) -> tuple[str, str]:
    return config.kind, config.address
