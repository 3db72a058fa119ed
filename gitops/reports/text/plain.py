"""Text from files and registries, made safe for a terminal."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_MAX_LENGTH: Final = 300
_UNSAFE: Final = re.compile(r"[^\x20-\x7e]|(?<=##)\[|(?<=:):(?=[A-Za-z])")


def safe(text: str) -> str:
    """Control, format and line characters written as escapes, so that no output can be forged.

    So is what makes a GitHub workflow command of a text: its runner takes `##[set-output …]`
    anywhere in a line of a log, and `::set-output …::` where a line starts, which a long text
    does wherever it wraps (actions/runner, ActionCommand).
    """
    return _UNSAFE.sub(_escaped, text)


def short(text: str, limit: int = _MAX_LENGTH) -> str:
    """`safe`, and cut in the middle with the number of characters left out."""
    if len(text) <= limit:
        return safe(text)
    half = limit // 2
    return f"{safe(text[:half])} … {len(text) - 2 * half} more … {safe(text[-half:])}"


def mask_credentials(text: str) -> str:
    """What stands in a URL beside an address, masked: user names, passwords, queries."""
    return _QUERY.sub(r"\1***", _USER.sub(r"\1***@", text))


_SCHEME: Final = r"\b[A-Za-z][A-Za-z0-9+.-]*:/{1,3}"
"""A path that was made of a URL has one slash."""
_USER: Final = re.compile(rf"({_SCHEME})(?!git@)[^/\s]*@")
_QUERY: Final = re.compile(rf"({_SCHEME}[^\s?#]*[?#])[^\s'\"]+")


def _escaped(match: re.Match[str]) -> str:
    char = match[0]
    if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"):
        return char.encode("unicode_escape").decode("ascii")
    return f"\\x{ord(char):02x}" if char in "[:" else char
