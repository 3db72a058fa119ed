"""Edits of definitions inside a manifest keep what stands around them."""

from __future__ import annotations

import json
from typing import Final

import pytest
import yaml

from gitops.repository.definitions.manifest_edits import (
    definition_around,
    definition_texts,
    manifest_definition,
)
from gitops.repository.definitions.text_edits import Definition
from tests.support.refusals import FOLDER, Situation, errors
from tests.support.states import avro, field, info, pair, record

_HEAD: Final = "apiVersion: pulsar-gitops/v1\nkind: Topic\n"
_PLACE: Final = "/schema/definition"
_FILE: Final = f"{FOLDER}/t.yaml"

_LITERAL: Final = """\
schema:
  type: AVRO
  # the order
  definition: |
    {"type": "record", "name": "Order", "fields": [
      {"name": "a", "type": "string"},

      {"name": "b", "type": "int"}
    ]}

  # who owns it
  properties: {owner: me}
"""
_BLOCK: Final = """\
schema:
  type: AVRO
  definition:  # the order
    type: record
    name: Order
    fields:
      # who
      - name: a
        type: string
      - name: b  # how many
        type: int  # at least one
        doc: |
          How many.
  properties: {owner: me}
"""
_FLOW: Final = """\
schema:
  type: AVRO
  definition: {type: record, name: Order, fields: [
    {name: a, type: string},  # who
    {name: b, type: int},
  ]}
"""
_JSON: Final = """\
schema:
  type: AVRO
  definition:
    {"type": "record", "name": "Order", "fields": [
      {"name": "a", "type": "string"},
      {"name": "b", "type": "int"}
    ]}
"""
_QUOTED: Final = """\
schema: {type: AVRO, definition: '{"type": "record", "name": "Order", "fields": [
  ]}'}
"""
_ONE_LINE: Final = json.dumps(record(field("a"), field("b", "int"), name="Order"))
_SINGLE: Final = f"schema:\n  type: AVRO\n  definition: '{_ONE_LINE}'\n"
_DOUBLE: Final = f"schema:\n  type: AVRO\n  definition: {json.dumps(_ONE_LINE)}\n"

_ALL: Final = {
    "literal": _LITERAL,
    "block": _BLOCK,
    "flow": _FLOW,
    "json": _JSON,
    "single": _SINGLE,
    "double": _DOUBLE,
}


def _definition(schema: str) -> Definition:
    found = manifest_definition(_FILE, _HEAD + schema, _PLACE)
    assert found is not None
    return found


def _fields(text: str | None) -> list[dict[str, object]]:
    """Those of the definition in a manifest."""
    assert text is not None
    (found,) = definition_texts(_FILE, text)
    fields: list[dict[str, object]] = json.loads(found)["fields"]
    return fields


@pytest.mark.parametrize("schema", _ALL.values(), ids=_ALL)
def test_every_edit_gives_the_manifest_with_it(schema: str) -> None:
    new, b = _definition(schema), f"{_PLACE}/fields/1"

    assert (new.at(f"{b}/type"), new.at(f"{b}/other"), new.at("/kind")) == ('"int"', None, None)
    assert _fields(new.replace(f"{b}/type", '"long"'))[1]["type"] == "long"
    assert _fields(new.replace(f"{b}/type", '["int", "null"]'))[1]["type"] == ["int", "null"]
    nullable = _fields(new.nullable(b))[1]
    assert (nullable["type"], nullable["default"]) == (["null", "int"], None)
    aliased = new.add_member(f"{b}/name", "aliases", '["old"]')
    assert _fields(aliased)[1]["aliases"] == ["old"]
    assert aliased
    again = new.with_text(aliased)
    assert _fields(again.append(f"{b}/aliases", ['"older"']))[1]["aliases"] == ["old", "older"]
    for place in range(3):
        added = new.insert_item(f"{_PLACE}/fields", place, '{"name": "c", "type": "null"}')
        assert _fields(added)[place] == {"name": "c", "type": "null"}


@pytest.mark.parametrize("schema", _ALL.values(), ids=_ALL)
def test_an_edit_changes_the_lines_that_it_is_about_alone(schema: str) -> None:
    new = _definition(schema)
    edited = new.replace(f"{_PLACE}/fields/1/type", '"long"')

    assert edited
    pairs = zip(edited.split("\n"), new.text.split("\n"), strict=True)
    assert len([1 for after, before in pairs if after != before]) == 1


def test_a_field_of_a_block_has_its_default_on_a_line_of_its_own() -> None:
    edited = _definition(_BLOCK).nullable(f"{_PLACE}/fields/1")

    assert edited == _HEAD + _BLOCK.replace(
        "        type: int  # at least one\n",
        '        type: ["null", int]  # at least one\n        default: null\n',
    )


def test_an_item_of_a_block_is_added_below_what_is_in_front_of_it() -> None:
    edited = _definition(_BLOCK).insert_item(
        f"{_PLACE}/fields", 1, '{"name": "c", "type": ["null", "string"], "default": null}'
    )

    line = '      - {name: c, type: ["null", string], default: null}\n'
    assert edited == _HEAD + _BLOCK.replace("      - name: b ", f"{line}      - name: b ")


def test_a_type_on_lines_of_its_own_gives_way_to_a_short_one() -> None:
    lines = "type: int  # at least one\n"
    block = "type:\n          type: array\n          items: int\n"
    edited = _definition(_BLOCK.replace(lines, block)).replace(f"{_PLACE}/fields/1/type", '"int"')

    assert edited == _HEAD + _BLOCK.replace(lines, "type: int\n")


@pytest.mark.parametrize(
    "schema",
    [
        "schema: {type: AVRO, definition: t.avsc}\n",
        "schema: {type: STRING}\n",
        _QUOTED,
        _LITERAL.replace(": |", ": >"),
        "schema: [\n",
    ],
    ids=["file", "none", "several lines in quotes", "folded", "no YAML"],
)
def test_what_cannot_be_edited_is_no_definition(schema: str) -> None:
    assert manifest_definition(_FILE, _HEAD + schema, _PLACE) is None


def test_a_byte_order_mark_or_another_line_end_is_left_alone() -> None:
    for text in (f"\ufeff{_HEAD}{_BLOCK}", (_HEAD + _LITERAL).replace("\n", "\r\n")):
        assert manifest_definition(_FILE, text, _PLACE) is None


def test_what_an_alias_means_is_elsewhere() -> None:
    schema = _BLOCK.replace("- name: a\n        type: string", "- name: a\n        type: &t int")
    new = _definition(schema.replace("type: int ", "type: *t "))

    assert new.replace(f"{_PLACE}/fields/1/type", '"long"') is None


def test_a_place_is_in_the_definition_around_it() -> None:
    assert definition_around("/schema/value/definition/fields/0") == "/schema/value/definition"
    assert definition_around("/schema/definition") == _PLACE
    assert definition_around("/schema/definitions") == ""


@pytest.mark.parametrize("schema", _ALL.values(), ids=_ALL)
def test_a_refused_definition_in_a_manifest_is_fixed(schema: str) -> None:
    old = avro(field("a"), field("c"))
    situation = Situation(files={_FILE: _HEAD + schema}, versions={"t": (old,)})

    found = errors(situation.plan())
    fixed = situation.fixed()

    assert [bool(one.patch) or one.is_mended_elsewhere for one in found] == [True, True]
    assert fixed.accepted()
    fields = yaml.safe_load(json.dumps(_fields(fixed.edited[_FILE].decode())))
    assert [each["name"] for each in fields] == ["a", "c", "b"]


@pytest.mark.slow
def test_both_halves_in_a_manifest_are_fixed() -> None:
    half = "{type: AVRO, definition: {type: record, name: %s, fields: [{name: a, type: %s}]}}"
    schema = f"schema:\n  type: KEY_VALUE\n  key: {half}\n  value: {half}\n"
    text = _HEAD + schema % ("K", "int", "V", "long")
    old = pair(record(field("a"), name="K"), record(field("a"), name="V"))
    situation = Situation(files={_FILE: text}, versions={"t": (old,)})

    assert situation.fixed().edited == {
        _FILE: (_HEAD + schema % ("K", "string", "V", "string")).encode()
    }


def test_an_edit_defines_no_type_that_a_file_defines() -> None:
    address = record(field("street"), name="com.acme.Address")
    schema = json.dumps(record(field("a", "string")))
    situation = Situation(
        files={
            "types/address.avsc": json.dumps(address),
            _FILE: f"{_HEAD}schema: {{type: AVRO, definition: {schema}}}\n",
        },
        versions={"t": (info(record(field("a", address))),)},
    )

    assert '"com.acme.Address"' in situation.fixed().edited[_FILE].decode()
