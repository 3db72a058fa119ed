"""What only records a registry changes nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gitops.model.errors import UsageError
from gitops.model.names import TopicName
from gitops.model.policy import BrokerSettings
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.registries.read_only import ReadOnlyRegistry

TOPIC = TopicName.parse("shop/orders/created")


@pytest.mark.parametrize(
    "write",
    [
        lambda r: r.create_namespace(TOPIC.namespace),
        lambda r: r.set_policies(TOPIC, []),
        lambda r: r.register_schema(TOPIC, SchemaInfo(type=SchemaType.STRING)),
        lambda r: r.delete_schema(TOPIC, force=True),
    ],
)
def test_every_way_to_write_is_refused(write: Callable[[ReadOnlyRegistry], object]) -> None:
    registry = ReadOnlyRegistry("production", "snapshots/production", BrokerSettings())
    with pytest.raises(UsageError, match="only a record") as raised:
        write(registry)
    assert raised.value.where == "snapshots/production"
    assert "--registry production" in raised.value.hint
    registry.close()
