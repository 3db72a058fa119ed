"""The entry point of the kind `pulsar`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from gitops.ports import Registry
from gitops.registries.pulsar.settings import PulsarConfig, PulsarDocument
from gitops.repository.documents.registry_kinds import RegistryKind


def _open(name: str, config: PulsarConfig, root: Path) -> Registry:
    from gitops.registries.pulsar.registry import open_registry

    return open_registry(name, config, root)


KIND: Final = RegistryKind(document=PulsarDocument, open=_open)
