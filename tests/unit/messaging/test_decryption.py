"""Decryption; what Pulsar's own clients encrypt is decrypted in tests/broker/test_capture.py."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.padding import MGF1, OAEP
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)

from gitops.messaging.decryption import Decryption
from gitops.messaging.wire import pulsar_api_pb2 as api
from gitops.model.errors import UsageError


def encrypted(*keys: rsa.RSAPrivateKey) -> tuple[api.MessageMetadata, bytes]:
    data_key, nonce = os.urandom(32), os.urandom(12)
    padding = OAEP(mgf=MGF1(SHA1()), algorithm=SHA1(), label=None)  # noqa: S303 - Pulsar's
    metadata = api.MessageMetadata(encryption_param=nonce)
    for each in keys:
        value = each.public_key().encrypt(data_key, padding)
        metadata.encryption_keys.add(key="k", value=value)
    return metadata, AESGCM(data_key).encrypt(nonce, b"secret", None)


@pytest.fixture(scope="module")
def keys() -> list[rsa.RSAPrivateKey]:
    return [rsa.generate_private_key(65537, 2048) for _ in range(2)]


def test_each_recipient_decrypts_and_nobody_else(keys: list[rsa.RSAPrivateKey]) -> None:
    ours, other = keys
    decryption = Decryption(ours)
    for recipients in ((ours,), (other, ours)):
        metadata, payload = encrypted(*recipients)
        assert decryption.decrypted(metadata, payload) == b"secret"
    metadata, payload = encrypted(other)
    assert decryption.decrypted(metadata, payload) is None


@pytest.mark.slow
def test_what_was_changed_on_the_way_is_not_decrypted(keys: list[rsa.RSAPrivateKey]) -> None:
    metadata, payload = encrypted(keys[0])
    assert Decryption(keys[0]).decrypted(metadata, payload[:-1] + b"\0") is None
    metadata.encryption_param = b""
    assert Decryption(keys[0]).decrypted(metadata, payload) is None


def test_a_file_that_is_no_private_key_of_rsa_is_named(tmp_path: Path) -> None:
    curve = ec.generate_private_key(ec.SECP256R1())
    with_password = BestAvailableEncryption(b"pass")
    files = {
        "text": b"no key",
        "curve": curve.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
        "locked": curve.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, with_password),
    }
    for name, content in files.items():
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(UsageError, match="is not the private key of RSA") as caught:
            Decryption.from_file(path)
        assert "elliptic curves" in caught.value.hint
    with pytest.raises(UsageError, match="there is no file"):
        Decryption.from_file(tmp_path / "missing")
