"""The three streams, made fit for whatever the command writes: closed, narrow, small encodings."""

from __future__ import annotations

import codecs
import os
import re
import sys
from typing import Final

_HANDLER: Final = "pulsar-gitops"
_SIGNS: Final = {
    "✓": "ok", "✗": "x", "→": "->", "…": "...", "·": "-", "–": "-", "—": "-", "─": "-", "│": "|",
    "•": "*", "⚠": "!", "≥": ">=", "↳": "->",
}  # fmt: skip
"""What our own signs become where the encoding has none."""
_SIZES: Final = ("COLUMNS", "LINES")
_SIZE: Final = re.compile(r"[0-9]{1,6}")


def prepare_streams() -> None:
    """Have something to read and write in place of closed streams, and words for every character.

    Python sets a closed stream to None. What the encoding of a stream cannot say becomes a sign
    in ASCII or an escape, as JSON writes it: what is JSON stays JSON. A size of the terminal that
    is no number is removed from the environment, because rich raises ValueError for `COLUMNS=²`.
    """
    codecs.register_error(_HANDLER, _said_otherwise)
    # In this order each takes the number that the closed one had.
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")  # noqa: PTH123, SIM115
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=_HANDLER)
    for name in _SIZES:
        if not _SIZE.fullmatch(os.environ.get(name, "")):
            os.environ.pop(name, None)


def _said_otherwise(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    gone = error.object[error.start : error.end]
    return "".join(_SIGNS.get(char) or _escaped(char) for char in gone), error.end


def _escaped(char: str) -> str:
    data = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{data[i : i + 2].hex()}" for i in range(0, len(data), 2))
