"""Room for schemas that nest as deep as the broker allows."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_SHALLOW: Final = 100
_FRAMES_A_LEVEL: Final = 12


@contextmanager
def deep_enough(text: str) -> Iterator[None]:
    """Raise Python's recursion limit where a definition may nest deeper than usual.

    The broker takes 1,000 levels; Python's own limit of 1,000 calls would end long before.
    """
    levels = min(text.count("[") + text.count("{"), 1000)
    if levels <= _SHALLOW:
        yield
        return
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 1000 + levels * _FRAMES_A_LEVEL))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
