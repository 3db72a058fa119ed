"""Opens a registry of `gitops.yaml` by the kind of its configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitops.model.errors import UsageError
from gitops.repository.documents.registry_kinds import load_kind

if TYPE_CHECKING:
    from pathlib import Path

    from gitops.model.config import RegistryConfig
    from gitops.ports import Registry


def open_registry(name: str, config: RegistryConfig, root: Path) -> Registry:
    """Open the registry that `gitops.yaml` calls `name`; relative paths start at `root`.

    Raises UsageError where no installed package offers that kind, or where the configuration
    cannot be used (a missing secret, an unreadable file).
    """
    kind = load_kind(config.kind)
    try:
        return kind.open(name, config, root)
    except ImportError as error:
        raise UsageError(
            f"a registry of kind '{config.kind}' cannot be opened: {error}",
            where=f"gitops.yaml, registry '{name}'",
            hint="install what the package of this kind needs",
        ) from error
