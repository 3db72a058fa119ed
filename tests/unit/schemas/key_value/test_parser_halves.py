"""A KEY_VALUE is taken apart in one place, and what is found in a half becomes the pair's."""

from __future__ import annotations

import pytest

from gitops.model.decision import Incompatibility, StoredSchema
from gitops.model.schema import SchemaType
from gitops.schemas.key_value.parser import add_half_prefix, named_halves, pack
from gitops.schemas.row import Remark, UndecodableError


def _pair(value: str) -> StoredSchema:
    data = pack(None, f'{{"key":"","value":{value}}}')
    return StoredSchema(type=SchemaType.KEY_VALUE, data=data)


def test_halves_of_several_pairs_are_named() -> None:
    (key, keys), (value, values) = named_halves(_pair('"1"'), _pair('"2"'))
    assert (key, [each.data for each in keys]) == ("key", [b"", b""])
    assert (value, [each.data for each in values]) == ("value", [b'"1"', b'"2"'])
    with pytest.raises(UndecodableError):
        named_halves(_pair('"1"'), StoredSchema(type=SchemaType.KEY_VALUE, data=b"x"))


def test_what_is_found_in_a_half_has_its_place_in_the_pair() -> None:
    remark = add_half_prefix(Remark(rule="R", message="m", path="a", pointer="/fields/0"), "value")
    assert (remark.path, remark.pointer) == ("value.a", "/value/fields/0")
    assert remark.old_pointer is None
    found = Incompatibility(
        rule="R",
        message="m",
        path="",
        reader="v0",
        writer="candidate",
        reader_pointer="/a",
        writer_pointer="",
    )
    moved = add_half_prefix(found, "key")
    assert (moved.path, moved.reader_pointer, moved.writer_pointer) == ("key", "/key/a", "/key")
