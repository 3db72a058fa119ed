"""Fields met in other definitions: the versions of a schema share nearly all of theirs."""

from __future__ import annotations

import pickle
from functools import lru_cache
from typing import Final

from gitops.compatibility.avro.json_text import Json
from gitops.compatibility.avro.recent import Recent
from gitops.compatibility.avro.schema import Field

KNOWN_FIELDS: Final[Recent[bytes, Field]] = Recent(2**22, len)
"""Each as it was last read, at `pointer`, by its likeness.

The limit is in bytes of pickled fields; a node weighs about five times as much.
"""


def likeness(node: Json, space: str | None) -> bytes:
    """Equal for two fields only if they say the same in the same namespace.

    Pickling is Python's fastest way to a key that tells 1 from 1.0 and true; nothing is ever
    unpickled.
    """
    return pickle.dumps(node, 4) + _ending(space)


@lru_cache(maxsize=64)
def _ending(space: str | None) -> bytes:
    """A pickle says itself where it ends, so that anything may follow it."""
    return b"" if space is None else space.encode("utf-8", "surrogatepass")
