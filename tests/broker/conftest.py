"""What tests against a real broker share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gitops.registries.pulsar.registry import open_registry
from gitops.registries.pulsar.settings import PulsarConfig

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gitops.ports import Registry


@pytest.fixture
def registry(pulsar_admin_url: str, tmp_path: Path) -> Iterator[Registry]:
    """The broker, as a registry of gitops.yaml."""
    registry = open_registry("test", PulsarConfig(url=pulsar_admin_url), tmp_path)
    yield registry
    registry.close()
