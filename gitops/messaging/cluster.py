"""The brokers of a cluster: connections to them, and which of them has a topic."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Coroutine, Sequence
from typing import Final, NamedTuple

from gitops.messaging.addresses import ServiceAddress, parse_service_url
from gitops.messaging.connection import Connection, open_connection, refusal
from gitops.messaging.connection_settings import ConnectionSettings, Deadlines
from gitops.messaging.errors import ConnectionFailedError, MessagingError
from gitops.messaging.wire import pulsar_api_pb2 as api
from gitops.model.errors import UsageError

_MOST_REDIRECTS: Final = 20
"""As Java's client has it (maxLookupRedirects, Pulsar 4.0.7)."""
_MOST_PARTITIONS: Final = 10_000
"""More than any broker is set up with: each is a producer here."""


class BrokerRoute(NamedTuple):
    """The broker to talk to, and the address to connect to: that of a proxy, or its own."""

    broker: ServiceAddress
    connect_to: ServiceAddress


class Cluster:
    """One connection for each broker; all are closed together."""

    def __init__(self, service_url: str, settings: ConnectionSettings) -> None:
        self._services = parse_service_url(service_url)
        self._settings = settings
        self._connections: dict[BrokerRoute, asyncio.Task[Connection]] = {}
        self._ids = itertools.count()
        self._is_closed = False

    @property
    def deadlines(self) -> Deadlines:
        """How long waits may last."""
        return self._settings.deadlines

    def next_id(self) -> int:
        """An id that no producer and no reader of this client has."""
        return next(self._ids)

    async def partitions(self, topic: str) -> int:
        """How many partitions a topic has, 0 for one that is not partitioned.

        May create the topic, as its first producer does. Raises BrokerRefusedError,
        ConnectionFailedError.
        """
        connection = await self._service()
        result: api.CommandPartitionedTopicMetadataResponse = await connection.request(
            api.BaseCommand.PARTITIONED_METADATA, topic=topic
        )
        if result.response == api.CommandPartitionedTopicMetadataResponse.Failed:
            raise refusal(result.error, result.message, topic)
        if result.partitions > _MOST_PARTITIONS:
            raise MessagingError(
                f"the topic has {result.partitions} partitions; at most {_MOST_PARTITIONS} are "
                "used",
                where=topic,
            )
        return result.partitions

    async def connect(self, topic: str, assigned: str | None = None) -> Connection:
        """A connection to the broker that has the topic; `assigned` is its URL if it is known.

        Raises BrokerRefusedError, ConnectionFailedError.
        """
        if assigned is not None:
            broker = _broker_address(assigned)
            return await self._connection(BrokerRoute(broker, broker))
        return await self._connection(await self._find(topic))

    async def schema(
        self, topic: str, version: bytes | None = None
    ) -> api.CommandGetSchemaResponse | None:
        """A version of a topic's schema, the latest unless one is given; None where it has none.

        Raises BrokerRefusedError, ConnectionFailedError.
        """
        connection = await self.connect(topic)
        result: api.CommandGetSchemaResponse = await connection.request(
            api.BaseCommand.GET_SCHEMA, topic=topic, schema_version=version
        )
        if not result.HasField("error_code"):
            return result
        if result.error_code == api.TopicNotFound:
            return None
        raise refusal(result.error_code, result.error_message, topic)

    async def close(self) -> None:
        """End every connection."""
        self._is_closed = True
        tasks, self._connections = list(self._connections.values()), {}
        for task in tasks:
            task.cancel()
        for result in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(result, Connection):
                result.close()
        await asyncio.sleep(0)  # asyncio closes the sockets in its next round

    async def _find(self, topic: str) -> BrokerRoute:
        """Ask for the broker of a topic, and follow redirects as far as Java's client does."""
        connection, is_authoritative = await self._service(), False
        for _ in range(_MOST_REDIRECTS + 1):
            result: api.CommandLookupTopicResponse = await connection.request(
                api.BaseCommand.LOOKUP, topic=topic, authoritative=is_authoritative
            )
            if result.response == api.CommandLookupTopicResponse.Failed:
                raise refusal(result.error, result.message, topic)
            route = self._route(result)
            if result.response == api.CommandLookupTopicResponse.Connect:
                return route
            is_authoritative = result.authoritative
            connection = await self._connection(route)
        raise MessagingError(
            f"the brokers redirected the lookup more than {_MOST_REDIRECTS} times", where=topic
        )

    def _route(self, result: api.CommandLookupTopicResponse) -> BrokerRoute:
        secure = self._services[0].is_secure
        broker = _broker_address(result.brokerServiceUrlTls if secure else result.brokerServiceUrl)
        if broker.is_secure is not secure:
            raise MessagingError(
                f"the lookup answered {broker}, which is {'not ' if secure else ''}TLS",
                hint="use the service URL of the same kind as the brokers advertise",
            )
        return BrokerRoute(
            broker, self._services[0] if result.proxy_through_service_url else broker
        )

    async def _service(self) -> Connection:
        """A connection to the first address of the service URL that accepts one."""
        failures: list[ConnectionFailedError] = []
        for address in self._services:
            try:
                return await self._connection(BrokerRoute(address, address))
            except ConnectionFailedError as error:
                failures.append(error)
        raise failures[0]

    async def _connection(self, route: BrokerRoute) -> Connection:
        """The connection of a route, made once however many ask for it at a time."""
        if self._is_closed:
            raise UsageError("the client is closed")
        task = self._connections.get(route)
        if task is None or (task.done() and not _is_usable(task)):
            task = asyncio.create_task(self._open(route))
            task.add_done_callback(_see)
            self._connections[route] = task
        return await asyncio.shield(task)

    def _open(self, route: BrokerRoute) -> Coroutine[None, None, Connection]:
        is_proxied = route.broker != route.connect_to
        proxied = route.broker if is_proxied else None
        return open_connection(route.connect_to, self._settings, proxied)


def _see(task: asyncio.Task[Connection]) -> None:
    """Its error counts as seen, also where all who waited for it have gone."""
    if not task.cancelled():
        task.exception()


def _is_usable(task: asyncio.Task[Connection]) -> bool:
    return not task.cancelled() and task.exception() is None and task.result().is_open


def _broker_address(url: str) -> ServiceAddress:
    """An address that a broker named; raises MessagingError for what is none."""
    try:
        addresses: Sequence[ServiceAddress] = parse_service_url(url)
    except UsageError:
        raise MessagingError("the lookup answered no address of a broker") from None
    return addresses[0]
