"""Connections as uvicorn serves them over HTTP/1.1, with limits, and quiet about bad clients."""

from __future__ import annotations

import asyncio
import resource
from typing import Any, Final, cast, final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

IDLE_SECONDS: Final = 30
"""How long a client may be silent, also in the middle of a request; a broker's Jetty waits so."""

GRACE_SECONDS: Final = 5
"""How long a client has to read the last answer once the server ends."""

_MOST_CONNECTIONS: Final = 1024
_SHARE_OF_FILES: Final = 2
"""At most half of the files that the process may open are connections."""


@final
class Connection(H11Protocol):
    """One client: bytes that are no HTTP, silence and a flood of others end it without a word."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - uvicorn's own
        super().__init__(*args, **kwargs)
        self._heard = self.loop.time()
        self._silence: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the client in, unless there are too many."""
        # What listens on a socket gives both ends of a stream.
        super().connection_made(cast("asyncio.Transport", transport))
        if len(self.connections) > _most_connections():
            self.transport.close()
        else:
            self._watch(IDLE_SECONDS)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the client."""
        if self._silence is not None:
            self._silence.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take in a part of a request."""
        self._heard = self.loop.time()
        super().data_received(data)

    def resume_writing(self) -> None:
        """Go on with an answer, since the client has read some of it."""
        self._heard = self.loop.time()
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP, unless an answer to the request was begun already."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            if (last := self._last_request) is not None:
                last.disconnected = True  # whoever decides about it has nobody to tell any more
            super().send_400_response(msg)
        else:
            self.transport.close()

    def shutdown(self) -> None:
        """End once the answer that is under way is read; a request that is not whole has none."""
        last = self._last_request
        if last is not None and last.more_body and not last.response_started:
            self.transport.close()
        else:
            super().shutdown()
            self.loop.call_later(GRACE_SECONDS, self.transport.abort)

    def _watch(self, seconds: float) -> None:
        self._silence = self.loop.call_later(seconds, self._end_if_silent)

    def _end_if_silent(self) -> None:
        silent = self.loop.time() - self._heard
        if silent < IDLE_SECONDS or self._is_deciding():
            self._watch(max(IDLE_SECONDS - silent, 1))
        else:
            self.transport.abort()

    def _is_deciding(self) -> bool:
        """Whether the client waits for us."""
        last = self._last_request
        return last is not None and not last.more_body and not last.response_started

    @property
    def _last_request(self) -> RequestResponseCycle | None:
        """The request that is being served, or was served last."""
        return self.cycle


def _most_connections() -> int:
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if allowed == resource.RLIM_INFINITY:
        return _MOST_CONNECTIONS
    return min(_MOST_CONNECTIONS, allowed // _SHARE_OF_FILES)
