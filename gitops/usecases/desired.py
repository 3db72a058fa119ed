"""What the files want of one registry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gitops.model.config import RegistryConfig
from gitops.model.errors import UsageError
from gitops.model.names import NamespaceName
from gitops.model.policy import NamespacePolicies
from gitops.model.repository import Repository
from gitops.model.state import NamespaceState, RegistryState
from gitops.planning.policies import overlay
from gitops.repository.suggestions import did_you_mean


def registry_config(repository: Repository, name: str | None) -> tuple[str, RegistryConfig]:
    """The registry called `name`, or the default one; raises UsageError."""
    wanted = name or repository.config.default_registry
    config = repository.config.registries.get(wanted)
    if config is None:
        known = repository.config.registries
        raise UsageError(
            f"there is no registry '{wanted}'",
            where="gitops.yaml",
            hint=did_you_mean(wanted, known) or f"known: {', '.join(sorted(known)) or 'none'}",
        )
    return wanted, config


def desired_of(repository: Repository, config: RegistryConfig) -> RegistryState:
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
