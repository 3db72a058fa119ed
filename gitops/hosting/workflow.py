"""The run of a GitHub workflow: its environment, and the artifact that another run left."""

from __future__ import annotations

import os
import re
import socket
import ssl
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import urllib3

from gitops.model.errors import OutsideError, UsageError

# What a workflow's environment says: which repository, where its API is, and with which token.

_PUBLIC = "https://api.github.com"
_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_TOKENS = ("GITHUB_TOKEN", "GH_TOKEN")
_SLUG = re.compile(r"\w[\w-]*/(?!\.+$)[\w.-]+", re.ASCII)
_PULL_REQUEST = re.compile(r"refs/pull/([1-9][0-9]{0,9})/merge")


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """A repository as `owner/name`, the base URL of the API, and the token, which is not shown."""

    repository: str
    api: str
    token: str = field(repr=False)


def access(environ: Mapping[str, str]) -> Access:
    """Read GITHUB_REPOSITORY, GITHUB_API_URL, and GITHUB_TOKEN or GH_TOKEN; raises UsageError."""
    token = next((environ[name] for name in _TOKENS if environ.get(name)), "")
    if not token:
        raise UsageError(
            "neither GITHUB_TOKEN nor GH_TOKEN is set",
            hint="in a workflow, give the step `env: GITHUB_TOKEN: ${{ github.token }}`",
        )
    return Access(
        repository=_repository(environ),
        api=api_url(environ, "GITHUB_API_URL", _PUBLIC),
        token=checked_token(token, "GITHUB_TOKEN or GH_TOKEN"),
    )


def checked_token(token: str, names: str) -> str:
    """The token, if a header can hold it; raises UsageError. `names` are of its variables."""
    if not token.isascii() or not token.isprintable() or " " in token:
        raise UsageError(
            "the token contains characters that no token has",
            hint=f"look at {names}: a line end, a blank?",
        )
    return token


def pull_request_of(environ: Mapping[str, str]) -> int:
    """The pull request that the run is for, by GITHUB_REF; raises UsageError where it is none."""
    match = _PULL_REQUEST.fullmatch(environ.get("GITHUB_REF", ""))
    if not match:
        raise UsageError(
            "this run is not for a pull request", hint="name the pull request: --pr NUMBER"
        )
    return int(match[1])


def _repository(environ: Mapping[str, str]) -> str:
    slug = environ.get("GITHUB_REPOSITORY", "")
    if not _SLUG.fullmatch(slug):
        text = f"GITHUB_REPOSITORY is '{slug}'" if slug else "GITHUB_REPOSITORY is not set"
        raise UsageError(text, hint="outside of a workflow: export GITHUB_REPOSITORY=owner/name")
    return slug


def api_url(environ: Mapping[str, str], name: str, public: str) -> str:
    """The base URL of the API that a variable names, or else the public one; raises UsageError."""
    url = (environ.get(name) or public).rstrip("/")
    try:
        parts = urlsplit(url)
        good = bool(parts.hostname) and not parts.username and not parts.password
    except ValueError:
        good = False
    if not good:
        raise UsageError(f"{name} is not the URL of an API", hint=f"such as {public}")
    if parts.scheme != "https" and (parts.scheme != "http" or parts.hostname not in _LOOPBACK):
        raise UsageError(
            f"{name} starts with '{parts.scheme}:', so the token could be overheard",
            hint="it has to start with 'https:'",
        )
    return url


# A report that another run left as an artifact. Whoever sent the pull request may have made it.


REPORT = "report.md"
SUGGESTIONS = "report.json"
PULL_REQUEST = "pull-request.txt"
MOST_CHARACTERS = 65_536
"""What GitHub takes as the text of a comment or an issue."""
MOST_BYTES = 4 * MOST_CHARACTERS
"""No comment is longer: a character has four bytes at most."""
MOST_JSON = 16_000_000
"""Bytes of a report in JSON."""

_NUMBER = re.compile(r"[1-9][0-9]{0,9}\n?")
_NUMBER_BYTES = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """What it claims: a report, the pull request that it is for, and perhaps it as JSON."""

    pull_request: int
    report: str
    suggestions: str | None = None


def read_artifact(folder: Path) -> Artifact:
    """Read the three files of a folder; raises UsageError for anything odd.

    Refused are symbolic links and whatever else is no plain file, files that are too large, text
    that is not UTF-8, and a number that is none.
    """
    number = read_plain(folder / PULL_REQUEST, most=_NUMBER_BYTES)
    if not _NUMBER.fullmatch(number):
        raise UsageError(
            f"{folder / PULL_REQUEST} does not contain the number of a pull request",
            hint="nothing of this artifact is used",
        )
    report = read_plain(folder / REPORT, most=MOST_BYTES)
    return Artifact(
        pull_request=int(number), report=report, suggestions=_edits(folder / SUGGESTIONS)
    )


def _edits(path: Path) -> str | None:
    """Those of a very large report are left out: the comment matters more."""
    if not path.is_symlink() and (not path.exists() or path.stat().st_size > MOST_JSON):
        return None
    return read_plain(path, most=MOST_JSON)


def read_plain(path: Path, *, most: int = MOST_BYTES) -> str:
    """The text of a plain file of at most `most` bytes; raises UsageError."""
    try:
        # Neither does a link lead elsewhere, nor does a pipe keep us waiting.
        number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(number, "rb") as file:
            if not stat.S_ISREG(os.fstat(number).st_mode):
                raise UsageError(f"{path} is not a plain file")
            content = file.read(most + 1)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {_refusal_text(path, error)}") from error
    if len(content) > most:
        hint = "it is too long for a comment" if most == MOST_BYTES else ""
        raise UsageError(f"{path} is larger than {most:,} bytes", hint=hint)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not text in UTF-8") from None


def _refusal_text(path: Path, error: OSError) -> str:
    return "it is a symbolic link" if path.is_symlink() else str(error.strerror)


# Why no answer came.


_FAILURES: Final = (
    (ConnectionRefusedError, "nothing listens there (connection refused)"),
    (socket.gaierror, "the name of the host cannot be resolved"),
    (ssl.SSLCertVerificationError, "the certificate is not trusted"),
    (ssl.SSLError, "TLS failed"),
    ((TimeoutError, urllib3.exceptions.TimeoutError), "it took too long"),
    (ConnectionError, "the server broke the connection"),
)
"""The first kind that any of the causes is of counts."""


def without_token(error: OutsideError, token: str) -> OutsideError:
    """The error without the token, should the host repeat it."""
    error.what = error.what.replace(token, "…")
    error.hint = error.hint.replace(token, "…")
    return error


def no_answer_text(error: BaseException) -> str:
    """Why there is no answer, in no words of a library: they can quote what was sent."""
    causes = list(_causes(error))
    for kinds, text in _FAILURES:
        if any(isinstance(cause, kinds) for cause in causes):
            return text
    return "the connection failed"


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error, and what it wraps, perhaps several times."""
    waiting: list[object] = [error]
    met: set[int] = set()
    while waiting:
        base_exception = waiting.pop()
        if isinstance(base_exception, BaseException) and id(base_exception) not in met:
            met.add(id(base_exception))
            yield base_exception
            waiting += [
                getattr(base_exception, "reason", None),
                base_exception.__cause__,
                *base_exception.args,
            ]
