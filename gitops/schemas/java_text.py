"""Bytes as Java turns them into text."""

from __future__ import annotations

import re
from typing import Final

_SURROGATE: Final = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]?")
_REPLACEMENT: Final = "\ufffd".encode()


def java_text(data: bytes) -> str:
    """UTF-8 as Java reads it: what is no character becomes U+FFFD, a surrogate one of them."""
    if data.isascii():
        return data.decode("ascii")
    return _SURROGATE.sub(_REPLACEMENT, data).decode("utf-8", "replace")
