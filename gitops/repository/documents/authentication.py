"""How a registry is reached: credentials by reference, TLS; and where a text may have a secret."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Annotated, Final, get_args

from pydantic import AfterValidator, BaseModel, Field, WithJsonSchema, model_validator

from gitops.model.config import (
    BasicAuthentication,
    OAuth2Authentication,
    OidcAuthentication,
    PulsarAuthentication,
    SecretRef,
    TlsAuthentication,
    TlsConfig,
    TokenAuthentication,
)
from gitops.repository.documents.base import Document, NonEmpty, problem
from gitops.repository.positions import Path, child
from gitops.repository.suggestions import admin_url_hint, closest, split_url
from gitops.repository.yaml.parser import ParsedYaml

# How a registry of `gitops.yaml` is reached: credentials by reference, TLS.

REFERENCE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def _reference(text: str) -> str:
    if not REFERENCE.fullmatch(text):
        raise problem(
            "REPO-R014",
            "{name} is here in clear text",
            "put it into an environment variable, write ${NAME} here, and revoke this one",
        )
    return text


IS_SECRET: Final = AfterValidator(_reference)
"""What marks the type of a key as a secret's."""

Secret = Annotated[
    str,
    IS_SECRET,
    WithJsonSchema({"type": "string", "pattern": r"^\$\{[A-Za-z_][A-Za-z0-9_]*\}$"}),
]
"""`${ENV_VAR}`, never the secret itself."""


def _url(text: str) -> str:
    if REFERENCE.fullmatch(text):
        return text
    split = split_url(text)
    if split is not None and "@" in split.netloc:
        raise problem("REPO-R014", "{name} contains credentials", "use authentication: for them")
    if split is not None and (split.query or split.fragment):
        raise problem("REPO-R014", "{name} contains more than an address", "leave the query out")
    if split is None or split.scheme not in ("http", "https") or not split.hostname:
        raise problem("REPO-R012", "{name} is not an http or https address", admin_url_hint(text))
    return text


Url = Annotated[str, AfterValidator(_url)]
"""An http or https address without credentials, or `${ENV_VAR}` as a whole."""


def _service_url(text: str) -> str:
    if REFERENCE.fullmatch(text):
        return text
    if "@" in text:
        raise problem("REPO-R014", "{name} contains credentials", "use authentication: for them")
    scheme, _, hosts = text.partition("://")
    split_results = [split_url(f"{scheme}://{host}") for host in hosts.split(",")]
    are_hosts = all(
        split_result
        and split_result.hostname
        and not f"{split_result.path}{split_result.query}{split_result.fragment}".strip("/")
        for split_result in split_results
    )
    if scheme not in ("pulsar", "pulsar+ssl") or not are_hosts:
        hint = "write pulsar://broker.example:6650, or pulsar+ssl://broker.example:6651"
        raise problem("REPO-R012", "{name} is not a pulsar or pulsar+ssl address", hint)
    return text


ServiceUrl = Annotated[str, AfterValidator(_service_url)]
"""A pulsar or pulsar+ssl address without credentials, or `${ENV_VAR}` as a whole."""


def _file(text: str) -> str:
    if text.lstrip().lower().startswith("data:"):
        raise problem(
            "REPO-R014",
            "{name} contains the secret itself",
            "put it into a file outside the repository, name the file here, and revoke this one",
        )
    return text


SecretFile = Annotated[NonEmpty, AfterValidator(_file)]
"""The path of a file, never a `data:` URL that holds the content."""


def environment(text: str) -> SecretRef:
    """The secret that `${NAME}` means."""
    return SecretRef(kind="env", name=text[2:-1])


class BasicDocument(Document):
    """HTTP basic authentication."""

    username: NonEmpty
    password: Secret | None = None
    password_file: SecretFile | None = None

    @model_validator(mode="after")
    def _one_password(self) -> BasicDocument:
        if (self.password is None) == (self.password_file is None):
            raise problem("REPO-R015", "{name} needs exactly one of password, passwordFile")
        return self

    def model(self) -> BasicAuthentication:
        """The same as a value of the model."""
        password = (
            environment(self.password)
            if self.password is not None
            else SecretRef(kind="file", name=self.password_file or "")
        )
        return BasicAuthentication(username=self.username, password=password)


class OAuth2Document(Document):
    """OAuth2 client credentials."""

    issuer_url: Url | None = None
    client_id: NonEmpty | None = None
    client_secret: Secret | None = None
    credentials_file: SecretFile | None = None
    audience: NonEmpty | None = None
    scope: NonEmpty | None = None

    @model_validator(mode="after")
    def _whole(self) -> OAuth2Document:
        single = (self.issuer_url, self.client_id, self.client_secret)
        given = sum(part is not None for part in single)
        if (self.credentials_file is None and given != len(single)) or (
            self.credentials_file is not None and given
        ):
            raise problem(
                "REPO-R015",
                "{name} needs either credentialsFile, or issuerUrl, clientId and clientSecret",
            )
        return self

    def model(self) -> OAuth2Authentication:
        """The same as a value of the model."""
        return OAuth2Authentication(
            issuer_url=self.issuer_url,
            client_id=self.client_id,
            client_secret=environment(self.client_secret) if self.client_secret else None,
            credentials_file=self.credentials_file,
            audience=self.audience,
            scope=self.scope,
        )


class OidcDocument(Document):
    """The token that GitHub signs for a run of a workflow, or one that an issuer gives for it."""

    audience: NonEmpty
    issuer_url: Url | None = None
    client_id: NonEmpty | None = None
    scope: NonEmpty | None = None

    @model_validator(mode="after")
    def _exchanged(self) -> OidcDocument:
        if self.issuer_url is None and (self.client_id or self.scope):
            raise problem("REPO-R015", "{name} needs an issuerUrl for clientId and scope")
        return self

    def model(self) -> OidcAuthentication:
        """The same as a value of the model."""
        return OidcAuthentication(
            audience=self.audience,
            issuer_url=self.issuer_url,
            client_id=self.client_id,
            scope=self.scope,
        )


class TlsAuthenticationDocument(Document):
    """A client certificate, as PEM files."""

    certificate_file: SecretFile
    key_file: SecretFile

    def model(self) -> TlsAuthentication:
        """The same as a value of the model."""
        return TlsAuthentication(certificate_file=self.certificate_file, key_file=self.key_file)


class AuthenticationDocument(Document):
    """Exactly one way to say who asks."""

    token: Secret | None = None
    token_file: SecretFile | None = None
    basic: BasicDocument | None = None
    oauth2: OAuth2Document | None = None
    github_oidc: OidcDocument | None = None
    tls: TlsAuthenticationDocument | None = None

    @model_validator(mode="after")
    def _one(self) -> AuthenticationDocument:
        named = (self.basic, self.oauth2, self.github_oidc, self.tls)
        if sum(way is not None for way in (self.token, self.token_file, *named)) != 1:
            raise problem(
                "REPO-R015",
                "{name} needs exactly one of token, tokenFile, basic, oauth2, githubOidc, tls",
            )
        return self

    def model(self) -> PulsarAuthentication:
        """The same as a value of the model."""
        for way in (self.basic, self.oauth2, self.github_oidc, self.tls):
            if way is not None:
                return way.model()
        if self.token is not None:
            return TokenAuthentication(token=environment(self.token))
        return TokenAuthentication(token=SecretRef(kind="file", name=self.token_file or ""))


class TlsDocument(Document):
    """How the server's certificate is checked."""

    ca_file: NonEmpty | None = Field(default=None, description="PEM; absent: the system's.")
    verify_hostname: bool = True

    def model(self) -> TlsConfig:
        """The same as a value of the model."""
        return TlsConfig(ca_file=self.ca_file, verify_hostname=self.verify_hostname)


# Where in a text a secret may stand, so that no output shows that line.


_BEYOND_ADDRESS: Final = re.compile(r"[@?#;]")
"""What a URL has that is more than an address: credentials, a query, a fragment."""
_SECRET_KEY: Final = re.compile(r"token|password|secret|credential|private", re.IGNORECASE)


def secret_offsets(parsed: ParsedYaml, model: type[BaseModel]) -> Iterator[tuple[int, int]]:
    """Start and end of every scalar that may be a secret, and not a reference to one.

    Names of keys tell, and the types that the documents of `model` give to keys.
    """
    named = secret_keys(model)
    for path, span in parsed.values.items():
        text = parsed.text[span.start : span.end]
        if _is_secret_place(path, text, named) and not REFERENCE.fullmatch(text.strip("\"'")):
            value = _value(parsed.value, path)
            if not isinstance(value, dict | list):
                yield span


@cache
def secret_keys(model: type[BaseModel]) -> frozenset[str]:
    """The keys anywhere in a document whose type is Secret although their names do not tell."""
    texts: set[str] = set()
    models, seen = [model], {model}
    while models:
        for name, field in models.pop().model_fields.items():
            key = field.alias or name
            inner = [*field.metadata, *_parts(field.annotation)]
            if IS_SECRET in inner and not _SECRET_KEY.search(key):
                texts.add(key)
            below = {value for value in inner if isinstance(value, type)} - seen
            models += [item for item in below if issubclass(item, BaseModel)]
            seen |= below
    return frozenset(texts)


def _parts(annotation: object) -> Iterator[object]:
    """An annotation and all that it is made of."""
    yield annotation
    for arg in get_args(annotation):
        yield from _parts(arg)


def _is_secret_place(path: Path, text: str, named: frozenset[str]) -> bool:
    if not path:
        return False
    if any(_is_secret_name(str(part), named) for part in path):
        return True
    is_url = "://" in text or str(path[-1]).lower().endswith("url")
    return is_url and _BEYOND_ADDRESS.search(text) is not None


def _is_secret_name(name: str, named: frozenset[str]) -> bool:
    """Also a misspelt one: its line is shown with the finding about it."""
    if name == "authentication" or _SECRET_KEY.search(name):
        return True
    return name in named or closest(name, named) is not None


def _value(document: object, path: Path) -> object:
    here = document
    for part in path:
        try:
            here = child(here, part)
        except KeyError:
            return None
    return here
