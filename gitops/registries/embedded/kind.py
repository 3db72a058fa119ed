"""The entry point of the kind `embedded`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from gitops.ports import Registry
from gitops.registries.embedded.settings import EmbeddedConfig, EmbeddedDocument
from gitops.repository.documents.registry_kinds import RegistryKind


def _open(name: str, config: EmbeddedConfig, root: Path) -> Registry:
    from gitops.registries.embedded.registry import open_registry

    return open_registry(name, config, root)


KIND: Final = RegistryKind(document=EmbeddedDocument, open=_open)
