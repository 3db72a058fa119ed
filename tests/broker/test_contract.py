"""The contract of a Registry, on a real broker."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gitops.model.names import NamespaceName, TopicName
from gitops.registries.pulsar.registry import open_registry
from gitops.registries.pulsar.settings import PulsarConfig
from gitops.testing.registry_contract import RegistryContract
from tests.support.admin_rest import admin_request

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gitops.ports import Registry

pytestmark = pytest.mark.broker


class TestPulsarRegistry(RegistryContract):
    @pytest.fixture
    def registry(self, pulsar_admin_url: str, tmp_path: Path) -> Iterator[Registry]:
        registry = open_registry("test", PulsarConfig(url=pulsar_admin_url), tmp_path)
        yield registry
        registry.close()

    @pytest.fixture
    def namespace(self, pulsar_namespace: NamespaceName) -> NamespaceName:
        return pulsar_namespace

    @pytest.fixture
    def existing_topic(self, pulsar_admin_url: str, namespace: NamespaceName) -> TopicName:
        topic = TopicName.of(namespace, "existing")
        admin_request("PUT", f"{pulsar_admin_url}/admin/v2/persistent/{topic}")
        return topic
