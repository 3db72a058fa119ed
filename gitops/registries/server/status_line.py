"""The reason phrase of an answer, which ASGI leaves to the server.

Up to 4.0 a broker puts the message of an error there, from 4.2 on the standard phrase of the status
(Pulsar 3.0.7, 4.0.7, 4.2.4 and 5.0.0-M1).
"""

from __future__ import annotations

from typing import Final, final

import h11
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_PHRASE: Final = b"x-reason-phrase"
"""Has the phrase in hexadecimal on the way to the connection, and never leaves it."""

_LONGEST: Final = 1024
_STANDARD: Final = {
    413: b"Payload Too Large",
    422: b"Unprocessable Entity",
    500: b"Server Error",
}
"""Jetty's phrases, where Python has others, which depend on its release."""


def with_phrase(answer: Response, message: str) -> Response:
    """An answer whose message is the reason phrase, on lines that do so."""
    phrase = _encoded(message).hex().encode()
    answer.raw_headers.append((_PHRASE, phrase))
    return answer


def _encoded(message: str) -> bytes:
    """As Jetty 9.4 writes it: Latin-1, a question mark for what would end the line."""
    text = message[:_LONGEST].encode("latin-1", "replace")
    return text.replace(b"\r", b"?").replace(b"\n", b"?")


@final
class StandardPhrases:
    """Answers of a line that has the message in the body only."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and its answer without a phrase."""

        async def send_plain(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [value for value in message["headers"] if value[0] != _PHRASE]
                message = {**message, "headers": headers}
            await send(message)

        await self._app(scope, receive, send_plain)


@final
class PhraseConnection(h11.Connection):
    """Writes the phrase of an answer into its status line."""

    def send_with_data_passthrough(self, event: h11.Event) -> list[bytes] | None:
        """An event as bytes, to which `send` comes down; raises LocalProtocolError as it does."""
        if isinstance(event, h11.Response):
            event = _with_its_phrase(event)
        return super().send_with_data_passthrough(event)


def _with_its_phrase(answer: h11.Response) -> h11.Response:
    headers = answer.headers.raw_items()
    phrases = [bytes.fromhex(value.decode()) for name, value in headers if name == _PHRASE]
    standard = _STANDARD.get(answer.status_code, answer.reason)
    return h11.Response(
        status_code=answer.status_code,
        headers=[header for header in headers if header[0] != _PHRASE],
        reason=phrases[0] if phrases else standard,
    )
