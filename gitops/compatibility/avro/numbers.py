"""Numbers written as text, as Java's Double.valueOf reads them."""

from __future__ import annotations

import re
from typing import Final

_DECIMAL: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?[fFdD]?", re.ASCII)
_HEXADECIMAL: Final = re.compile(
    r"([+-]?0[xX](?:[0-9a-fA-F]+\.?|[0-9a-fA-F]*\.[0-9a-fA-F]+)[pP][+-]?\d+)[fFdD]?", re.ASCII
)
_NO_NUMBER: Final = re.compile(r"([+-]?)(NaN|Infinity)")
_BLANKS: Final = "".join(map(chr, range(33)))


def java_double(text: str) -> float | None:
    """The number, None where Java throws NumberFormatException."""
    stripped = text.strip(_BLANKS)
    if found := _NO_NUMBER.fullmatch(stripped):
        return float(f"{found[1]}{found[2]}")
    if _DECIMAL.fullmatch(stripped):
        return float(stripped.rstrip("fFdD"))
    if found := _HEXADECIMAL.fullmatch(stripped):
        return _from_hex(found[1])
    return None


def _from_hex(text: str) -> float:
    try:
        return float.fromhex(text)
    except OverflowError:
        return float("-inf") if text.startswith("-") else float("inf")
