"""The halves of a KEY_VALUE, and what is found in one of them as a part of the pair."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, TypeVar

from gitops.model.decision import Incompatibility, StoredSchema
from gitops.model.plan import SchemaChange
from gitops.schemas.key_value.parser import split
from gitops.schemas.remark import Remark

HALVES: Final = ("key", "value")

ENCODING: Final = "kv.encoding.type"
"""The property that says how messages carry the key."""

INLINE: Final = "INLINE"
"""What holds without that property."""

_POINTERS: Final = ("pointer", "old_pointer", "reader_pointer", "writer_pointer")
_T = TypeVar("_T", Remark, SchemaChange, Incompatibility)


def named_halves(*pairs: StoredSchema) -> tuple[tuple[str, tuple[StoredSchema, ...]], ...]:
    """`key` with the keys of all these, then `value` with the values; raises UndecodableError."""
    return tuple(zip(HALVES, zip(*map(split, pairs), strict=True), strict=True))


def in_pair(found: _T, half: str) -> _T:
    """What was found in a half, with a path and pointers that begin with its name."""
    path = f"{half}.{found.path}" if found.path else half
    pointers: dict[str, Any] = {
        name: f"/{half}{pointer}"
        for name in _POINTERS
        if (pointer := getattr(found, name, None)) is not None
    }
    return replace(found, path=path, **pointers)
