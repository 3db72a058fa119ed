"""The contract of a Registry, by way of the `pulsar` registry and `serve`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gitops.model.names import NamespaceName, TopicName
from gitops.ports import Registry
from gitops.registries.embedded.administration import Administration
from gitops.registries.embedded.namespace_rows import TenantInfo
from gitops.registries.embedded.registry import EmbeddedRegistry
from gitops.registries.pulsar.registry import open_registry
from gitops.registries.pulsar.settings import PulsarConfig
from gitops.registries.server.server import serve_in_thread
from gitops.testing.registry_contract import RegistryContract


@pytest.mark.slow
class TestServe(RegistryContract):
    @pytest.fixture
    def served(self, tmp_path: Path) -> Iterator[EmbeddedRegistry]:
        registry = EmbeddedRegistry("served", tmp_path / "registry.db")
        Administration(registry.database).create_tenant("contract", TenantInfo())
        yield registry
        registry.close()

    @pytest.fixture
    def registry(self, served: EmbeddedRegistry, tmp_path: Path) -> Iterator[Registry]:
        with serve_in_thread(served) as url:
            registry = open_registry("test", PulsarConfig(url=url), tmp_path)
            yield registry
            registry.close()

    @pytest.fixture
    def existing_topic(self, served: EmbeddedRegistry, namespace: NamespaceName) -> TopicName:
        topic = TopicName.of(namespace, "existing")
        Administration(served.database).create_topic(topic, 0)
        return topic
