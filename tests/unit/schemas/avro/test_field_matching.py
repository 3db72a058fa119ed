"""One matching of old and new fields, with what an alias means to a reader and to a diff."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType

from gitops.model.plan import ChangeKind
from gitops.schemas.avro.aliases import aliases_for
from gitops.schemas.avro.diff import differences
from gitops.schemas.avro.field_matching import guess_renames, match, match_aliases, match_changed
from gitops.schemas.avro.parser import AVRO_1_11
from gitops.schemas.avro.review import avro_changes
from gitops.schemas.avro.review_types import Wire
from gitops.schemas.avro.schema import Field, Record

parse = AVRO_1_11.parse


def _record(
    *fields: str, kinds: Mapping[str, str] = MappingProxyType({}), **aliases: list[str]
) -> Record:
    listed = [
        {"name": name, "type": kinds.get(name, "int"), "aliases": aliases.get(name, [])}
        for name in fields
    ]
    found = parse(json.dumps({"type": "record", "name": "R", "fields": listed}))
    assert isinstance(found, Record)
    return found


def _names(found: dict[str, Field]) -> dict[str, str]:
    return {new: old.name for new, old in found.items()}


def test_a_field_is_found_by_its_name_or_by_an_alias() -> None:
    old, new = _record("a", "b"), _record("a", "c", c=["b"])
    names = aliases_for(old, new).fields_of(old)
    assert _names(match(old, new, names)) == {"a": "a", "c": "b"}
    assert _names(match_changed(old, new, names)) == {"a": "a", "c": "b"}


def test_an_alias_of_a_field_that_is_still_there_counts_for_readers_alone() -> None:
    old, new = _record("a"), _record("a", "c", c=["a"])
    names = aliases_for(old, new).fields_of(old)
    assert _names(match(old, new, names)) == {"c": "a"}
    assert _names(match_changed(old, new, names)) == {"a": "a"}


def test_the_diff_shows_an_added_field_where_the_review_sees_what_a_reader_gets() -> None:
    """A reader of `c` gets what was written as `a`; the author added `c` beside it."""
    old, new = _record("a"), _record("a", "c", c=["a"])
    assert [(one.kind, one.path) for one in differences(old, new)] == [(ChangeKind.ADDED, "c")]
    rounding = _record("a", "c", kinds={"a": "long", "c": "double"}, c=["a"])
    (remark,) = avro_changes(_record("a", kinds={"a": "long"}), rounding, wire=Wire.AVRO)
    assert (remark.rule, remark.path) == ("AVRO-W008", "c")


def test_an_alias_in_a_record_with_another_name_connects_what_it_would_without_that() -> None:
    old, new = _record("a", "b"), _record("c", "d", "b", c=["a", "b"], d=["a"])
    pairs = list(match_aliases(old, new, match(old, new, {})))
    assert [(a.name, b.name) for a, b in pairs] == [("a", "c")]


def test_of_two_fields_with_one_new_name_a_list_of_changes_has_that_of_the_last_alias() -> None:
    old = _record("a", "b")
    for aliases in (["a", "b"], ["b", "a"]):
        new = _record("c", c=aliases)
        names = aliases_for(old, new).fields_of(old)
        assert _names(match(old, new, names)) == {"c": "a"}
        assert _names(match_changed(old, new, names)) == {"c": aliases[-1]}


def test_a_rename_is_guessed_by_likeness_and_each_field_once() -> None:
    old, new = _record("customer", "count"), _record("customerId", "counter", "other")
    pairs = list(guess_renames((old, old.all_fields), (new, new.all_fields)))
    assert [(a.name, b.name) for a, b in pairs] == [
        ("customer", "customerId"),
        ("count", "counter"),
    ]
