"""A registry is opened by the kind of its settings."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from gitops.model.config import RegistryConfig
from gitops.model.errors import UsageError
from gitops.registries.embedded.registry import EmbeddedRegistry
from gitops.registries.embedded.settings import EmbeddedConfig
from gitops.registries.factory import open_registry
from gitops.registries.pulsar.kind import KIND


@dataclass(frozen=True, slots=True, kw_only=True)
class _Config(RegistryConfig):
    @property
    def address(self) -> str:
        return "nowhere"


def test_the_kind_of_the_settings_decides(tmp_path: Path) -> None:
    opened = open_registry("local", EmbeddedConfig(path="x.db"), tmp_path)
    assert isinstance(opened, EmbeddedRegistry)
    opened.close()


def test_a_kind_that_nobody_offers_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="kind 'odd'"):
        open_registry("local", _Config(kind="odd"), tmp_path)


def test_a_library_that_a_kind_lacks_is_no_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "gitops.registries.pulsar.registry", None)
    config = KIND.document.model_validate({"kind": "pulsar", "url": "http://broker"}).model()
    with pytest.raises(UsageError, match="cannot be opened") as raised:
        open_registry("prod", config, tmp_path)
    assert raised.value.where == "gitops.yaml, registry 'prod'"
