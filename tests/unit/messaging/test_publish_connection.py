"""The credentials of admin REST, as the binary protocol has them."""

from __future__ import annotations

import asyncio
import base64
from pathlib import Path

import pytest

from gitops.messaging.capture_client import MessageService
from gitops.messaging.publish_connection import connection_settings
from gitops.model.errors import UsageError

BASIC = f"Basic {base64.b64encode(b'user:pass').decode()}"


@pytest.mark.parametrize(
    ("header", "method", "data"),
    [("", "none", b""), ("Bearer a.b", "token", b"a.b"), (BASIC, "basic", b"user:pass")],
)
def test_a_header_becomes_a_login(header: str, method: str, data: bytes) -> None:
    service = MessageService(url="pulsar://broker:6650", authorization=lambda: header)
    login = connection_settings(service).login
    assert login.method == method
    assert asyncio.run(login.data()) == data


def test_a_token_is_asked_for_again_each_time() -> None:
    headers = iter(["Bearer 0", "Bearer 1", "Bearer 2"])
    service = MessageService(url="pulsar://broker:6650", authorization=lambda: next(headers))
    login = connection_settings(service).login
    assert [asyncio.run(login.data()) for _ in range(2)] == [b"1", b"2"]


def test_certificates_are_of_tls_alone() -> None:
    plain = MessageService(url="pulsar://broker:6650", authorization=str, ca_file="/nowhere")
    assert connection_settings(plain).tls is None


def test_a_certificate_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    service = MessageService(
        url="pulsar+ssl://broker:6651", authorization=str, ca_file=str(tmp_path / "ca.pem")
    )
    with pytest.raises(UsageError, match="cannot be used"):
        connection_settings(service)


def test_names_are_verified_unless_they_are_not_to_be() -> None:
    service = MessageService(
        url="pulsar+ssl://broker:6651", authorization=str, verify_hostname=False
    )
    context = connection_settings(service).tls
    assert context is not None
    assert not context.check_hostname
