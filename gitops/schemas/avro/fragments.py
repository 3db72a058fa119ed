"""A definition cut into the texts of its fields, so that none is read twice."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, Generic, TypeVar

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from gitops.schemas.avro.json_text import (
    MAX_DEPTH,
    Json,
    JsonTextError,
    check_member,
    is_shallow,
    read_cut,
)
from gitops.schemas.avro.schema import Field, Schema

# What was met lately, so that it need not be worked out again: a cache of bounded size.

_K = TypeVar("_K", str, bytes)
_V = TypeVar("_V")

ENTRY: Final = 512
"""What an entry weighs beside its key, so that many small ones do not come for nothing."""


class SizeBoundedCache(Generic[_K, _V]):
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
        value = self._young.get(key)
        if value is None and (value := self._old.get(key)) is not None:
            self.put(key, value)
        return value

    def get_each(self, keys: Sequence[_K]) -> list[_V | None]:
        """`get` for many, which are mostly young."""
        values = list(map(self._young.get, keys))
        old = self._old
        if old and None in values:
            pairs = zip(keys, values, strict=True)
            return [self.get(k) if v is None and k in old else v for k, v in pairs]
        return values

    def put(self, key: _K, value: _V) -> None:
        """Keep `value`; what was used longest ago may be forgotten for it."""
        self._young[key] = value
        self._weight += len(key) + ENTRY
        if self._weight > self._limit:
            self._old, self._young, self._weight = self._young, {}, 0

    def clear(self) -> None:
        """Forget all."""
        self._old, self._young, self._weight = {}, {}, 0


# A definition cut into the texts of its fields, so that what was read before is not read again.
#
# Versions of a schema share nearly all of their fields word by word. Reading the whole text as
# JSON would take longer than all else; cutting it takes a tenth of that. What is cut is still
# read piece by piece by `json_text`, as strictly and as leniently as ever. Whatever does not fit
# this way, an error above all, is read the long way instead.


class KnownFragments:
    """What one parser has read.

    `fields` by their texts and the namespace around them; a node weighs about five times as much.
    `types` neither define nor name others, and so mean the same everywhere, by their texts.
    """

    def __init__(self) -> None:
        self.fields: SizeBoundedCache[bytes, Field] = SizeBoundedCache(2**24)
        self.types: SizeBoundedCache[bytes, Schema] = SizeBoundedCache(2**20)

    def clear(self) -> None:
        """Forget all."""
        self.fields.clear()
        self.types.clear()


_SHORT: Final = MAX_DEPTH - 2
"""No text of so many characters is too deep for a field, which stands in a list in an object."""

_UNSEEN: Final = MAX_DEPTH
"""What is said twice is cut once, and the rest is never read. It is too short to hold a number, a
name or a depth that Jackson refuses if so many characters at most are not accounted for."""

_LONGEST_SPACE: Final = 500
"""A longer namespace would be copied for each field."""


class RecordText(Struct, forbid_unknown_fields=True, gc=False, tag_field="type", tag="record"):
    """A record of no more than these members; its fields are still text."""

    name: str
    fields: list[Raw]
    namespace: str | None = None
    doc: str | None = None


class EnumText(Struct, forbid_unknown_fields=True, gc=False, tag_field="type", tag="enum"):
    """An enum of no more than these members."""

    name: str
    symbols: list[str]
    default: str | None = None
    namespace: str | None = None
    doc: str | None = None


class ArrayText(Struct, forbid_unknown_fields=True, gc=False, tag_field="type", tag="array"):
    """An array without properties; its items' type is still text."""

    items: Raw


class MapText(Struct, forbid_unknown_fields=True, gc=False, tag_field="type", tag="map"):
    """A map without properties; its values' type is still text."""

    values: Raw


class FieldText(Struct, forbid_unknown_fields=True, gc=False):
    """A field of no more than these members; `type` and `default` are still text."""

    name: str
    type: Raw
    default: Raw | UnsetType = UNSET
    doc: str | None = None

    @property
    def value(self) -> Json:
        """What the default stands for; raises JsonTextError."""
        text = b"" if self.default is UNSET else bytes(self.default)
        return None if text == b"null" else read_piece(text)


TypeText = RecordText | EnumText | ArrayText | MapText

_TYPE: Final[msgspec.json.Decoder[TypeText]] = msgspec.json.Decoder(TypeText)
_MEMBERS: Final = msgspec.json.Decoder(dict[str, Raw])
_FIELD: Final = msgspec.json.Decoder(FieldText)
_PIECES: Final = msgspec.json.Decoder(list[Raw])
_NO_JSON: Final = (msgspec.DecodeError, UnicodeError, RecursionError)


def cut_type(text: bytes) -> TypeText | dict[str, Json] | None:
    """The members of a type, of which fields, items and values are Raw.

    A record that has others than most is a dict of them; None where the text is anything else.
    """
    try:
        result = _TYPE.decode(text)
    except _NO_JSON:
        return _cut_record(text)
    if len(text) > _UNSEEN and len(text) - _seen(result) > _UNSEEN and not _is_all_there(text):
        return None
    return result


def _seen(result: TypeText) -> int:
    """How many characters of the text the members account for, at least."""
    members = [getattr(result, name) or "" for name in result.__struct_fields__]
    return sum([sum(map(len, v)) if isinstance(v, list) else len(v) for v in members])


def _is_all_there(text: bytes) -> bool:
    """The same, exactly: what stands between the parts of a list may be most of it."""
    members = _MEMBERS.decode(text)
    return len(text) - sum(len(k) + len(v) for k, v in members.items()) <= _UNSEEN


def _cut_record(text: bytes) -> dict[str, Json] | None:
    """The same for a record that has members which most have not."""
    try:
        grouped = _MEMBERS.decode(text)
        fields = grouped.pop("fields")
        unseen = len(text) - len(fields) - sum(len(k) + len(v) for k, v in grouped.items())
        if unseen > _UNSEEN or sum(map(_brackets, grouped.values())) > MAX_DEPTH - 1:
            return None
        members = {check_member(name): read_piece(bytes(v)) for name, v in grouped.items()}
        if members.get("type") not in ("record", "error"):
            return None
        return {**members, "fields": _PIECES.decode(fields)}
    except (*_NO_JSON, JsonTextError, KeyError):
        return None


def _brackets(piece: Raw | bytes) -> int:
    text = bytes(piece)
    return text.count(b"[") + text.count(b"{")


def cut_field(piece: bytes) -> FieldText | None:
    """The members of a field; None where it has others, or is none.

    Raises JsonTextError where it may be nested deeper than Jackson allows.
    """
    if len(piece) > _SHORT:
        return _cut_long_field(piece)
    try:
        return _FIELD.decode(piece)
    except _NO_JSON:
        return None


def _cut_long_field(piece: bytes) -> FieldText | None:
    if _brackets(piece) > _SHORT and not is_shallow(piece.decode(), _SHORT):
        raise JsonTextError("it may be nested too deep", 0)
    try:
        field = _FIELD.decode(piece)
    except _NO_JSON:
        return None
    seen = len(field.name) + len(field.type) + len(field.doc or "")
    seen += 0 if field.default is UNSET else len(field.default)
    return None if len(piece) - seen > _UNSEEN else field


def read_piece(piece: bytes) -> Json:
    """The value that a piece stands for; raises JsonTextError."""
    return read_cut(piece.decode())


@lru_cache(maxsize=64)
def namespace_suffix(space: str | None) -> bytes:
    """What tells one namespace's fields from another's: no value goes on behind a line's end.

    Raises JsonTextError for a namespace that is too long for that.
    """
    if space is not None and len(space) > _LONGEST_SPACE:
        raise JsonTextError("a very long namespace", 0)
    return b"" if space is None else b"\n" + space.encode("utf-8", "surrogatepass")
