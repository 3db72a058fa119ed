"""What every registry must do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from mystore.kind import KIND, MyStoreConfig

from gitops.plugins import Registry
from gitops.testing.registry_contract import RegistryContract


class TestMyStore(RegistryContract):
    @pytest.fixture
    def registry(self, tmp_path: Path) -> Iterator[Registry]:
        config = MyStoreConfig(kind="mystore", folder="store", pin=None)
        registry = KIND.open("test", config, tmp_path)
        yield registry
        registry.close()
