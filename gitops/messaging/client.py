"""The client: producers on the topics of one cluster."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, Self, TypeVar

from gitops.messaging.cluster import Cluster
from gitops.messaging.connection_settings import ConnectionSettings
from gitops.messaging.message import Interceptor
from gitops.messaging.producer import Producer
from gitops.messaging.retries import retry
from gitops.messaging.session import ProducerIdentity
from gitops.messaging.settings import ProducerSettings
from gitops.messaging.topic_producer import TopicProducer
from gitops.messaging.values.schema import BytesSchema, ValueSchema
from gitops.messaging.values.table import AutoProduceSchema, schema_of, stored_value_schema
from gitops.model.names import TopicName

_T = TypeVar("_T")
AUTO_PRODUCE: Final = object()
"""As a producer's schema: bytes that are validated against the topic's latest schema."""


class MessagingClient:
    """Connections to one cluster, and what is open on them; close it, or use `async with`."""

    def __init__(self, service_url: str, settings: ConnectionSettings | None = None) -> None:
        """Raise UsageError for what is no service URL; nothing is connected yet."""
        self._cluster = Cluster(service_url, settings or ConnectionSettings())
        self._producers: set[Producer] = set()

    async def producer(
        self,
        topic: str,
        schema: Any = None,  # noqa: ANN401 - see schema_of
        settings: ProducerSettings | None = None,
        interceptors: Sequence[Interceptor] = (),
    ) -> Producer:
        """A producer on a topic or on all of its partitions; the broker registers its schema.

        `schema` is a ValueSchema, a `pulsar.schema` object, a protobuf class, AUTO_PRODUCE, or
        None for bytes. Raises BrokerRefusedError (IncompatibleSchema, TopicNotFound, …),
        ConnectionFailedError, UsageError.
        """
        name = full_name(topic)
        wanted = settings or ProducerSettings()
        partitions = await self._patiently(lambda: self._cluster.partitions(name))
        own = await self._schema(name, schema)
        producer = Producer(name, own, wanted, interceptors)
        topics = [f"{name}-partition-{number}" for number in range(partitions)] or [name]
        producer.partitions = tuple(
            self._topic_producer(producer, text, wanted, number if partitions else -1)
            for number, text in enumerate(topics)
        )
        try:
            await _open_all(producer.partitions)
        except BaseException:
            await producer.close()
            raise
        self._producers = {item for item in self._producers if not item.is_closed} | {producer}
        return producer

    async def schema(self, topic: str, version: bytes | None = None) -> ValueSchema | None:
        """A version of a topic's schema, the latest unless one is given; None where it has none.

        `version` is as a message has it: `message.schema_version().encode()` of `pulsar-client`.
        Raises BrokerRefusedError, ConnectionFailedError, UsageError.
        """
        name = full_name(topic)
        result = await self._patiently(lambda: self._cluster.schema(name, version))
        return None if result is None else stored_value_schema(result.schema)

    async def close(self) -> None:
        """Close all producers, then the connections."""
        producers, self._producers = self._producers, set()
        await asyncio.gather(*(producer.close() for producer in producers))
        await self._cluster.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    def _topic_producer(
        self, producer: Producer, topic: str, settings: ProducerSettings, partition: int
    ) -> TopicProducer:
        identity = ProducerIdentity(
            topic=topic,
            schema=producer.schema,
            name=settings.name,
            multi_schema=settings.multi_schema,
            properties=settings.properties,
            partition=partition,
            is_encrypted=settings.is_encrypted,
        )
        return TopicProducer(self._cluster, identity, settings, producer)

    async def _patiently(self, request: Callable[[], Awaitable[_T]]) -> _T:
        """Repeat it for the time of one request."""
        return await retry(request, self._cluster.deadlines.request)

    async def _schema(self, topic: str, given: Any) -> ValueSchema:  # noqa: ANN401 - see schema_of
        if given is None:
            return BytesSchema()
        if given is not AUTO_PRODUCE:
            return schema_of(given)
        schema = await self.schema(topic)
        return BytesSchema() if schema is None else AutoProduceSchema(schema)


async def _open_all(partitions: Sequence[TopicProducer]) -> None:
    """Open the first alone, so that it registers the schema, then the others at once."""
    await partitions[0].open()
    await asyncio.gather(*(partition.open() for partition in partitions[1:]))


def full_name(topic: str) -> str:
    """A topic as the protocol has it: with its domain, and with `-partition-N` if it is given.

    Raises InvalidNameError.
    """
    name = topic if "/" in topic else f"public/default/{topic}"
    parsed = TopicName.parse(name)
    _, _, local_name = name.split("://")[-1].split("/", 2)
    return f"{parsed.domain}://{parsed.namespace}/{local_name}"
