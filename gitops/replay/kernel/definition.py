"""What kernels ask of a definition, and reasons that name an enum's symbol."""

from __future__ import annotations

from typing import Final

# What every kind of schema asks of its definition.


class DefinitionError(ValueError):
    """No kernel can be made: a definition cannot be parsed, or does not say how to read."""


# Reasons that name an enum's symbol, which is a value, and how they read without it.


_NEITHER: Final = "the reader's enum has neither "
_LACKS: Final = "the reader's enum does not have "


def lacks_symbol_and_default(symbol: str) -> str:
    """The writer's symbol is none of the reader's, which has no default."""
    return f"{_NEITHER}{symbol} nor a default"


def lacks_symbol(symbol: str) -> str:
    """The symbol is none of the reader's, for whom a default would count for nothing."""
    return f"{_LACKS}{symbol}"


def remove_symbol(reason: str) -> str:
    """The reason without the symbol that it may name."""
    if reason.startswith(_NEITHER):
        return lacks_symbol_and_default("the symbol")
    return lacks_symbol("the symbol") if reason.startswith(_LACKS) else reason
