"""Answers in the forms of a Pulsar 4.0.7 broker: JSON, a JSON reason, an HTML error page."""

from __future__ import annotations

import html
import json
from http import HTTPStatus
from typing import Final

from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response

from gitops.registries.server.status_line import with_phrase

_HTML: Final = ("text/html", "*/*")

_PAGE: Final = """<html>
<head>
<meta http-equiv="Content-Type" content="text/html;charset=utf-8"/>
<title>Error {status} {message}</title>
</head>
<body><h2>HTTP ERROR {status} {message}</h2>
<table>
<tr><th>URI:</th><td>{uri}</td></tr>
<tr><th>STATUS:</th><td>{status}</td></tr>
<tr><th>MESSAGE:</th><td>{message}</td></tr>
</table>
</body>
</html>
"""


class _CompactJson(JSONResponse):
    """JSON without blanks; UTF-8 as it is."""

    def render(self, content: object) -> bytes:
        return _utf8(json.dumps(content, ensure_ascii=False, separators=(",", ":")))


def value(content: object, status: int = HTTPStatus.OK) -> Response:
    """A JSON value."""
    return _CompactJson(content, status)


def no_content() -> Response:
    """204: done."""
    return Response(status_code=HTTPStatus.NO_CONTENT)


def empty() -> Response:
    """200 without a body: how a broker says that there is no value."""
    return Response(status_code=HTTPStatus.OK)


def reason(text: str, status: int) -> Response:
    """A refusal as a JSON object with the member `reason`."""
    return with_phrase(_CompactJson({"reason": text}, status), text)


def failure(message: str | None) -> Response:
    """500 in a broker's words; a broker has a Java stack trace where this has none.

    None is for a Java exception without a message, which has the standard phrase on every line.
    """
    text = (
        "\n --- An unexpected error occurred in the server ---\n\n"
        f"Message: {'null' if message is None else message}\n\nStacktrace:\n\n(none)\n"
    )
    answer = _CompactJson({"reason": text}, HTTPStatus.INTERNAL_SERVER_ERROR)
    return answer if message is None else with_phrase(answer, message)


def bad_request(message: str) -> Response:
    """400 for a body that is not what stands there, as plain text."""
    return PlainTextResponse(_utf8(message), HTTPStatus.BAD_REQUEST)


def page(message: str, status: int, uri: str, accept: str) -> Response:
    """The server's own error page with the message in it, escaped.

    HTML, or a JSON object where the client's Accept names application/json first: Jetty, which a
    broker is built on, does so, and HTML-escapes the message in both.
    """
    shown = html.escape(message)
    if _prefers_json(accept):
        content = {"message": shown, "url": html.escape(uri), "status": str(int(status))}
        return with_phrase(_CompactJson(content, status), message)
    text = _PAGE.format(status=int(status), message=shown, uri=html.escape(uri))
    return with_phrase(HTMLResponse(_utf8(text), status), message)


def _utf8(text: str) -> bytes:
    """A message can repeat half of a surrogate pair, which Java writes as `?`."""
    return text.encode("utf-8", "replace")


def _prefers_json(accept: str) -> bool:
    """Whether application/json comes before what HTML answers, by quality and then by order."""
    ranges = sorted(
        (_quality(media_range) for media_range in accept.split(",")), key=lambda pair: -pair[0]
    )
    answered = (name for _quality, name in ranges if name in ("application/json", *_HTML))
    return next(answered, "") == "application/json"


def _quality(media_range: str) -> tuple[float, str]:
    """The quality and the type of one range of an Accept header; 0 for one that makes no sense."""
    name, _, parameters = media_range.partition(";")
    _, _, quality = parameters.replace(" ", "").partition("q=")
    try:
        return float(quality or 1), name.strip().lower()
    except ValueError:
        return 0.0, name.strip().lower()
