"""What a workflow's environment says: which repository, where its API is, and with which token."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from gitops.model.errors import UsageError

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
    if not token.isascii() or not token.isprintable() or " " in token:
        raise UsageError(
            "the token holds characters that no token has",
            hint="look at GITHUB_TOKEN or GH_TOKEN: a line end, a blank?",
        )
    return Access(repository=_repository(environ), api=_api(environ), token=token)


def pull_request_of(environ: Mapping[str, str]) -> int:
    """The pull request that the run is for, by GITHUB_REF; raises UsageError where it is none."""
    found = _PULL_REQUEST.fullmatch(environ.get("GITHUB_REF", ""))
    if not found:
        raise UsageError(
            "this run is not for a pull request", hint="say which one to comment on: --pr NUMBER"
        )
    return int(found[1])


def _repository(environ: Mapping[str, str]) -> str:
    slug = environ.get("GITHUB_REPOSITORY", "")
    if not _SLUG.fullmatch(slug):
        said = f"GITHUB_REPOSITORY is '{slug}'" if slug else "GITHUB_REPOSITORY is not set"
        raise UsageError(said, hint="outside of a workflow: export GITHUB_REPOSITORY=owner/name")
    return slug


def _api(environ: Mapping[str, str]) -> str:
    url = (environ.get("GITHUB_API_URL") or _PUBLIC).rstrip("/")
    try:
        parts = urlsplit(url)
        good = bool(parts.hostname) and not parts.username and not parts.password
    except ValueError:
        good = False
    if not good:
        raise UsageError("GITHUB_API_URL is not the URL of an API", hint=f"such as {_PUBLIC}")
    if parts.scheme != "https" and (parts.scheme != "http" or parts.hostname not in _LOOPBACK):
        raise UsageError(
            f"GITHUB_API_URL starts with '{parts.scheme}:', so the token could be overheard",
            hint="it has to start with 'https:'",
        )
    return url
