"""The same changes of several topics, such as those of a shared type, as one list of changes."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Final

from gitops.model.plan import SchemaChange

ALIKE: Final = 3
"""As many topics with the same changes share one list of them."""


def changes_key(changes: Sequence[SchemaChange]) -> Hashable:
    """Equal for changes that differ only in the fields that lead to them."""
    return tuple((c.kind, _leaf(c.path), c.before, c.after, c.note) for c in changes)


def shared_changes(topics: Sequence[Sequence[SchemaChange]]) -> tuple[SchemaChange, ...]:
    """The changes of topics that have the same key, at least one; `*.a` where paths differ."""
    return tuple(
        first
        if len({changes[number].path for changes in topics}) == 1
        else replace(first, path=f"*.{_leaf(first.path)}")
        for number, first in enumerate(topics[0])
    )


def _leaf(path: str) -> str:
    return path.rpartition(".")[2]
