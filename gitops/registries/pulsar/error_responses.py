"""Error responses of admin REST as errors with what to do next."""

from __future__ import annotations

import html
import json
import re
from http import HTTPStatus
from typing import Final, NamedTuple

from gitops.model.errors import OutsideError, RegistryRefusedError, UnknownOutcomeError

# What an error answer says, in one line: from JSON, from an HTML page, from plain text.

_LONGEST: Final = 1000
_REASON_LIMIT: Final = 1 << 18

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
    shown = "".join(word if word.isprintable() else " " for word in text[: 4 * _LONGEST])
    line = " ".join(shown.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"


def answer_text(body: bytes, content_type: str, reason: str = "") -> str:
    """What the answer says, in one line; the status line's `reason` where the body says nothing."""
    text = _decode(body[:_REASON_LIMIT], content_type)
    if "html" in content_type.lower() or text.lstrip()[:1] == "<":
        message = _page_message(text)
    else:
        message = _json_message(text)
    return one_line(message) or one_line(reason) or "nothing"


def exception_name(body: bytes) -> str:
    """The Java class of the exception that a stack trace in the answer starts with, or nothing."""
    match = _UNEXPECTED.search(_json_reason(_decode(body[:_REASON_LIMIT], "")) or "")
    return match["error"] if match else ""


def _decode(body: bytes, content_type: str) -> str:
    charset = _CHARSET.search(content_type)
    try:
        return body.decode(charset[1] if charset else "utf-8", errors="replace")
    except LookupError:
        return body.decode("utf-8", errors="replace")


def _page_message(page: str) -> str:
    for pattern in _PAGE_MESSAGES:
        match = pattern.search(page)
        if match and match[1].strip():
            return html.unescape(re.sub(r"<[^>]*>", " ", match[1]))
    return ""


def _json_message(text: str) -> str:
    reason = _json_reason(text)
    if reason is None:
        return text
    match = _UNEXPECTED.search(reason)
    return match["message"] if match else reason


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
    parts = (parsed.get(key) for key in ("reason", "message", "error_description", "error"))
    value = next((part for part in parts if isinstance(part, str)), None)
    return html.unescape(value) if value and parsed.keys() >= _PAGE_MEMBERS else value


# Answers and broken connections turned into errors that say what to do next.


# Pulsar 4.0.7 answers 401 to somebody whom it knows and who may not do this, as often as 403.
_NO_PERMISSION: Final = re.compile(r"unauthorized to|permission|super-?user access", re.IGNORECASE)

_NO_PATH: Final = "is the registry's `url` that of Pulsar's web service, up to /admin/v2?"
_PAGE_LIMIT: Final = 4096
_REFUSALS: Final = frozenset({400, 404, 405, 406, 409, 412, 413, 415, 422})

# Pulsar 4.0.7 answers 500 where an exception that its REST layer does not know was raised while
# it judged the request; those of these packages are about the schema, the others about the broker.
_ABOUT_THE_SCHEMA: Final = (
    "org.apache.avro.",
    "org.apache.pulsar.broker.service.schema.exceptions.",
    "org.apache.pulsar.client.api.",
    "com.fasterxml.jackson.",
    "com.google.",
    "java.lang.",
)


class Answer(NamedTuple):
    """An HTTP answer whose body was read to its end.

    `method` and `url` are what was asked; `location` is where a redirect leads.
    """

    method: str
    url: str
    status: int
    reason: str
    content_type: str
    body: bytes
    location: str = ""

    @property
    def where(self) -> str:
        """The request, for people."""
        return place(self.method, self.url)

    @property
    def message(self) -> str:
        """What it says, in one line."""
        return answer_text(self.body, self.content_type, self.reason)

    @property
    def lacks_permission(self) -> bool:
        """Whether the credentials are good and do not allow this."""
        return self.status == HTTPStatus.FORBIDDEN or (
            self.status == HTTPStatus.UNAUTHORIZED
            and _NO_PERMISSION.search(self.message) is not None
        )


class FailedReadError(OutsideError):
    """A read was answered with 500: the broker failed on what was asked for."""


def place(method: str, url: str) -> str:
    """A request, for people: without the query, which may hold a token where we were sent on."""
    return f"{method} {url.partition('?')[0]}"


def refusal(answer: Answer, message: str, *, permission: str, hint: str = "") -> OutsideError:
    """The error for an answer that is no success.

    `permission` is what the request needs, said on 401 and 403; `hint` is for other refusals.
    """
    status = answer.status
    if answer.lacks_permission:
        return RegistryRefusedError(
            f"these credentials may not do this ({status}): {message}",
            status=status,
            where=answer.where,
            hint=f"it needs {permission}",
        )
    if status == HTTPStatus.UNAUTHORIZED:
        return RegistryRefusedError(
            f"the registry does not accept the credentials (401): {message}",
            status=status,
            where=answer.where,
            hint="is the secret still valid? It is that of `authentication` in gitops.yaml; with "
            "--url that of PULSAR_TOKEN, or of the file that PULSAR_CLIENT_CONF names",
        )
    if status in _REFUSALS or _is_about_the_schema(answer):
        text = hint or (_NO_PATH if _is_unserved(answer) else "")
        return RegistryRefusedError(message, status=status, where=answer.where, hint=text)
    what = f"the registry answered {status}: {message}"
    if answer.method != "GET" and status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        # The broker, or a gateway before it, may have failed after the work.
        return UnknownOutcomeError(what, where=answer.where)
    hint = "see the broker's log, or try again later"
    failed = FailedReadError if status == HTTPStatus.INTERNAL_SERVER_ERROR else OutsideError
    return failed(what, where=answer.where, hint=hint)


def _is_unserved(answer: Answer) -> bool:
    """Whether the server does not know the path; of a missing topic Pulsar gives a JSON reason."""
    is_page = "html" in answer.content_type.lower() or b'"servlet"' in answer.body[:_PAGE_LIMIT]
    return answer.status == HTTPStatus.NOT_FOUND and is_page


def _is_about_the_schema(answer: Answer) -> bool:
    """Whether a 500 is the broker's way to refuse a schema."""
    return (
        answer.status == HTTPStatus.INTERNAL_SERVER_ERROR
        and answer.method == "POST"
        and exception_name(answer.body).startswith(_ABOUT_THE_SCHEMA)
    )


def unexpected_body(answer: Answer, expected: str) -> OutsideError:
    """The error for a success whose body is not what the request is answered with."""
    return OutsideError(
        f"the registry's answer is not {expected}",
        where=answer.where,
        hint="is this really Pulsar's admin endpoint, and not a proxy's or another service's page?",
    )
