"""Why a server gave no answer, in words, and what to do next."""

from __future__ import annotations

import http.client
import re
import socket
import ssl
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from urllib3.exceptions import ConnectTimeoutError, NewConnectionError

from gitops.registries.pulsar.error_responses import one_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from gitops.registries.pulsar.address import Origin
    from gitops.registries.pulsar.http_client import HttpClient, NoAnswerError

_REACH: Final = "is the registry's `url` right, and can this machine reach it?"
_WEB_PORT: Final = (
    "is the port in the registry's `url` that of the web service (8080, or 8443 with TLS), and not "
    "that of the binary protocol (6650, 6651)?"
)
_LATE: Final = (
    "is the broker up? `timeouts: {{{}: SECONDS}}` of the registry in gitops.yaml sets the limit"
)
_ELSEWHERE: Final = (
    "the registry's `url` leads there by a redirect: this machine must reach every broker by the "
    "address that it advertises, or all of them through a Pulsar proxy"
)
_TLS: Final = (
    "see `tls` and `authentication` of the registry in gitops.yaml, or with --url client.conf"
)
_CLIENT_CERTIFICATE: Final = (
    "if it wants a client certificate, write into the registry in gitops.yaml: "
    "`authentication: {tls: {certificateFile: client.pem, keyFile: client.key}}`; with --url, into "
    "client.conf: `tlsCertificateFilePath` and `tlsKeyFilePath`"
)
_AUTHORITY: Final = (
    "if you trust who signed it, write into the registry in gitops.yaml: "
    "`tls: {caFile: authority.pem}`; with --url, into client.conf: "
    "`tlsTrustCertsFilePath=authority.pem`"
)
_OTHER_NAME: Final = (
    "write a name that the certificate is for into the registry's `url`, "
    "or accept any name: `tls: {verifyHostname: false}`"
)

BINARY_PORTS: Final = {6650: "http://{}:8080", 6651: "https://{}:8443"}
"""Pulsar's default ports of the binary protocol, and where such a broker serves admin REST."""

# OpenSSL's words for bytes that are no TLS, and its numbers of a certificate for another name.
_NO_TLS: Final = frozenset(
    {"WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG"}
)
_ENDED: Final = (ssl.SSLEOFError, ssl.SSLZeroReturnError)
"""A connection that the server ended, without and with TLS's own goodbye."""

_NAME_MISMATCHES: Final = frozenset({62, 64})
_EXPIRED: Final = 10
_LIBRARY_WORDS: Final = re.compile(r"\s*\(_ssl\.c:\d+\)|\[SSL(?:: \w+)?\]\s*|\[Errno -?\d+\]\s*")
_TLS_ALERT: Final = "\x15\x03"
"""How a TLS server begins its complaint about a request in plain text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoAnswer:
    """What happened, and what to do next.

    `understood` is false where the server speaks another protocol: it did nothing then.
    """

    what: str
    hint: str = _REACH
    understood: bool = True


def explain(
    error: NoAnswerError, origin: Origin, client: HttpClient, *, redirected: bool
) -> NoAnswer:
    """Why a server gave no answer; `redirected` is whether another server named this one.

    Where a plain connection was cut off, the server is asked whether it speaks TLS.
    """
    if error.late:
        key = error.attempt.deadline.key
        return NoAnswer(what=_lateness(error), hint=_LATE.format(key))
    no_answer = _explain(error, origin, client)
    return replace(no_answer, hint=_ELSEWHERE) if redirected else no_answer


def failure_text(error: NoAnswerError, client: HttpClient) -> str:
    """What happened, in one line."""
    cause = error.cause
    if error.late:
        return _lateness(error)
    if isinstance(cause, ConnectTimeoutError) and not isinstance(cause, NewConnectionError):
        return f"no connection within {client.connect:g} s"
    root = _root(cause)
    if isinstance(root, TimeoutError) and error.attempt.sent:
        return f"the server was silent for {client.read:g} s"
    return _root_words(root)


def _explain(error: NoAnswerError, origin: Origin, client: HttpClient) -> NoAnswer:
    root = _root(error.cause)
    if origin.port in BINARY_PORTS and _is_cut_off(root):
        meant = BINARY_PORTS[origin.port].format(origin.authority)
        return NoAnswer(
            what=f"{origin.port} is the port of Pulsar's binary protocol",
            hint=f"write the URL of the web service into the registry's `url`: {meant}",
            understood=False,
        )
    if isinstance(root, ssl.SSLError):
        return _tls_failure(root, origin)
    if not origin.is_secure and _is_cut_off(root) and _is_tls(root, origin, client):
        return NoAnswer(
            what=f"port {origin.port} of {origin.host} accepts TLS only",
            hint=f"write https into the registry's `url`: https://{origin.authority}:{origin.port}",
            understood=False,
        )
    hint = _WEB_PORT if _is_cut_off(root) else _REACH
    return NoAnswer(what=failure_text(error, client), hint=hint)


def _lateness(error: NoAnswerError) -> str:
    """What was missing when the time was used up."""
    attempt, limit = error.attempt, error.attempt.deadline.limit
    if attempt.deadline.key == "run":
        return f"this command may make requests for {limit}, and no longer"
    if attempt.received:
        return f"after {limit} only {attempt.received:,} bytes of it have come"
    if attempt.sent:
        return f"the server is silent after {limit}"
    root = _root(error.cause)
    if isinstance(root, TimeoutError):
        return f"no connection within {limit}"
    return f"no connection within {limit}: {_root_words(root)}"


def _root_words(root: BaseException) -> str:
    for kind, wording in _WORDS.items():
        if isinstance(root, kind):
            return one_line(wording(root))
    return one_line(_answer_text(root))


def _tls_failure(root: ssl.SSLError, origin: Origin) -> NoAnswer:
    if isinstance(root, ssl.SSLCertVerificationError):
        what = f"the server's certificate is not valid: {_answer_text(root)}"
        if root.verify_code in _NAME_MISMATCHES:
            return NoAnswer(what=what, hint=_OTHER_NAME)
        renew = "the certificate of the server must be renewed"
        return NoAnswer(what=what, hint=renew if root.verify_code == _EXPIRED else _AUTHORITY)
    if root.reason in _NO_TLS:
        return NoAnswer(
            what=f"port {origin.port} of {origin.host} does not use TLS",
            hint=f"write http into the registry's `url`: http://{origin.authority}:{origin.port}",
            understood=False,
        )
    if isinstance(root, _ENDED):
        hint = f"{_WEB_PORT} {_CLIENT_CERTIFICATE}"
        return NoAnswer(what="the server ended the TLS connection", hint=hint)
    if "CERTIFICATE" in (root.reason or ""):
        what = f"the server refused TLS: {_answer_text(root)}"
        return NoAnswer(what=what, hint=_CLIENT_CERTIFICATE, understood=False)
    return NoAnswer(what=f"TLS failed: {_answer_text(root)}", hint=_TLS)


def _root(cause: BaseException) -> BaseException:
    """What urllib3 wrapped, perhaps several times."""
    if isinstance(cause, (OSError, http.client.HTTPException)):
        return cause
    inner = cause.__cause__ or next(
        (arg for arg in cause.args if isinstance(arg, BaseException)), None
    )
    return cause if inner is None else _root(inner)


def _is_cut_off(root: BaseException) -> bool:
    """Whether the server ended the connection, or sent no HTTP, in place of an answer."""
    if isinstance(root, ssl.SSLError):
        return isinstance(root, _ENDED) or root.reason in _NO_TLS
    return isinstance(root, (ConnectionError, http.client.BadStatusLine)) and not isinstance(
        root, ConnectionRefusedError
    )


def _is_tls(root: BaseException, origin: Origin, client: HttpClient) -> bool:
    """Whether the port speaks TLS: it said so, or it does when it is asked."""
    if isinstance(root, http.client.BadStatusLine) and str(root).startswith(_TLS_ALERT):
        return True
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE  # nothing is sent, and nothing is believed
    try:
        with (
            socket.create_connection((origin.host, origin.port), timeout=client.connect) as plain,
            context.wrap_socket(plain, server_hostname=origin.host),
        ):
            return True
    except ssl.SSLError as refusal:
        return "ALERT" in (refusal.reason or "")
    except (OSError, ValueError):
        return False


def _answer_text(root: BaseException) -> str:
    """A library's own words without its names and numbers."""
    if isinstance(root, ssl.SSLCertVerificationError):
        return root.verify_message
    text = root.strerror if isinstance(root, OSError) and root.strerror else str(root)
    return _LIBRARY_WORDS.sub("", text) or type(root).__name__


def _not_resolved(root: BaseException) -> str:
    return f"the name of the host cannot be resolved: {_answer_text(root)}"


_WORDS: Final[dict[type[BaseException], Callable[[BaseException], str]]] = {
    socket.gaierror: _not_resolved,
    UnicodeError: _not_resolved,
    http.client.RemoteDisconnected: (
        lambda _root: "the server closed the connection without an answer"
    ),
    http.client.BadStatusLine: lambda root: f"the answer is not HTTP: {str(root)[:80]}",
    http.client.IncompleteRead: lambda _root: "the answer is incomplete",
    http.client.LineTooLong: lambda _root: "a line of the answer's head has no end",
    ConnectionRefusedError: lambda _root: "nothing listens there (connection refused)",
    ConnectionError: lambda _root: "the server broke the connection",
}
"""The first kind that fits counts: a RemoteDisconnected is a BadStatusLine, too."""
