"""What `pulsar-client` reads of a topic."""

from __future__ import annotations

from typing import NamedTuple

import pytest


class ReadMessage(NamedTuple):
    """A message as `pulsar-client` has it; `version` is -1 without a schema."""

    version: int
    key: str
    data: bytes


def read_topic(service_url: str, topic: str) -> list[ReadMessage]:
    """All messages of a topic, oldest first; skips where `pulsar-client` is not installed."""
    pulsar = pytest.importorskip("pulsar", reason="the extra 'pulsar' is not installed")
    client = pulsar.Client(service_url, logger=pulsar.ConsoleLogger(pulsar.LoggerLevel.Error))
    try:
        reader = client.create_reader(topic, pulsar.MessageId.earliest)
        found = []
        while reader.has_message_available():
            message = reader.read_next(30_000)
            version = message.schema_version().encode()
            number = int.from_bytes(version, "big") if version else -1
            found.append(ReadMessage(number, message.partition_key(), message.data()))
        return found
    finally:
        client.close()
