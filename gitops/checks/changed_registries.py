"""What a change does to registries in gitops.yaml: names, the default one, their policies."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from gitops.changes.change import LoadedChange
from gitops.changes.locations import place_of_policy, place_of_setting
from gitops.changes.registries import former_config, former_name, overrides_of, removed_registries
from gitops.checks.loosened_policies import (
    LoosenedPolicy,
    default_policies,
    dropped_findings,
    dropped_policies,
    effective_policies,
    loosened_findings,
    loosened_policies,
)
from gitops.model.config import RegistryConfig
from gitops.model.findings import Finding, Location
from gitops.model.names import NamespaceName
from gitops.model.policy import NamespacePolicies
from gitops.model.rules import make_finding
from gitops.model.state import Repository
from gitops.planning.policies import overlay
from gitops.repository.snapshots import SNAPSHOTS

# Guards of what a change does to the registries in gitops.yaml, beside the policies they get.


def registry_removed(name: str, own: Iterable[NamespaceName], where: Location | None) -> Finding:
    """A registry that the base has and the change has not; `own` had policies of their own."""
    spaces = ", ".join(map(str, sorted(own)))
    policies = f", with its policies for {spaces}" if spaces else ""
    return make_finding(
        "CHECK-R003",
        f"registry {name} is removed{policies}: it becomes unmanaged",
        location=where,
        subject=name,
        hint="its contents stay as they are; get the topic owners' approval",
    )


def default_registry_changed(old: str, new: str, where: Location | None) -> Finding:
    """Another registry is meant where nobody names one."""
    return make_finding(
        "CHECK-R006",
        f"defaultRegistry changes: {old} → {new}",
        location=where,
        subject=new,
        hint=f"this change is checked against {new}; `check --registry {old}` checks it "
        "against {old}",
    )


def snapshots_left(old: str, new: str, where: Location | None) -> Finding:
    """A registry has another name, and its recorded history does not go with it."""
    return make_finding(
        "CHECK-R006",
        f"registry {old} is renamed to {new}, and its snapshots are not: after the merge no "
        "recorded history is left to compare a change with",
        location=where,
        subject=new,
        hint=f"git mv snapshots/{old} snapshots/{new}",
    )


def order_dropped(name: str, before: str, where: Location | None) -> Finding:
    """A registry no longer waits for the one that came before it."""
    return make_finding(
        "CHECK-R006",
        f"registry {name} no longer comes after {before}: apply no longer waits for it",
        location=where,
        subject=name,
        hint="tell the reviewer why the order changes",
    )


# What a change does to the registries themselves: names, the default one, and their policies.


def registry_guards(loaded: LoadedChange, answers: Collection[str]) -> Iterator[Finding]:
    """Registries that are gone, and looser policies of those without one of the `answers`."""
    base, head = loaded.base.config, loaded.head.config
    for name in removed_registries(base, head):
        where = place_of_setting(loaded, ("registries", name), at_key=True)
        yield registry_removed(name, base.registries[name].namespaces, where)
    for name in sorted(head.registries.keys() - answers):
        yield from _override_findings(loaded, name)


def registry_name_guards(loaded: LoadedChange) -> Iterator[Finding]:
    """Another default registry, and snapshots that do not go with a registry's new name."""
    base, head = loaded.base.config, loaded.head.config
    for name in sorted(head.registries):
        old = former_name(name, base, head)
        if old != name and _are_left(loaded, old, name):
            where = place_of_setting(loaded, ("registries", name), at_key=True)
            yield snapshots_left(old, name, where)
        before, after = former_config(name, base, head).after, head.registries[name].after
        if before and not (after and former_name(after, base, head) == before):
            where = place_of_setting(loaded, ("registries", name), at_key=True)
            yield order_dropped(name, before, where)
    was, now = base.default_registry, head.default_registry
    if was and now and was != former_name(now, base, head):
        yield default_registry_changed(was, now, place_of_setting(loaded, ("defaultRegistry",)))


def _are_left(loaded: LoadedChange, old: str, new: str) -> bool:
    """Whether there are snapshots under a registry's old name and none under its new one."""
    were = any(path.startswith(f"{SNAPSHOTS}{old}/") for path in loaded.base_paths)
    return were and not any(path.startswith(f"{SNAPSHOTS}{new}/") for path in loaded.head_paths)


def _override_findings(loaded: LoadedChange, name: str) -> Iterator[Finding]:
    base, head = loaded.base.config, loaded.head.config
    old, new = former_config(name, base, head), head.registries[name]
    loosened: list[LoosenedPolicy] = []
    dropped: list[LoosenedPolicy] = []
    for space in sorted(overrides_of(name, base, head)):
        was, now = _policies(loaded.base, old, space), _policies(loaded.head, new, space)
        held = effective_policies(was, NamespacePolicies(), default_policies(old.broker))
        loosened += loosened_policies(space, now, held)
        dropped += dropped_policies(space, now, was)

    def locate(policy: LoosenedPolicy) -> Location | None:
        return place_of_policy(loaded, policy.subject, policy.change.key, name)

    yield from loosened_findings(loosened, locate)
    yield from dropped_findings(dropped, locate)


def _policies(
    repository: Repository, config: RegistryConfig, space: NamespaceName
) -> NamespacePolicies:
    state, none = repository.desired.namespaces.get(space), NamespacePolicies()
    return overlay(config.namespaces.get(space, none), state.policies if state else none)
