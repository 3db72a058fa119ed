"""Payloads that producers encrypted, with the private key of one of their recipients.

As Pulsar's clients do: AES-GCM with a data key, which is encrypted with RSA and OAEP (SHA-1) for
each recipient (MessageCrypto of Pulsar 4.0.7).
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidTag, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.padding import MGF1, OAEP
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from gitops.messaging.wire import pulsar_api_pb2 as api
from gitops.model.errors import UsageError

_PADDING: Final = OAEP(mgf=MGF1(SHA1()), algorithm=SHA1(), label=None)  # noqa: S303 - Pulsar's
_MOST_KEYS: Final = 1_000
"""Data keys that are remembered: producers make a new one every four hours."""


class Decryption:
    """Decrypts with one private key."""

    def __init__(self, key: RSAPrivateKey) -> None:
        self._key = key
        self._ciphers: dict[bytes, AESGCM | None] = {}

    @classmethod
    def from_file(cls, path: Path) -> Decryption:
        """With the key in a PEM file; raises UsageError."""
        try:
            key = load_pem_private_key(path.read_bytes(), None)
        except OSError:
            raise UsageError(f"there is no file {path}", hint=_HINT) from None
        except (ValueError, TypeError, UnsupportedAlgorithm):
            key = None
        if not isinstance(key, RSAPrivateKey):
            raise UsageError(f"{path} is not the private key of RSA", hint=_HINT)
        return cls(key)

    def decrypted(self, metadata: api.MessageMetadata, payload: bytes) -> bytes | None:
        """The payload as it was before, None where it is for none of our keys."""
        for encryption_key in metadata.encryption_keys:
            if cipher := self._cipher(encryption_key.value):
                try:
                    return cipher.decrypt(metadata.encryption_param, payload, None)
                except (InvalidTag, ValueError):
                    continue
        return None

    def _cipher(self, data_key: bytes) -> AESGCM | None:
        if data_key not in self._ciphers:
            if len(self._ciphers) >= _MOST_KEYS:
                self._ciphers.clear()
            try:
                self._ciphers[data_key] = AESGCM(self._key.decrypt(data_key, _PADDING))
            except ValueError:
                self._ciphers[data_key] = None
        return self._ciphers[data_key]


_HINT: Final = (
    "--decryption-key names a private key of RSA as PEM, without a password; keys of elliptic "
    "curves, which Java's client has, too, are not supported"
)
