"""Where all chance comes from: the same seed gives the same cases."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


class Chance(Random):
    """Random, with the two questions that a generator asks all the time."""

    def maybe(self, share: float) -> bool:
        """True in that share of the times."""
        return self.random() < share

    def some(self, values: Sequence[T], most: int) -> list[T]:
        """Up to `most` of the values, none twice, in any order."""
        return self.sample(values, self.randint(0, min(most, len(values))))
