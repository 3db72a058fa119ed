"""What a plain scalar means: YAML 1.2's core schema, in which `on` and `no` are words."""

from __future__ import annotations

import re
from typing import Final

Scalar = str | int | float | bool | None

_WORDS: Final[dict[str, bool | None]] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True,
    "false": False, "False": False, "FALSE": False,
}  # fmt: skip
_FIRST: Final = frozenset("-+.0123456789")
INTEGER: Final = re.compile(r"[-+]?[0-9]+")
RADIX: Final = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
SPECIAL_FLOAT: Final = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_MAX_DIGITS: Final = 400


def plain_value(text: str) -> Scalar:
    """The value of a plain scalar; a number of more than 400 digits stays text."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _FIRST or len(text) > _MAX_DIGITS:
        return text
    return _number(text)


def _number(text: str) -> Scalar:
    if INTEGER.fullmatch(text):
        return int(text)
    if RADIX.fullmatch(text):
        return int(text, 0)
    if FLOAT.fullmatch(text):
        return float(text)
    if SPECIAL_FLOAT.fullmatch(text):
        return float(text.replace(".", "").lower())
    return text
