"""Where a setting of a change stands: in the new files, or in the base where it is gone."""

from __future__ import annotations

from dataclasses import replace

from gitops.model.findings import Location
from gitops.model.names import NamespaceName, TopicName
from gitops.planning.registries import former_name
from gitops.repository.policy_places import override_place, policy_place, settings_place
from gitops.repository.positions import Path
from gitops.usecases.change import LoadedChange


def place_of_policy(
    loaded: LoadedChange, subject: NamespaceName | TopicName, key: str, registry: str
) -> Location | None:
    """The policy's line, as it holds for a registry.

    What a registry no longer says by itself stands in the base, although the namespace's own file
    may say something else still.
    """
    new = override_place(loaded.head_tree, subject, key, registry)
    return (
        new
        or _in_base(override_place(loaded.base_tree, subject, key, _former(loaded, registry)))
        or policy_place(loaded.head_tree, loaded.head, subject, key)
        or _in_base(policy_place(loaded.base_tree, loaded.base, subject, key))
    )


def place_of_setting(loaded: LoadedChange, path: Path, *, at_key: bool = False) -> Location | None:
    """The line of a key of gitops.yaml."""
    new = settings_place(loaded.head_tree, path, at_key=at_key)
    return new or _in_base(settings_place(loaded.base_tree, path, at_key=at_key))


def _former(loaded: LoadedChange, registry: str) -> str:
    return former_name(registry, loaded.base.config, loaded.head.config)


def _in_base(where: Location | None) -> Location | None:
    return replace(where, in_base=True) if where else None
