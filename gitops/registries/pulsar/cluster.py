"""A cluster that no gitops.yaml names: its URL, and how Pulsar's own tools connect to it.

`pulsar-admin` and `pulsar-client` read one environment variable for that, PULSAR_CLIENT_CONF, the
path of a client.conf (Pulsar 4.0.7). Secrets come from there or from PULSAR_TOKEN, never from a
command line.
"""

from __future__ import annotations

import configparser
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urlsplit

from gitops.model.broker_settings import as_if_broker, assumed_settings
from gitops.model.config import (
    OAuth2Authentication,
    PulsarAuthentication,
    SecretRef,
    TlsAuthentication,
    TlsConfig,
)
from gitops.model.errors import UsageError
from gitops.registries.pulsar.address import parse_address
from gitops.registries.pulsar.credentials import Credentials, basic_credentials, token_credentials
from gitops.registries.pulsar.registry import PulsarRegistry, open_admin_client
from gitops.registries.pulsar.secrets import read_secret, read_text_file, usable_secret
from gitops.registries.pulsar.settings import PulsarConfig

if TYPE_CHECKING:
    from gitops.ports import Registry

URL: Final = "PULSAR_ADMIN_URL"
TOKEN: Final = "PULSAR_TOKEN"  # noqa: S105 - the name of a variable
CLIENT_CONF: Final = "PULSAR_CLIENT_CONF"

_HERE: Final = Path()
_JAVA: Final = "org.apache.pulsar.client.impl.auth."


@dataclass(frozen=True, slots=True, kw_only=True)
class _Access:
    """Who asks: credentials that are read already, or where they are."""

    credentials: Credentials | None = None
    authentication: PulsarAuthentication | None = None


def cluster_of_environment() -> tuple[str, str]:
    """PULSAR_ADMIN_URL, else the `webServiceUrl` of a client.conf, and which it is; else empty.

    Raises UsageError for a client.conf that cannot be read.
    """
    if url := os.environ.get(URL, "").strip():
        return url, URL
    conf = _ClientConf.read()
    return conf.value("webServiceUrl"), f"{conf.where}, webServiceUrl"


def open_cluster(url: str, where: str, release: str | None = None) -> tuple[Registry, PulsarConfig]:
    """The registry behind an admin endpoint; `where` says who named the URL.

    What the cluster does not tell is assumed. Raises UsageError.
    """
    address = parse_address(url, where)
    conf = _ClientConf.read()
    access = _access(conf, is_secure=address.origin.is_secure)
    ca_file = conf.value("tlsTrustCertsFilePath")
    broker = assumed_settings()
    config = PulsarConfig(
        url=str(address),
        broker=as_if_broker(broker, release) if release else broker,
        authentication=access.authentication,
        tls=TlsConfig(ca_file=ca_file or None),
    )
    admin_client = open_admin_client(
        str(address), config, _HERE, where=conf.where or where, credentials=access.credentials
    )
    return PulsarRegistry(str(address), config, admin_client), config


@dataclass(frozen=True, slots=True)
class _ClientConf:
    """Pulsar's client.conf, empty where none is named. Its values may be secrets: no repr has them.

    `where` names the file.
    """

    where: str
    value: Callable[[str], str]

    def __repr__(self) -> str:
        return f"_ClientConf({self.where!r})"

    @staticmethod
    def read() -> _ClientConf:
        """The file that PULSAR_CLIENT_CONF names."""
        path = os.environ.get(CLIENT_CONF, "").strip()
        where = f"{CLIENT_CONF} ({path})" if path else ""
        values = _properties(read_text_file(path, _HERE, where), where) if path else {}
        return _ClientConf(where, lambda key: values.get(key, ""))


def _properties(text: str, where: str) -> Mapping[str, str]:
    """A file of Java properties: `key=value` lines; a later one of the same key counts."""
    parser = configparser.RawConfigParser(
        delimiters=("=", ":"),
        comment_prefixes=("#", "!"),
        strict=False,
        allow_no_value=True,
        empty_lines_in_values=False,
    )
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    try:
        parser.read_string("[client]\n" + "\n".join(line.strip() for line in text.splitlines()))
    except configparser.Error:
        # The parser's error quotes lines, which may hold a secret.
        raise UsageError("this is not a client.conf of Pulsar", where=where) from None
    return {key: value.strip() for key, value in parser["client"].items() if value}


def _access(conf: _ClientConf, *, is_secure: bool) -> _Access:
    """A client certificate without an authPlugin is for TLS only, which not every URL has."""
    if os.environ.get(TOKEN, "").strip():
        token = read_secret(SecretRef(kind="env", name=TOKEN), _HERE, TOKEN)
        return _Access(credentials=token_credentials(token))
    plugin, params = conf.value("authPlugin"), conf.value("authParams")
    if not plugin and not is_secure:
        return _Access()
    if not plugin:
        return _certificate(conf.value("tlsCertificateFilePath"), conf.value("tlsKeyFilePath"))
    reader = _PLUGINS.get(plugin.removeprefix(_JAVA))
    if reader is None:
        known = ", ".join(sorted(name for name in _PLUGINS if name.startswith("A")))
        raise UsageError(
            f"the authPlugin {plugin} is not supported", where=conf.where, hint=f"known: {known}"
        )
    return reader(params, conf.where)


def _token(params: str, where: str) -> _Access:
    """`token:…`, `file:/path`, `env:NAME`, or the token alone (AuthenticationToken, 4.0.7)."""
    scheme, colon, rest = params.partition(":")
    if colon and scheme == "file":
        token = read_secret(SecretRef(kind="file", name=_path(params)), _HERE, where)
    elif colon and scheme == "env":
        token = read_secret(SecretRef(kind="env", name=rest), _HERE, where)
    else:
        token = rest if colon and scheme in ("token", "data") else params
    usable = usable_secret(token.strip(), "the token of authParams", where)
    return _Access(credentials=token_credentials(usable))


def _basic(params: str, where: str) -> _Access:
    grouped = _json(params, where)
    user, password = (_text(grouped, key, where) for key in ("userId", "password"))
    return _Access(credentials=basic_credentials(user, password))


def _oauth2(params: str, where: str) -> _Access:
    grouped = _json(params, where)
    key_file = _text(grouped, "privateKey", where)
    if urlsplit(key_file).scheme not in ("", "file"):
        raise UsageError(
            "the privateKey of authParams is no file",
            where=where,
            hint='write the key into a file, and "privateKey": "file:///PATH"',
        )
    return _Access(
        authentication=OAuth2Authentication(
            issuer_url=_text(grouped, "issuerUrl", where),
            credentials_file=_path(key_file),
            audience=str(grouped.get("audience") or "") or None,
            scope=str(grouped.get("scope") or "") or None,
        )
    )


def _tls(params: str, where: str) -> _Access:
    """`tlsCertFile:/path,tlsKeyFile:/path`."""
    pairs = dict(param.split(":", 1) for param in params.split(",") if ":" in param)
    access = _certificate(pairs.get("tlsCertFile", ""), pairs.get("tlsKeyFile", ""))
    if access.authentication is None:
        hint = "authParams=tlsCertFile:/path/to/cert.pem,tlsKeyFile:/path/to/key.pem"
        raise UsageError("authParams lacks tlsCertFile or tlsKeyFile", where=where, hint=hint)
    return access


def _certificate(certificate: str, key: str) -> _Access:
    if not (certificate and key):
        return _Access()
    return _Access(authentication=TlsAuthentication(certificate_file=certificate, key_file=key))


def _path(url: str) -> str:
    """`file:///path`, `file:/path`, or a path."""
    split = urlsplit(url)
    return unquote(split.path) if split.scheme == "file" else url


def _json(text: str, where: str) -> Mapping[str, object]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        # The text is not repeated: it may hold a secret.
        raise UsageError(
            "authParams is not a JSON object, which this authPlugin needs", where=where
        )
    return value


def _text(grouped: Mapping[str, object], key: str, where: str) -> str:
    value = grouped.get(key)
    if not isinstance(value, str) or not value:
        raise UsageError(f"authParams lacks {key}", where=where)
    return value


_PLUGINS: Final[Mapping[str, Callable[[str, str], _Access]]] = {
    "AuthenticationToken": _token,
    "AuthenticationBasic": _basic,
    "AuthenticationTls": _tls,
    "oauth2.AuthenticationOAuth2": _oauth2,
    "token": _token,
    "basic": _basic,
    "tls": _tls,
    "oauth2": _oauth2,
}
"""By the name of Java's class below its package, and by the short names of other clients."""
