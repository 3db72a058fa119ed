"""A token that GitHub signs for a run of a workflow (OpenID Connect), as it is or exchanged.

A runner of a job with the permission `id-token: write` names an address that signs a token, and
has a token for that address alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from pydantic import Field

from gitops.model.errors import UsageError
from gitops.registries.pulsar.oauth2 import (
    Ask,
    IssuerRequest,
    TokenAnswer,
    Wire,
    checked_issuer,
    token_endpoint,
)
from gitops.registries.pulsar.secrets import read_variable, usable_secret
from gitops.repository.suggestions import split_url

if TYPE_CHECKING:
    from gitops.model.config import OidcAuthentication

_URL: Final = "ACTIONS_ID_TOKEN_REQUEST_URL"
_TOKEN: Final = "ACTIONS_ID_TOKEN_REQUEST_TOKEN"  # noqa: S105 - the name of a variable
_JWT: Final = "urn:ietf:params:oauth:token-type:jwt"
_EXCHANGE: Final = "urn:ietf:params:oauth:grant-type:token-exchange"
_HINT: Final = "give the job `permissions: id-token: write`; elsewhere than in GitHub use a token"


class RunToken(Wire):
    """What the runner's address answers."""

    value: str = Field(min_length=1, pattern=r"^[\x21-\x7e]+$")


@dataclass(frozen=True, slots=True, kw_only=True)
class OidcClient:
    """A run of a workflow; `exchange` is the issuer that exchanges GitHub's token for its own."""

    request_url: str
    request_token: str = field(repr=False)
    audience: str
    exchange: str
    client_id: str | None
    scope: str | None

    @property
    def issuer_url(self) -> str:
        """The last one that is asked."""
        return self.exchange or self.request_url

    @property
    def secrets(self) -> tuple[str, ...]:
        """What the runner's address is asked with."""
        return (self.request_token,)

    def token(self, ask: Ask) -> TokenAnswer:
        """GitHub's own, or the issuer's for it (RFC 8693, 2.1)."""
        sign = "&" if "?" in self.request_url else "?"
        url = f"{self.request_url}{sign}audience={quote(self.audience, safe='')}"
        request = IssuerRequest(url=url, authorization=f"Bearer {self.request_token}")
        signed = ask(request, RunToken).value
        if not self.exchange:
            return TokenAnswer(access_token=signed)
        wanted = {
            "grant_type": _EXCHANGE,
            "subject_token": signed,
            "subject_token_type": _JWT,
            "audience": self.audience,
            "client_id": self.client_id,
            "scope": self.scope,
        }
        form = {key: value for key, value in wanted.items() if value}
        return ask(IssuerRequest(url=token_endpoint(self.exchange, ask), form=form), TokenAnswer)


def read_run(config: OidcAuthentication, where: str) -> OidcClient:
    """What the runner has; raises UsageError outside of a job that may have a token."""
    try:
        url, token = (read_variable(name, where) for name in (_URL, _TOKEN))
    except UsageError as error:
        raise UsageError(error.what, where=where, hint=_HINT) from None
    split = split_url(url)
    if split is None or split.scheme not in ("http", "https") or not split.hostname:
        raise UsageError(f"{_URL} is not an http or https URL", where=where)
    return OidcClient(
        request_url=url,
        request_token=usable_secret(token, f"the environment variable {_TOKEN}", where),
        audience=config.audience,
        exchange=checked_issuer(config.issuer_url, where) if config.issuer_url else "",
        client_id=config.client_id,
        scope=config.scope,
    )
