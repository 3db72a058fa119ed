"""How many examples a test of hypothesis tries: its own number at the profile's scale."""

from __future__ import annotations

from typing import Final

from hypothesis import settings

_USUAL: Final = 100
"""How many the profile `default` tries where a test has no number of its own."""


def examples(number: int) -> int:
    """`number` in the profile `default`, fewer in `quick`, more in `thorough`."""
    return max(1, number * settings().max_examples // _USUAL)
