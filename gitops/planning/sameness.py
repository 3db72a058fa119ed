"""Whether a desired schema is one that a registry holds."""

from __future__ import annotations

from gitops.compatibility.avro.errors import AvroParseError
from gitops.compatibility.equality import are_equal
from gitops.compatibility.payload import PayloadError, as_shown
from gitops.model.schema import SchemaHistory, SchemaInfo


def is_same(one: SchemaInfo, other: SchemaInfo) -> bool:
    """Whether the registry takes both for one version, however odd they are.

    By the broker's equality where it has one; definitions that it cannot parse are the same only
    if they are the same text.
    """
    try:
        left, right = as_shown(one), as_shown(other)
    except PayloadError:
        return one.type is other.type and one.schema == other.schema
    if left.type is right.type and left.data == right.data:
        return True
    try:
        return are_equal(left, right)
    except AvroParseError:
        return False


def equal_version(history: SchemaHistory, info: SchemaInfo) -> int | None:
    """The oldest live version that is the same schema, None if there is none."""
    return next((e.version for e in history.entries if is_same(e.info, info)), None)
