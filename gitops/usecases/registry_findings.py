"""What a change does to the registries themselves: names, the default one, and their policies."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from gitops.model.config import RegistryConfig
from gitops.model.findings import Finding
from gitops.model.names import NamespaceName
from gitops.model.policy import NamespacePolicies
from gitops.model.repository import Repository
from gitops.planning.policies import overlay
from gitops.planning.registries import before, former_name, overrides_of, taken_out
from gitops.planning.registry_guards import of_left_snapshots, of_other_default, of_taken_out
from gitops.repository.broken_snapshots import SNAPSHOTS
from gitops.usecases.change import LoadedChange
from gitops.usecases.change_places import place_of_policy, place_of_setting
from gitops.usecases.policy_guards import (
    dropped,
    in_force,
    loosened,
    of_defaults,
    of_dropped,
    of_loosened,
)


def registry_guards(loaded: LoadedChange, checked: Collection[str]) -> Iterator[Finding]:
    """Registries that are gone, and looser policies of those that are not `checked`."""
    base, head = loaded.base.config, loaded.head.config
    for name in taken_out(base, head):
        where = place_of_setting(loaded, ("registries", name), at_key=True)
        yield of_taken_out(name, base.registries[name].namespaces, where)
    for name in sorted(head.registries.keys() - checked):
        for space in sorted(overrides_of(name, base, head)):
            yield from _of_override(loaded, name, space)


def naming_guards(loaded: LoadedChange) -> Iterator[Finding]:
    """Another default registry, and snapshots that do not go with a registry's new name."""
    base, head = loaded.base.config, loaded.head.config
    for name in sorted(head.registries):
        old = former_name(name, base, head)
        if old != name and _are_left(loaded, old, name):
            where = place_of_setting(loaded, ("registries", name), at_key=True)
            yield of_left_snapshots(old, name, where)
    was, now = base.default_registry, head.default_registry
    if was and now and was != former_name(now, base, head):
        yield of_other_default(was, now, place_of_setting(loaded, ("defaultRegistry",)))


def _are_left(loaded: LoadedChange, old: str, new: str) -> bool:
    """Whether there are snapshots under a registry's old name and none under its new one."""
    were = any(path.startswith(f"{SNAPSHOTS}{old}/") for path in loaded.change.base_tree.paths())
    return were and not any(
        path.startswith(f"{SNAPSHOTS}{new}/") for path in loaded.change.head_tree.paths()
    )


def _of_override(loaded: LoadedChange, name: str, space: NamespaceName) -> Iterator[Finding]:
    base, head = loaded.base.config, loaded.head.config
    old, new = before(name, base, head), head.registries[name]
    was, now = _policies(loaded.base, old, space), _policies(loaded.head, new, space)
    held = in_force(was, NamespacePolicies(), of_defaults(old.broker_defaults))
    for one in loosened(space, now, held):
        yield of_loosened(one, place_of_policy(loaded, space, one.change.key, name))
    for one in dropped(space, now, was):
        yield of_dropped(one, place_of_policy(loaded, space, one.change.key, name))


def _policies(
    repository: Repository, config: RegistryConfig, space: NamespaceName
) -> NamespacePolicies:
    state, none = repository.desired.namespaces.get(space), NamespacePolicies()
    return overlay(config.namespaces.get(space, none), state.policies if state else none)
