"""One connection to a broker in this process: greeting, login, keep-alive, errors."""

from __future__ import annotations

import asyncio
import ssl

import pytest

from gitops.messaging.addresses import parse_service_url
from gitops.messaging.connection import Connection, open_connection
from gitops.messaging.connection_settings import ConnectionSettings, Deadlines, Login
from gitops.messaging.errors import (
    BrokerRefusedError,
    ConnectionFailedError,
    DeadlineError,
    MessagingError,
    ProtocolError,
)
from gitops.messaging.wire import pulsar_api_pb2 as api
from gitops.messaging.wire.frames import command_frame
from tests.support.fake_pulsar import (
    FakeBroker,
    FakeConnection,
    Frame,
    Kind,
    fake_broker,
    nothing,
    refused,
    run_with_broker,
)

SHORT = Deadlines(connect=0.05, request=0.05)
LONG = Deadlines(connect=30, request=30)
TOKEN = "top-secret"


async def connect(
    broker: FakeBroker, deadlines: Deadlines = LONG, login: Login | None = None
) -> Connection:
    settings = ConnectionSettings(deadlines=deadlines, login=login or Login())
    (address,) = parse_service_url(broker.url)
    return await open_connection(address, settings)


def test_the_greeting_agrees_on_a_version_and_a_size() -> None:
    async def test(broker: FakeBroker) -> None:
        broker.protocol_version, broker.max_message_size = 19, 1234
        connection = await connect(broker, login=Login(method="token", secret=lambda: TOKEN))
        assert (connection.protocol_version, connection.max_message_size) == (19, 1234)
        (command,) = broker.sent(Kind.CONNECT)
        assert (command.auth_method_name, command.auth_data) == ("token", TOKEN.encode())
        assert command.protocol_version == 21
        connection.close()

    run_with_broker(test)


def test_a_proxy_is_told_the_broker() -> None:
    async def test(broker: FakeBroker) -> None:
        (address,) = parse_service_url(broker.url)
        (proxied,) = parse_service_url("pulsar://broker-7:6650")
        connection = await open_connection(address, ConnectionSettings(), proxied)
        (command,) = broker.sent(Kind.CONNECT)
        assert command.proxy_to_broker_url == "broker-7:6650"
        connection.close()

    run_with_broker(test)


def test_a_refused_login_is_the_brokers_reason_without_the_token() -> None:
    def refuse(_b: FakeBroker, _c: FakeConnection, _f: Frame) -> list[api.BaseCommand]:
        error = api.CommandError(
            request_id=2**64 - 1, error="AuthenticationError", message=f"bad {TOKEN}!"
        )
        return [api.BaseCommand(type="ERROR", error=error)]

    async def test(broker: FakeBroker) -> None:
        broker.replies[Kind.CONNECT] = refuse
        login = Login(method="token", secret=lambda: TOKEN)
        with pytest.raises(BrokerRefusedError, match="AuthenticationError: bad …!") as caught:
            await connect(broker, login=login)
        assert caught.value.where == broker.url
        assert TOKEN not in repr(login)

    run_with_broker(test)


def test_a_challenge_is_answered_with_a_fresh_token() -> None:
    tokens = iter(["first", "second"])

    async def test(broker: FakeBroker) -> None:
        answered = asyncio.Event()

        def answer(_b: FakeBroker, _c: FakeConnection, _f: Frame) -> list[api.BaseCommand]:
            answered.set()
            return []

        broker.replies[Kind.AUTH_RESPONSE] = answer
        login = Login(method="token", secret=lambda: next(tokens))
        connection = await connect(broker, login=login)
        challenge = api.CommandAuthChallenge(challenge=api.AuthData(auth_method_name="token"))
        broker.connections[0].send(api.BaseCommand(type="AUTH_CHALLENGE", authChallenge=challenge))
        await answered.wait()
        (response,) = broker.sent(Kind.AUTH_RESPONSE)
        assert response.response.auth_data == b"second"
        connection.close()

    run_with_broker(test)


def test_a_supplier_that_fails_ends_the_connection_without_its_text() -> None:
    calls = iter([TOKEN])

    def supply() -> str:
        try:
            return next(calls)
        except StopIteration:
            raise RuntimeError(TOKEN) from None

    async def test(broker: FakeBroker) -> None:
        broker.replies[Kind.LOOKUP] = nothing
        connection = await connect(broker, login=Login(method="token", secret=supply))
        challenge = api.BaseCommand(type="AUTH_CHALLENGE", authChallenge=api.CommandAuthChallenge())
        broker.connections[0].send(challenge)
        with pytest.raises(MessagingError, match="no fresh token: RuntimeError"):
            await connection.request(Kind.LOOKUP, topic="t")

    run_with_broker(test)


def test_pings_are_answered() -> None:
    async def test(broker: FakeBroker) -> None:
        ponged = asyncio.Event()

        def pong(_b: FakeBroker, _c: FakeConnection, _f: Frame) -> list[api.BaseCommand]:
            ponged.set()
            return []

        broker.replies[Kind.PONG] = pong
        connection = await connect(broker)
        broker.connections[0].send(api.BaseCommand(type="PING", ping=api.CommandPing()))
        await ponged.wait()
        connection.close()

    run_with_broker(test)


@pytest.mark.slow
def test_a_silent_server_is_left() -> None:
    async def test(broker: FakeBroker) -> None:
        broker.replies[Kind.PING] = nothing
        broker.replies[Kind.LOOKUP] = nothing
        connection = await connect(broker, Deadlines(request=30, keep_alive=0.02))
        with pytest.raises(DeadlineError, match="a PING was sent"):
            await connection.request(Kind.LOOKUP, topic="t")
        assert not connection.is_open

    run_with_broker(test)


@pytest.mark.slow
def test_a_server_that_answers_pings_is_kept() -> None:
    async def test(broker: FakeBroker) -> None:
        connection = await connect(broker, Deadlines(keep_alive=0.01))
        while broker.count(Kind.PING) < 3:  # noqa: ASYNC110 - the clock of the connection itself
            await asyncio.sleep(0.01)
        assert connection.is_open
        connection.close()

    run_with_broker(test)


@pytest.mark.slow
def test_a_request_without_an_answer_ends_with_its_deadline() -> None:
    async def test(broker: FakeBroker) -> None:
        broker.replies[Kind.LOOKUP] = nothing
        connection = await connect(broker, Deadlines(connect=30, request=0.05))
        with pytest.raises(DeadlineError, match=r"LOOKUP was sent: no answer within 0\.05 s"):
            await connection.request(Kind.LOOKUP, topic="t")
        connection.close()

    run_with_broker(test)


@pytest.mark.slow
def test_a_server_that_never_greets_ends_with_its_deadline() -> None:
    async def test(broker: FakeBroker) -> None:
        broker.replies[Kind.CONNECT] = nothing
        with pytest.raises(DeadlineError, match="connection was begun"):
            await connect(broker, SHORT)

    run_with_broker(test)


def test_answers_find_their_requests_in_any_order() -> None:
    held: list[Frame] = []

    def hold(_b: FakeBroker, _c: FakeConnection, frame: Frame) -> list[api.BaseCommand]:
        held.append(frame)
        if len(held) < 3:
            return []
        return [refused(each, "TopicNotFound", each.content.topic) for each in reversed(held)]

    async def test(broker: FakeBroker) -> None:
        broker.replies[Kind.LOOKUP] = hold
        connection = await connect(broker)
        requests = [connection.request(Kind.LOOKUP, topic=topic) for topic in "abc"]
        found = await asyncio.gather(*requests, return_exceptions=True)
        assert [str(each) for each in found] == [f"TopicNotFound: {topic}" for topic in "abc"]
        connection.close()

    run_with_broker(test)


def test_another_command_as_an_answer_is_an_error_of_the_protocol() -> None:
    def answer(_b: FakeBroker, _c: FakeConnection, frame: Frame) -> list[api.BaseCommand]:
        success = api.CommandSuccess(request_id=frame.content.request_id)
        return [api.BaseCommand(type="SUCCESS", success=success)]

    async def test(broker: FakeBroker) -> None:
        broker.replies[Kind.LOOKUP] = answer
        connection = await connect(broker)
        with pytest.raises(ProtocolError, match="answered LOOKUP with another command"):
            await connection.request(Kind.LOOKUP, topic="t")

    run_with_broker(test)


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"\xff\xff\xff\xff", "a frame of 4294967295 bytes"),
        (b"\0\0\0\0", "a frame of 0 bytes"),
        (b"\0\0\0\x04\0\0\0\x09", "a command of 9 bytes in a smaller frame"),
        (b"\0\0\0\x06\0\0\0\x02\xff\xff", "a command that cannot be read"),
        (b"\0\0\0\x07\0\0\0\x03\x08\x0d\x6a", "a command that cannot be read"),
        (b"\0\0\0\x08\0\0\0\x04\x08\x0d\x6a\0", "a command without a field"),
        (b"HTTP/1.1 400 Bad Request\r\n", "a frame of 1213486160 bytes"),
    ],
)
def test_what_is_no_command_ends_the_connection(data: bytes, what: str) -> None:
    def answer(_b: FakeBroker, _c: FakeConnection, _f: Frame) -> list[bytes]:
        return [data]

    async def test(broker: FakeBroker) -> None:
        broker.replies[Kind.CONNECT] = answer
        with pytest.raises(ProtocolError, match=what) as caught:
            await connect(broker)
        assert caught.value.where == broker.url
        assert "6650" in caught.value.hint

    run_with_broker(test)


def test_commands_of_newer_brokers_are_left_out() -> None:
    unknown = b"\0\0\0\x06\0\0\0\x02\x08\x7f"

    def answer(_b: FakeBroker, _c: FakeConnection, _f: Frame) -> list[bytes]:
        connected = api.CommandConnected(server_version="x", protocol_version=99)
        frame = command_frame(api.BaseCommand(type="CONNECTED", connected=connected))
        return [unknown + frame + unknown]

    async def test(broker: FakeBroker) -> None:
        broker.replies[Kind.CONNECT] = answer
        connection = await connect(broker)
        assert connection.protocol_version == 21
        connection.close()

    run_with_broker(test)


def test_nobody_listens() -> None:
    async def main() -> None:
        async with fake_broker() as broker:
            url = broker.url
        (address,) = parse_service_url(url)
        with pytest.raises(ConnectionFailedError, match="cannot connect"):
            await open_connection(address, ConnectionSettings())

    asyncio.run(main())


@pytest.mark.slow
def test_a_server_without_tls() -> None:
    async def test(broker: FakeBroker) -> None:
        (address,) = parse_service_url(broker.url.replace("pulsar://", "pulsar+ssl://"))
        settings = ConnectionSettings(deadlines=SHORT, tls=ssl.create_default_context())
        with pytest.raises(ConnectionFailedError):
            await open_connection(address, settings)

    run_with_broker(test)
