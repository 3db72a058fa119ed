"""A definition cut into the texts of its fields, so that what was read before is not read again.

Versions of a schema share nearly all of their fields word by word. Reading the whole text as JSON
would take longer than all else; cutting it takes a tenth of that. What is cut is still read piece
by piece by `json_text`, as strictly and as leniently as ever. Whatever does not fit this way, an
error above all, is read the long way instead.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from gitops.compatibility.avro.json_text import MAX_DEPTH, Json, JsonTextError, read_cut
from gitops.compatibility.avro.recent import Recent
from gitops.compatibility.avro.schema import Field, Schema

KNOWN_FIELDS: Final[Recent[bytes, Field]] = Recent(2**24)
"""By their texts and the namespace around them; a node weighs about five times as much."""

KNOWN_TYPES: Final[Recent[bytes, Schema]] = Recent(2**20)
"""Types that neither define nor name others, and so mean the same everywhere, by their texts."""

_LEVELS_ABOVE: Final = 2
"""A field stands in a list in an object."""


class _Record(Struct, forbid_unknown_fields=True, tag_field="type", tag="record"):
    name: str
    fields: list[Raw]
    namespace: str | UnsetType = UNSET
    doc: str | UnsetType = UNSET


class _Enum(Struct, forbid_unknown_fields=True, tag_field="type", tag="enum"):
    name: str
    symbols: list[str]
    namespace: str | UnsetType = UNSET
    doc: str | UnsetType = UNSET
    default: str | UnsetType = UNSET


class _Array(Struct, forbid_unknown_fields=True, tag_field="type", tag="array"):
    items: Raw


class _Map(Struct, forbid_unknown_fields=True, tag_field="type", tag="map"):
    values: Raw


class FieldText(Struct, forbid_unknown_fields=True):
    """A field of no more than these members; `type` and `default` are still text."""

    name: str
    type: Raw
    default: Raw | UnsetType = UNSET
    doc: str | UnsetType = UNSET

    @property
    def value(self) -> Json:
        """What the default stands for; raises JsonTextError."""
        text = b"" if self.default is UNSET else bytes(self.default)
        return None if text == b"null" else read_piece(text)


_TYPE: Final = msgspec.json.Decoder(_Record | _Enum | _Array | _Map)
_FIELD: Final = msgspec.json.Decoder(FieldText)


def cut_type(text: str | bytes) -> dict[str, Json] | None:
    """The members of a type, of which fields, items and values are Raw.

    None where the text is anything else, or has members that most types have not.
    """
    try:
        found = _TYPE.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    node: dict[str, Json] = {"type": found.__struct_config__.tag}
    for name in found.__struct_fields__:
        value = getattr(found, name)
        if value is not UNSET:
            node[name] = value
    return node


def cut_field(piece: bytes) -> FieldText | None:
    """The members of a field; None where it has others, or is none. Raises JsonTextError."""
    if len(piece) >= MAX_DEPTH and piece.count(b"[") + piece.count(b"{") > (
        MAX_DEPTH - _LEVELS_ABOVE
    ):
        raise JsonTextError("it may be nested too deep", 0)
    try:
        return _FIELD.decode(piece)
    except (msgspec.DecodeError, RecursionError):
        return None


def read_piece(piece: bytes) -> Json:
    """The value that a piece stands for; raises JsonTextError."""
    return read_cut(piece.decode())


@lru_cache(maxsize=64)
def around(space: str | None) -> bytes:
    """What tells one namespace's fields from another's: no value goes on behind a line's end."""
    return b"" if space is None else b"\n" + space.encode("utf-8", "surrogatepass")
