"""Topics whose messages have many schemas, and what is equal of a capture and its copy."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from pathlib import Path
from typing import Any, Final

from gitops.messaging.client import MessagingClient
from gitops.messaging.settings import ProducerSettings
from gitops.messaging.values.schema import BytesSchema, ValueSchema
from gitops.model.names import NamespaceName, TopicName
from tests.support.admin_rest import admin_request
from tests.support.capture_topics import rows_of, schema_body
from tests.support.message_schemas import MIXED, value_for
from tests.support.pulsar_broker import RunningBroker

_BYTES: Final = BytesSchema()
_OTHER: Final = ("message_id", "publish_time", "producer_name", "topic", "sequence_id")
_SCHEMAS: Final[dict[str, ValueSchema]] = {**MIXED, "bytes": _BYTES}


def allow_all_schemas(pulsar: RunningBroker, namespace: NamespaceName) -> None:
    """Have topics take schemas of any types one after another."""
    url = f"{pulsar.admin_url}/admin/v2/namespaces/{namespace}/schemaCompatibilityStrategy"
    admin_request("PUT", url, "ALWAYS_COMPATIBLE")


def deduplicate(pulsar: RunningBroker, namespace: NamespaceName) -> None:
    """Have the namespace's topics leave out what they have."""
    url = f"{pulsar.admin_url}/admin/v2/namespaces/{namespace}/deduplication"
    admin_request("POST", url, json.loads("true"))


def send_mixed(pulsar: RunningBroker, topic: TopicName, count: int) -> None:
    """So many messages of seven kinds in batches: keys, times, properties, null values."""
    asyncio.run(_send_mixed(pulsar.service_url, str(topic), count))


async def _send_mixed(service_url: str, topic: str, count: int) -> None:
    settings = ProducerSettings(multi_schema="auto", batch_delay=0.05)
    async with MessagingClient(service_url) as client:
        producer = await client.producer(topic, MIXED["avro"], settings)
        for number in range(count):
            names = list(_SCHEMAS)
            name = names[number // 3 % len(names)]
            schema = _SCHEMAS[name]
            message = producer.new_message(schema)
            message.property("number", str(number)).property("é", "ü")
            if number % 11 != 5:
                value = f"bytes {number}".encode() if name == "bytes" else value_for(name, number)
                message.value(value)
            if number % 3 and name != "separated":
                message.key(f"k{number % 10}")
            if number % 4 == 1:
                message.ordering_key(f"o{number}".encode())
            if number % 2:
                message.event_time(1_700_000_000_000 + number)
            await message.enqueue()


def as_sent(out: Path, topic: TopicName) -> dict[str, list[dict[str, Any]]]:
    """The messages of a capture by key, in their order, each with its schema in place of a version.

    Those without a key are one group of each partition of the topic.
    """
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows_of(out, topic):
        group = f"key {row['key']}"
        if row["key"] is None:
            group = f"partition {row['message_id'].split(':')[2]}"
        one = {name: value for name, value in row.items() if name not in _OTHER}
        version = one.pop("schema_version")
        body = None if version is None else dict(schema_body(out, topic, version))
        if body is not None:
            del body["version"]
        found[group].append({**one, "schema": body})
    return dict(found)
