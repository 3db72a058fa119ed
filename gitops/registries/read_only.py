"""What a registry is that can only be read."""

from __future__ import annotations

from collections.abc import Iterable

from gitops.model.errors import UsageError
from gitops.model.names import NamespaceName, TenantName, TopicName
from gitops.model.policy import BrokerSettings, PolicyChange
from gitops.model.schema import SchemaInfo
from gitops.model.state import TenantState


class ReadOnlyRegistry:
    """Name, address and defaults of such a registry, and an error for everything that writes."""

    def __init__(self, name: str, address: str, defaults: BrokerSettings) -> None:
        self._name = name
        self._address = address
        self._defaults = defaults

    @property
    def name(self) -> str:
        """The name that `gitops.yaml` gives to the registry that this stands for."""
        return self._name

    @property
    def address(self) -> str:
        """Where it is, for people."""
        return self._address

    @property
    def broker(self) -> BrokerSettings:
        """What holds where neither topic nor namespace says anything."""
        return self._defaults

    def create_tenant(self, tenant: TenantState) -> None:
        """Not here; raises UsageError."""
        raise self._refuse(tenant.tenant)

    def create_topic(self, topic: TopicName, partitions: int) -> None:
        """Not here; raises UsageError."""
        del partitions
        raise self._refuse(topic)

    def create_namespace(self, namespace: NamespaceName) -> None:
        """Not here; raises UsageError."""
        raise self._refuse(namespace)

    def set_policies(
        self, subject: NamespaceName | TopicName, changes: Iterable[PolicyChange]
    ) -> None:
        """Not here; raises UsageError."""
        del changes
        raise self._refuse(subject)

    def register_schema(self, topic: TopicName, info: SchemaInfo) -> int:
        """Not here; raises UsageError."""
        del info
        raise self._refuse(topic)

    def delete_schema(self, topic: TopicName, *, force: bool = False) -> int:
        """Not here; raises UsageError."""
        del force
        raise self._refuse(topic)

    def close(self) -> None:
        """Nothing is open."""

    def _refuse(self, subject: TenantName | NamespaceName | TopicName) -> UsageError:
        return UsageError(
            f"{subject} cannot be changed here: {self._address} is only a record",
            where=self._address,
            hint=f"`pulsar-gitops apply --registry {self._name}` changes the registry itself",
        )
