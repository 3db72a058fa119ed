"""Why there is no root message in the data of a PROTOBUF_NATIVE schema."""

from __future__ import annotations

from typing import Final

_LONGEST: Final = 300


class InvalidEnvelopeError(ValueError):
    """The data leads to no message; the broker's reader throws an exception.

    Names in a message come from the data and may be of any length, so it is cut.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message[:_LONGEST])


class WireError(InvalidEnvelopeError):
    """Bytes are not in Protobuf's wire format; `why` says so of any message."""

    def __init__(self, why: str) -> None:
        super().__init__(f"'fileDescriptorSet' is not a FileDescriptorSet: {why}")
        self.why = why


class EndlessImportsError(InvalidEnvelopeError):
    """Imports go in a circle, or too deep; the broker's reader runs out of stack."""
