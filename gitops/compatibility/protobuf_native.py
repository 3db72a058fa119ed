"""PROTOBUF_NATIVE: the envelope, and the one thing that the broker compares."""

from __future__ import annotations

import base64
import binascii
import json


class InvalidEnvelopeError(ValueError):
    """The data is not the envelope of a Protobuf descriptor."""


def root_message(data: bytes) -> str:
    """The full name of the root message; raises InvalidEnvelopeError.

    A Pulsar 4.0.7 broker compares this name alone, never fields.
    """
    try:
        envelope, _ = json.JSONDecoder().raw_decode(data.decode("utf-8", "replace").lstrip())
    except (ValueError, RecursionError):
        raise InvalidEnvelopeError("the PROTOBUF_NATIVE envelope is not JSON") from None
    members = envelope if isinstance(envelope, dict) else {}
    for name in ("fileDescriptorSet", "rootMessageTypeName", "rootFileDescriptorName"):
        if not isinstance(members.get(name), str):
            raise InvalidEnvelopeError(f"the PROTOBUF_NATIVE envelope has no text '{name}'")
    try:
        base64.b64decode(members["fileDescriptorSet"], validate=True)
    except (binascii.Error, ValueError):
        raise InvalidEnvelopeError("'fileDescriptorSet' is not base64") from None
    return str(members["rootMessageTypeName"])
