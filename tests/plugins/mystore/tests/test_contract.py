"""What every registry must do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from mystore.kind import KIND

from gitops.plugins import Registry
from gitops.testing.registry_contract import RegistryContract


class TestMyStore(RegistryContract):
    @pytest.fixture
    def registry(self, tmp_path: Path) -> Iterator[Registry]:
        settings = KIND.document.model_validate({"kind": "mystore", "folder": "store"})
        registry = KIND.open("test", settings.model(), tmp_path)
        yield registry
        registry.close()
