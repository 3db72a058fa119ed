"""The header that each kind of authentication makes, and what it never shows."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from gitops.model.config import (
    BasicAuthentication,
    SecretRef,
    TlsAuthentication,
    TokenAuthentication,
)
from gitops.model.errors import UsageError
from gitops.registries.pulsar.credentials import open_credentials
from gitops.registries.pulsar.settings import PulsarConfig
from tests.support.pulsar_client import unhurried

SECRET = "s3cret-token"
REF = SecretRef(kind="env", name="TEST_SECRET")


@pytest.fixture(autouse=True)
def _secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_SECRET", SECRET)


def config(
    authentication: TokenAuthentication | BasicAuthentication | TlsAuthentication | None,
) -> PulsarConfig:
    return PulsarConfig(url="http://broker", authentication=authentication)


def test_a_token_is_a_bearer_token() -> None:
    credentials = open_credentials(config(TokenAuthentication(token=REF)), Path(), "here")
    assert credentials.authorization(unhurried()) == f"Bearer {SECRET}"
    assert not credentials.renew(credentials.authorization(unhurried()), unhurried())


def test_basic_is_name_and_password() -> None:
    authentication = BasicAuthentication(username="ü", password=REF)
    credentials = open_credentials(config(authentication), Path(), "here")
    kind, encoded = credentials.authorization(unhurried()).split()
    assert kind == "Basic"
    assert base64.b64decode(encoded).decode() == f"ü:{SECRET}"


@pytest.mark.parametrize(
    "authentication", [None, TlsAuthentication(certificate_file="c", key_file="k")]
)
def test_without_a_secret_there_is_no_header(authentication: TlsAuthentication | None) -> None:
    assert open_credentials(config(authentication), Path(), "here").authorization(unhurried()) == ""


def test_no_secret_is_shown() -> None:
    authentication = BasicAuthentication(username="me", password=REF)
    credentials = open_credentials(config(authentication), Path(), "here")
    header = credentials.authorization(unhurried())
    assert SECRET not in repr(credentials)
    redacted = credentials.redact(f"you sent {header} with {SECRET}")
    assert SECRET not in redacted
    assert header.split()[1] not in redacted


def test_a_missing_secret_is_found_when_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TEST_SECRET")
    with pytest.raises(UsageError, match="TEST_SECRET"):
        open_credentials(config(TokenAuthentication(token=REF)), Path(), "here")
