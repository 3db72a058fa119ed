"""Opens a registry of `gitops.yaml` by the kind of its configuration."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Final

from gitops.model.config import EmbeddedConfig, PulsarConfig
from gitops.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from gitops.model.config import RegistryConfig
    from gitops.ports import Registry

GROUP: Final = "gitops.registries"
"""The entry-point group: a name is a kind, its object takes name, config, root: a Registry."""

_KINDS: Final[dict[type, str]] = {EmbeddedConfig: "embedded", PulsarConfig: "pulsar"}


def open_registry(name: str, config: RegistryConfig, root: Path) -> Registry:
    """Open the registry that `gitops.yaml` calls `name`; relative paths start at `root`.

    Raises UsageError where no installed package offers that kind, or where the configuration
    cannot be used (a missing secret, an unreadable file).
    """
    opened: Registry = find_kind(_KINDS[type(config)]).load()(name, config, root)
    return opened


def find_kind(kind: str, offered: Iterable[EntryPoint] | None = None) -> EntryPoint:
    """The entry point that opens registries of this kind.

    Raises UsageError where there is none, or where two packages offer the same kind: which of
    them answers must not depend on the order in which they were installed.
    """
    points = entry_points(group=GROUP) if offered is None else offered
    found = {point.value: point for point in points if point.name == kind}
    if not found:
        raise UsageError(
            f"no registry of kind '{kind}' is installed",
            where=f"entry points '{GROUP}'",
            hint="install pulsar-schema-gitops again, or the plug-in that offers this kind",
        )
    if len(found) > 1:
        raise UsageError(
            f"several packages offer registries of kind '{kind}': {', '.join(sorted(found))}",
            where=f"entry points '{GROUP}'",
            hint="uninstall all but one of them",
        )
    return next(iter(found.values()))
