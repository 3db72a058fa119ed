"""What an error answer says, in one line: from JSON, from an HTML page, from plain text."""

from __future__ import annotations

import html
import json
import re
from typing import Final

_LONGEST: Final = 1000
_PAGE_LIMIT: Final = 1 << 18

# Pulsar 4.0.7: an exception that nobody expected, with its stack trace.
_UNEXPECTED: Final = re.compile(
    r"Message:\s*(?P<message>.*?)\s*\n\s*Stacktrace:\s*(?P<error>[\w.$]+)", re.DOTALL
)
# Jetty's error page, then any page's title (a proxy's).
_PAGE_MESSAGES: Final = (
    re.compile(r"<th>MESSAGE:</th>\s*<td>(.*?)</td>", re.DOTALL | re.IGNORECASE),
    re.compile(r"<h2>HTTP ERROR:? \d+ ?(.*?)</h2>", re.DOTALL | re.IGNORECASE),
    re.compile(r"<title>(.*?)</title>", re.DOTALL | re.IGNORECASE),
)
_PAGE_MEMBERS: Final = {"message", "url", "status"}
_CHARSET: Final = re.compile(r"charset=\"?([\w-]+)", re.IGNORECASE)


def one_line(text: str) -> str:
    """The text without control characters and runs of white space, cut to a bearable length."""
    shown = "".join(each if each.isprintable() else " " for each in text[: 4 * _LONGEST])
    line = " ".join(shown.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"


def answer_text(body: bytes, content_type: str, reason: str = "") -> str:
    """What the answer says, in one line; the status line's `reason` where the body says nothing."""
    text = _decode(body[:_PAGE_LIMIT], content_type)
    if "html" in content_type.lower() or text.lstrip()[:1] == "<":
        said = _page_message(text)
    else:
        said = _json_message(text)
    return one_line(said) or one_line(reason) or "nothing"


def exception_name(body: bytes) -> str:
    """The Java class of the exception that a stack trace in the answer starts with, or nothing."""
    found = _UNEXPECTED.search(_json_reason(_decode(body[:_PAGE_LIMIT], "")) or "")
    return found["error"] if found else ""


def _decode(body: bytes, content_type: str) -> str:
    charset = _CHARSET.search(content_type)
    try:
        return body.decode(charset[1] if charset else "utf-8", errors="replace")
    except LookupError:
        return body.decode("utf-8", errors="replace")


def _page_message(page: str) -> str:
    for pattern in _PAGE_MESSAGES:
        found = pattern.search(page)
        if found and found[1].strip():
            return html.unescape(re.sub(r"<[^>]*>", " ", found[1]))
    return ""


def _json_message(text: str) -> str:
    reason = _json_reason(text)
    if reason is None:
        return text
    found = _UNEXPECTED.search(reason)
    return found["message"] if found else reason


def _json_reason(text: str) -> str | None:
    """The member that tells the reason, None where there is none.

    `reason` is Pulsar's; `message` stands in the error page that Jetty makes for a client that
    accepts JSON (Pulsar 4.0.7), escaped as in HTML all the same, beside `url` and `status`; the
    others are OAuth2's.
    """
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(parsed, dict):
        return None
    said = (parsed.get(key) for key in ("reason", "message", "error_description", "error"))
    found = next((each for each in said if isinstance(each, str)), None)
    return html.unescape(found) if found and parsed.keys() >= _PAGE_MEMBERS else found
