"""How a broker is reached: login, TLS, deadlines, protocol version."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from gitops.messaging.errors import DeadlineError

PROTOCOL_VERSION: Final = 21
"""The version that Pulsar 4.0.7 to 5.0.0-M1 have; 3.0.7 answers with its own, 20."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadlines:
    """How long each wait may last, in seconds.

    `connect` covers name, socket, TLS and greeting; `request` one answer; `keep_alive` is after
    how long a silent server is asked whether it is there, and once more how long its answer may
    need. A message has its own, in the settings of its producer.
    """

    connect: float = 10
    request: float = 30
    keep_alive: float = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """Who we are to a broker.

    `method` is Pulsar's name of it: `none`, `token`, `basic`, or `tls` for a client certificate,
    which the SSL context has. `secret` supplies the token; it is called for each connection and
    whenever a broker wants a fresh one, in a thread, so it may read a file or ask an issuer.
    """

    method: str = "none"
    secret: Callable[[], str] | None = None

    async def data(self) -> bytes:
        """What the broker is sent."""
        return (await asyncio.to_thread(self.secret)).encode() if self.secret else b""

    def __repr__(self) -> str:
        return f"Login({self.method})"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionSettings:
    """How brokers are reached; `tls` says whose certificates are trusted, and which is ours.

    `protocol_version` is the newest that we offer: a broker answers with it or an older one.
    """

    login: Login = field(default_factory=Login)
    tls: ssl.SSLContext | None = None
    deadlines: Deadlines = field(default_factory=Deadlines)
    protocol_version: int = PROTOCOL_VERSION


@asynccontextmanager
async def deadline(seconds: float, what: str, where: str) -> AsyncIterator[None]:
    """Raise DeadlineError where the block needs longer."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise DeadlineError(what, seconds, where=where) from None
