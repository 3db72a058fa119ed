"""A token from an issuer, kept until shortly before it expires; OAuth2 client credentials."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final, Protocol, TypeVar, final
from urllib.parse import urlencode

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gitops.model.errors import OutsideError, UsageError
from gitops.registries.pulsar.address import origin_of
from gitops.registries.pulsar.connection_failures import failure_text
from gitops.registries.pulsar.error_responses import answer_text
from gitops.registries.pulsar.http_client import (
    USER_AGENT,
    BoundedRetry,
    HttpClient,
    NoAnswerError,
)
from gitops.registries.pulsar.secrets import read_secret, read_text_file, redact
from gitops.registries.pulsar.tls import issuer_context
from gitops.repository.suggestions import split_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from gitops.model.config import OAuth2Authentication
    from gitops.registries.pulsar.connections import Deadline
    from gitops.registries.pulsar.error_responses import Answer
    from gitops.registries.pulsar.settings import PulsarConfig

MARGIN_SECONDS: Final = 60.0
"""How long before its end a token is no longer used; at most half of its life."""

_DEFAULT_LIFE: Final = 300.0  # for an issuer that does not say `expires_in` (RFC 6749, 5.1)
_RETRY: Final = BoundedRetry(
    total=2,
    redirect=0,
    allowed_methods=None,
    status_forcelist={429, 502, 503, 504},
    backoff_factor=0.2,
    raise_on_status=False,
)
_OK: Final = 200
_SENT: Final = ("client_secret", "subject_token")
"""What of a form is a secret."""
_DISCOVERY: Final = "/.well-known/openid-configuration"
_HINT: Final = "see `authentication` in gitops.yaml; with --url authParams of PULSAR_CLIENT_CONF"


class Wire(BaseModel):
    """A JSON answer of an issuer; errors do not show what was in it."""

    model_config = ConfigDict(strict=True, frozen=True, hide_input_in_errors=True)


class KeyFile(Wire):
    """Pulsar's own JSON key file."""

    client_id: str = Field(min_length=1)
    client_secret: str = Field(min_length=1)
    issuer_url: str = ""


class Discovery(Wire):
    """What OpenID discovery says; only the token endpoint is of interest."""

    token_endpoint: str = Field(min_length=1)


class TokenAnswer(Wire):
    """What the token endpoint says; `expires_in` in seconds."""

    access_token: str = Field(min_length=1, pattern=r"^[\x21-\x7e]+$")
    expires_in: float | None = None


_W = TypeVar("_W", bound=Wire)


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuerRequest:
    """One request: a POST with a form, else a GET. What it carries is in no repr."""

    url: str
    form: Mapping[str, str] | None = field(default=None, repr=False)
    authorization: str = field(default="", repr=False)

    @property
    def method(self) -> str:
        """By whether there is a form."""
        return "GET" if self.form is None else "POST"

    @property
    def body(self) -> bytes | None:
        """The form as it is sent."""
        return None if self.form is None else urlencode(self.form).encode()

    @property
    def headers(self) -> dict[str, str]:
        """With the credentials, where there are any."""
        grouped = {"Accept": "application/json", "User-Agent": USER_AGENT}
        if self.authorization:
            grouped["Authorization"] = self.authorization
        if self.form is not None:
            grouped["Content-Type"] = "application/x-www-form-urlencoded"
        return grouped

    @property
    def secrets(self) -> tuple[str, ...]:
        """What an answer may repeat, and no output may show."""
        form = self.form or {}
        sent = (*(form.get(name, "") for name in _SENT), self.authorization.removeprefix("Bearer "))
        return tuple(filter(None, sent))


class Ask(Protocol):
    """What asks an issuer; raises OutsideError."""

    def __call__(self, request: IssuerRequest, expected: type[_W]) -> _W:
        """What it says, where that is what is expected."""
        ...


class TokenClient(Protocol):
    """Who gets a token from an issuer, and how; no secret is in its repr."""

    @property
    def issuer_url(self) -> str:
        """Who is asked, as it is named in errors."""
        ...

    @property
    def secrets(self) -> tuple[str, ...]:
        """What no output may show."""
        ...

    def token(self, ask: Ask) -> TokenAnswer:
        """A new token; raises OutsideError where there is none."""
        ...


def token_endpoint(issuer_url: str, ask: Ask) -> str:
    """Where an issuer gives tokens, by OpenID discovery; raises OutsideError."""
    endpoint = ask(IssuerRequest(url=f"{issuer_url}{_DISCOVERY}"), Discovery).token_endpoint
    split = split_url(endpoint)
    loses_tls = issuer_url.startswith("https:") and not endpoint.startswith("https:")
    if split is None or origin_of(split) is None or loses_tls:
        raise OutsideError("the issuer names an unsafe token endpoint", where=issuer_url)
    return endpoint


def checked_issuer(url: str, where: str) -> str:
    """The URL without a slash at its end; raises UsageError for one that is more, or none."""
    issuer = split_url(url)
    if issuer and ("@" in issuer.netloc or issuer.query):
        # It would be shown wherever the issuer is named.
        raise UsageError("the OAuth2 issuer's URL contains more than an address", where=where)
    if issuer is None or origin_of(issuer) is None:
        raise UsageError("the OAuth2 issuer is not an http or https URL", where=where)
    return url.rstrip("/")


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuth2Client:
    """A client that is known to an issuer; the secret is in no repr."""

    issuer_url: str
    client_id: str
    client_secret: str = field(repr=False)
    audience: str | None
    scope: str | None

    @property
    def secrets(self) -> tuple[str, ...]:
        """The client's secret."""
        return (self.client_secret,)

    def token(self, ask: Ask) -> TokenAnswer:
        """A token for the client (RFC 6749, 4.4.2)."""
        wanted = {
            "grant_type": "client_credentials",
            "client_id": self.client_id,
            "client_secret": self.client_secret,
            "audience": self.audience,
            "scope": self.scope,
        }
        form = {key: value for key, value in wanted.items() if value}
        url = token_endpoint(self.issuer_url, ask)
        return ask(IssuerRequest(url=url, form=form), TokenAnswer)


def read_client(config: OAuth2Authentication, root: Path, where: str) -> OAuth2Client:
    """Resolve client and secret, from Pulsar's key file if one is named; raises UsageError."""
    key = _read_key_file(config, root, where)
    issuer_url = config.issuer_url or (key.issuer_url if key else "")
    if key is None and config.client_id and config.client_secret is not None:
        secret = read_secret(config.client_secret, root, where)
        key = KeyFile(client_id=config.client_id, client_secret=secret)
    if key is None or not issuer_url:
        raise UsageError(
            "OAuth2 needs an issuer, a client and its secret",
            where=where,
            hint="give issuerUrl, clientId and clientSecret, or a credentialsFile with all three",
        )
    return OAuth2Client(
        issuer_url=checked_issuer(issuer_url, where),
        client_id=key.client_id,
        client_secret=key.client_secret,
        audience=config.audience,
        scope=config.scope,
    )


def _read_key_file(config: OAuth2Authentication, root: Path, where: str) -> KeyFile | None:
    if config.credentials_file is None:
        return None
    text = read_text_file(config.credentials_file, root, where)
    try:
        return KeyFile.model_validate_json(text)
    except ValidationError:
        # The error's own cause could repeat the file, secret included.
        raise UsageError(
            f"{config.credentials_file} is not a Pulsar key file",
            where=where,
            hint="it is JSON with the texts client_id, client_secret and issuer_url",
        ) from None


@final
class IssuedCredentials:
    """A bearer token that is fetched when first needed, and shared by all threads."""

    def __init__(
        self,
        client: TokenClient,
        config: PulsarConfig,
        root: Path,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._now = now
        self._lock = threading.Lock()
        self._authorization = ""
        self._stale_at = 0.0
        self._http = HttpClient(
            context=issuer_context(config.tls, root, client.issuer_url),
            connect=config.connect_timeout,
            read=config.read_timeout,
        )

    def __repr__(self) -> str:
        return f"IssuedCredentials({self._client!r})"

    def authorization(self, deadline: Deadline) -> str:
        """The header; raises OutsideError where the issuer gives no token."""
        with self._alone(deadline):
            if self._now() >= self._stale_at:
                self._fetch(deadline)
            return self._authorization

    def renew(self, refused: str, deadline: Deadline) -> bool:
        """Fetch another token, unless another thread already has."""
        with self._alone(deadline):
            if self._authorization == refused:
                self._fetch(deadline)
            return self._authorization != refused

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    @contextmanager
    def _alone(self, deadline: Deadline) -> Iterator[None]:
        """Keep other threads out; raises OutsideError where one is busy until the deadline."""
        if not self._lock.acquire(timeout=deadline.left):
            raise OutsideError(
                f"the OAuth2 issuer gave no token within {deadline.limit}",
                where=self._client.issuer_url,
                hint=_HINT,
            )
        try:
            yield
        finally:
            self._lock.release()

    def redact(self, text: str) -> str:
        """Blot out the client's secrets and the token."""
        token = self._authorization.removeprefix("Bearer ")
        return redact(text, tuple(filter(None, (*self._client.secrets, token))))

    def _fetch(self, deadline: Deadline) -> None:
        answer = self._client.token(partial(self._ask, deadline))
        life = _DEFAULT_LIFE if answer.expires_in is None else answer.expires_in
        self._stale_at = self._now() + max(life - MARGIN_SECONDS, life / 2)
        self._authorization = f"Bearer {answer.access_token}"

    def _ask(self, deadline: Deadline, request: IssuerRequest, expected: type[_W]) -> _W:
        """One request to the issuer; raises OutsideError, without anything that was sent."""
        url = request.url
        answer = self._answer(request, deadline)
        if answer.status != _OK:
            text = self.redact(answer_text(answer.body, answer.content_type))
            text = redact(text, request.secrets)
            raise OutsideError(
                f"the OAuth2 issuer answered {answer.status}: {text}", where=url, hint=_HINT
            )
        try:
            return expected.model_validate_json(answer.body)
        except ValidationError:
            # What it said may be half a token: neither the text nor the cause is passed on.
            names = ", ".join(expected.model_fields)
            raise OutsideError(
                f"the OAuth2 issuer's answer is not JSON with {names}", where=url
            ) from None

    def _answer(self, request: IssuerRequest, deadline: Deadline) -> Answer:
        url = request.url
        split = split_url(url)
        origin = origin_of(split) if split else None
        if split is None or origin is None:
            raise OutsideError("the issuer names no http(s) URL", where=url)
        target = f"{split.path or '/'}{'?' if split.query else ''}{split.query}"
        try:
            return self._http.request(
                request.method,
                origin,
                target,
                request.headers,
                request.body,
                retry=_RETRY,
                deadline=deadline,
            )
        except NoAnswerError as error:
            text = failure_text(error, self._http)
            raise OutsideError(
                f"no answer from the OAuth2 issuer: {text}", where=url, hint=_HINT
            ) from error.cause
