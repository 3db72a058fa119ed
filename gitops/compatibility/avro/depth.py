"""Room for definitions that nest as deep as the broker allows."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_SHALLOW: Final = 100
_ENOUGH: Final = 20_000


@contextmanager
def deep_enough(text: str) -> Iterator[None]:
    """Room for what reads or walks over a definition; see `make_room`."""
    make_room(text)
    yield


def make_room(text: str) -> None:
    """Raise Python's recursion limit before a definition is read that nests deeper than usual.

    The broker takes 1,000 levels, and Python's own limit of 1,000 calls would end long before.
    The limit stays raised: another thread may be deep in a definition, and so will be whatever
    walks over the parsed schema later.
    """
    if sys.getrecursionlimit() < _ENOUGH and text.count("[") + text.count("{") > _SHALLOW:
        sys.setrecursionlimit(_ENOUGH)
