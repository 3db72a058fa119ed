"""A KEY_VALUE definition: its halves, and how its messages carry the key."""

from __future__ import annotations

from gitops.model.schema import KeyValueEncodingType, SchemaInfo, SchemaType
from gitops.replay.kernel.definition import DefinitionError
from gitops.schemas.key_value.parser import ENCODING, named_halves
from gitops.schemas.payload import PayloadError, to_info, to_stored
from gitops.schemas.row import UndecodableError


def halves_of(info: SchemaInfo) -> tuple[SchemaInfo, SchemaInfo]:
    """The schemas of key and value; raises DefinitionError."""
    try:
        key, value = (to_info(half) for _, (half,) in named_halves(to_stored(info)))
    except (PayloadError, UndecodableError) as error:
        raise DefinitionError(f"the KEY_VALUE definition is not valid: {error}") from None
    for half in (key, value):
        if half.type is SchemaType.KEY_VALUE:
            raise DefinitionError("a half of a KEY_VALUE schema cannot be KEY_VALUE itself")
    return key, value


def key_encoding(info: SchemaInfo) -> KeyValueEncodingType:
    """Where the key of its messages is: INLINE unless its properties say SEPARATED."""
    named = info.properties.get(ENCODING, "")
    separated = KeyValueEncodingType.SEPARATED
    return separated if named == separated.value else KeyValueEncodingType.INLINE


def is_separated(info: SchemaInfo) -> bool:
    """Whether a message has its key apart, so that `wire_format.join` makes its payload."""
    return (
        info.type is SchemaType.KEY_VALUE and key_encoding(info) is KeyValueEncodingType.SEPARATED
    )
