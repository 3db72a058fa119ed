"""The situations of the corpus, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tests.corpus.shell import Shell

Situation = Callable[[Shell], None]

SITUATIONS: Final[dict[str, Situation]] = {}


def situation(function: Situation) -> Situation:
    """Add a situation: its name is the function's, its docstring what a user would say."""
    name = function.__name__.replace("_", "-")
    assert name not in SITUATIONS, name
    SITUATIONS[name] = function
    return function
