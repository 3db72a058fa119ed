"""What was met lately, so that it need not be worked out again: a cache of bounded size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Generic, TypeVar

_K = TypeVar("_K", str, bytes)
_V = TypeVar("_V")

ENTRY: Final = 512
"""What an entry weighs beside its key, so that many small ones do not come for nothing."""


class Recent(Generic[_K, _V]):
    """Values by key, the latest used up to a weight of about twice `limit`.

    Each weighs the length of its key, and ENTRY.

    Two generations: once the young one weighs `limit` it becomes the old one, and what was the
    old one is forgotten; a value found in the old one is young again. So any number of keys may
    pass by at constant memory, and a hit costs one look into a dict, where a list of the least
    recently used would have to be kept in order. Threads may share it: each step is one
    operation of a dict, and two threads at worst work out the same value twice.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._weight = 0
        self._young: dict[_K, _V] = {}
        self._old: dict[_K, _V] = {}

    def get(self, key: _K) -> _V | None:
        """The value, if it is still known."""
        found = self._young.get(key)
        if found is None and (found := self._old.get(key)) is not None:
            self.put(key, found)
        return found

    def get_each(self, keys: Sequence[_K]) -> list[_V | None]:
        """`get` for many, which are mostly young."""
        found = list(map(self._young.get, keys))
        old = self._old
        if old and None in found:
            pairs = zip(keys, found, strict=True)
            return [self.get(k) if v is None and k in old else v for k, v in pairs]
        return found

    def put(self, key: _K, value: _V) -> None:
        """Keep `value`; what was used longest ago may be forgotten for it."""
        self._young[key] = value
        self._weight += len(key) + ENTRY
        if self._weight > self._limit:
            self._old, self._young, self._weight = self._young, {}, 0

    def clear(self) -> None:
        """Forget all."""
        self._old, self._young, self._weight = {}, {}, 0
