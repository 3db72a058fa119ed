"""Tokens and client certificates on the binary protocol of a broker that insists on them."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import time
from collections.abc import Iterator
from dataclasses import dataclass

import jwt
import pytest

from gitops.messaging.client import MessagingClient
from gitops.messaging.connection_settings import ConnectionSettings, Deadlines, Login
from gitops.messaging.errors import BrokerRefusedError, ConnectionFailedError
from gitops.messaging.settings import ProducerSettings
from tests.support.admin_rest import admin_request
from tests.support.message_schemas import avro
from tests.support.pulsar_broker import BrokerUnavailableError
from tests.support.secured_broker import STRANGER, SUPERUSER, SecuredBroker, secured_broker

pytestmark = pytest.mark.broker

TOPIC = "persistent://public/default/secured"
SHORT = Deadlines(connect=10, request=3)


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsBroker:
    """A secured broker whose own protocol also listens with TLS."""

    secured: SecuredBroker
    url: str

    def context(self, *, client: bool = False) -> ssl.SSLContext:
        """Trusts the broker's authority; `client` loads the superuser's certificate."""
        context = ssl.create_default_context(cafile=str(self.secured.ca_file))
        if client:
            context.load_cert_chain(self.secured.client_certificate, self.secured.client_key)
        return context


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TlsBroker]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    config = {"brokerServicePortTls": str(port), "authenticationRefreshCheckSeconds": "1"}
    try:
        with secured_broker(tmp_path_factory.mktemp("secured"), config) as secured:
            yield TlsBroker(secured=secured, url=f"pulsar+ssl://localhost:{port}")
    except BrokerUnavailableError as reason:
        pytest.skip(f"no Pulsar broker: {reason}")


def send(url: str, **settings: object) -> None:
    """Send messages of two schemas."""

    async def main() -> None:
        connection = ConnectionSettings(deadlines=SHORT, **settings)  # type: ignore[arg-type]
        async with MessagingClient(url, connection) as client:
            producer = await client.producer(TOPIC, avro(), ProducerSettings(multi_schema="auto"))
            for schema in (avro(), avro("note")):
                await producer.new_message(schema).value({"id": "a"}).send()

    asyncio.run(main())


def login(broker: TlsBroker, role: str) -> Login:
    token = broker.secured.token(role)
    return Login(method="token", secret=lambda: token)


def test_a_token_without_tls(broker: TlsBroker) -> None:
    send(broker.secured.broker.service_url, login=login(broker, SUPERUSER))


def test_a_token_and_tls(broker: TlsBroker) -> None:
    send(broker.url, login=login(broker, SUPERUSER), tls=broker.context())


def test_a_client_certificate(broker: TlsBroker) -> None:
    send(broker.url, login=Login(method="tls"), tls=broker.context(client=True))


def test_a_token_that_expires_is_renewed_on_the_same_connection(broker: TlsBroker) -> None:
    supplied: list[str] = []

    def supply() -> str:
        """A token for two seconds; the broker looks every second."""
        claims = {"sub": SUPERUSER, "exp": int(time.time()) + 2}
        supplied.append(jwt.encode(claims, broker.secured.key, algorithm="HS256"))
        return supplied[-1]

    async def main() -> None:
        settings = ConnectionSettings(login=Login(method="token", secret=supply))
        url = broker.secured.broker.service_url
        async with asyncio.timeout(60), MessagingClient(url, settings) as client:
            producer = await client.producer(f"{TOPIC}-renewed", avro())
            since = await asyncio.to_thread(connected_since, broker)
            connections = len(supplied)
            while len(supplied) < connections + 2:
                await producer.new_message().value({"id": "a"}).send()
                await asyncio.sleep(0.05)
            await producer.new_message().value({"id": "a"}).send()
            assert await asyncio.to_thread(connected_since, broker) == since

    asyncio.run(main())


def connected_since(broker: TlsBroker) -> str:
    """When the only producer of the topic came, as the broker has it."""
    url = f"{broker.secured.broker.admin_url}/admin/v2/persistent/public/default/secured-renewed"
    headers = {"Authorization": f"Bearer {broker.secured.token(SUPERUSER)}"}
    (publisher,) = json.loads(admin_request("GET", f"{url}/stats", headers=headers))["publishers"]
    return str(publisher["connectedSince"])


def test_nobody_is_refused(broker: TlsBroker) -> None:
    with pytest.raises(BrokerRefusedError, match="AuthenticationError"):
        send(broker.url, tls=broker.context())


def test_a_wrong_token_is_refused_and_not_repeated(broker: TlsBroker) -> None:
    token = broker.secured.token(SUPERUSER)[:-4] + "AAAA"
    with pytest.raises(BrokerRefusedError, match="AuthenticationError") as caught:
        send(broker.url, login=Login(method="token", secret=lambda: token), tls=broker.context())
    assert token not in f"{caught.value} {caught.value.where} {caught.value.hint}"


def test_a_stranger_may_not_produce(broker: TlsBroker) -> None:
    with pytest.raises(BrokerRefusedError, match="AuthorizationError") as caught:
        send(broker.url, login=login(broker, STRANGER), tls=broker.context())
    assert "permission" in caught.value.hint


def test_an_unknown_authority_is_not_trusted(broker: TlsBroker) -> None:
    with pytest.raises(ConnectionFailedError, match="cannot connect"):
        send(broker.url, login=login(broker, SUPERUSER))
