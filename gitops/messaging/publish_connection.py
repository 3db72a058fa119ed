"""The producer's connection to a cluster, with the credentials that captures have."""

from __future__ import annotations

import base64
import ssl

from gitops.messaging.capture_client import MessageService
from gitops.messaging.connection_settings import ConnectionSettings, Login
from gitops.model.errors import UsageError


def connection_settings(service: MessageService) -> ConnectionSettings:
    """Login and TLS; raises UsageError for certificates that cannot be read."""
    is_secure = service.url.startswith("pulsar+ssl:")
    return ConnectionSettings(login=_login(service), tls=_tls(service) if is_secure else None)


def _login(service: MessageService) -> Login:
    if service.certificate_file:
        return Login(method="tls")
    scheme = service.authorization().partition(" ")[0]
    methods = {"Bearer": "token", "Basic": "basic"}
    if scheme not in methods:
        return Login()

    def secret() -> str:
        value = service.authorization().partition(" ")[2]
        return value if scheme == "Bearer" else base64.b64decode(value).decode()

    return Login(method=methods[scheme], secret=secret)


def _tls(service: MessageService) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=service.ca_file)
        context.check_hostname = service.verify_hostname
        if service.certificate_file:
            context.load_cert_chain(service.certificate_file, service.key_file)
    except OSError as error:
        raise UsageError(
            f"a certificate or a key cannot be used: {error.strerror or error}",
            hint="they are PEM files, named in gitops.yaml for the registry",
        ) from error
    return context
