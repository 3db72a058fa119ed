"""TLS as the configuration wants it: whose certificates are trusted, and which one is ours."""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING

from gitops.model.config import TlsAuthentication
from gitops.model.errors import UsageError
from gitops.registries.pulsar.secrets import config_path

if TYPE_CHECKING:
    from pathlib import Path

    from gitops.model.config import TlsConfig
    from gitops.registries.pulsar.settings import PulsarConfig


def broker_context(config: PulsarConfig, root: Path, where: str) -> ssl.SSLContext:
    """How connections to the brokers are secured; raises UsageError for unusable files.

    The server's certificate is always verified; only the check of its host name can be off.
    """
    context = ssl.create_default_context(cafile=_ca_file(config.tls, root, where))
    context.check_hostname = config.tls.verify_hostname
    if isinstance(config.authentication, TlsAuthentication):
        _load_client_certificate(context, config.authentication, root, where)
    return context


def issuer_context(tls: TlsConfig, root: Path, where: str) -> ssl.SSLContext:
    """For an OAuth2 issuer: it may have a public certificate or one of the cluster's authority."""
    context = ssl.create_default_context()
    ca_file = _ca_file(tls, root, where)
    if ca_file:
        context.load_verify_locations(cafile=ca_file)
    return context


def _ca_file(tls: TlsConfig, root: Path, where: str) -> str | None:
    """The path of the authority's file, once it is known to hold certificates."""
    if tls.ca_file is None:
        return None
    path = str(config_path(tls.ca_file, root))
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cafile=path)
    except OSError as cause:  # ssl.SSLError is one
        raise UsageError(
            f"cannot use {path} as a certificate authority",
            where=where,
            hint="tls.caFile is a PEM file of one or more certificates",
        ) from cause
    return path


def _load_client_certificate(
    context: ssl.SSLContext, ours: TlsAuthentication, root: Path, where: str
) -> None:
    """Load certificate and key; an encrypted key fails rather than asks for its password."""
    certificate = str(config_path(ours.certificate_file, root))
    key = str(config_path(ours.key_file, root))
    try:
        context.load_cert_chain(certificate, key, password="")
    except (OSError, ValueError) as cause:
        raise UsageError(
            f"cannot use {certificate} and {key} as a client certificate",
            where=where,
            hint="both are PEM files, the key belongs to the certificate and is not encrypted",
        ) from cause
