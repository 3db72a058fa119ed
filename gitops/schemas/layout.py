"""Where two schemas of one type lay the same value out in other bytes."""

from __future__ import annotations

from typing import Final, NamedTuple

from gitops.model.decision import StoredSchema
from gitops.schemas.client_profiles import Decoding
from gitops.schemas.row import SchemaTypeRow

_NO_DEFAULT: Final = "AVRO-R002"


class LayoutChange(NamedTuple):
    """The first place: `path` is dotted field names, and the pointers stand in the definitions."""

    path: str
    pointer: str
    old_pointer: str


def layout_change(row: SchemaTypeRow, old: StoredSchema, new: StoredSchema) -> LayoutChange | None:
    """From where the bytes of a value differ, None if nowhere.

    JSON and Protobuf have no layout of their own: they are read by names and by numbers.
    """
    for misreading in row.misreadings(Decoding.OWN_SCHEMA, old, new):
        return LayoutChange(misreading.path, misreading.reader_pointer, misreading.writer_pointer)
    for misreading in row.misreadings(Decoding.OWN_SCHEMA, new, old):
        return LayoutChange(misreading.path, misreading.writer_pointer, misreading.reader_pointer)
    if Decoding.OWN_SCHEMA not in row.decoded_by:
        return None
    forth, back = list(row.resolve(old, new)), list(row.resolve(new, old))
    # A long that an int does not read has the same bytes; a field that is not there has none.
    for reason in forth:
        if back or reason.rule == _NO_DEFAULT:
            return LayoutChange(reason.path, reason.reader_pointer, reason.writer_pointer)
    for reason in back:
        if reason.rule == _NO_DEFAULT:
            return LayoutChange(reason.path, reason.writer_pointer, reason.reader_pointer)
    return None
