"""Reasons that name an enum's symbol, which is a value, and how they read without it."""

from __future__ import annotations

from typing import Final

_NEITHER: Final = "the reader's enum has neither "
_LACKS: Final = "the reader's enum does not have "


def neither(symbol: str) -> str:
    """The writer's symbol is none of the reader's, which has no default."""
    return f"{_NEITHER}{symbol} nor a default"


def lacks(symbol: str) -> str:
    """The symbol is none of the reader's, for whom a default would count for nothing."""
    return f"{_LACKS}{symbol}"


def without_symbol(reason: str) -> str:
    """The reason without the symbol that it may name."""
    if reason.startswith(_NEITHER):
        return neither("the symbol")
    return lacks("the symbol") if reason.startswith(_LACKS) else reason
