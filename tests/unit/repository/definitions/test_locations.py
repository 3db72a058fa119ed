"""Where a place in the schema that a registry gets stands in the files."""

from __future__ import annotations

import pytest

from gitops.model.findings import Location
from gitops.model.names import TopicName
from gitops.repository.definitions.locations import Locator
from gitops.repository.loader import load
from tests.support.trees import MemoryTree, repository

_FOLDER = "namespaces/shop/orders"
_TOPIC = TopicName.parse("shop/orders/created")
_MANIFEST = """\
apiVersion: pulsar-gitops/v1
kind: Topic
schema:
  type: AVRO
  definition: created.avsc
"""
_OWN = """\
{"type": "record", "name": "Created", "fields": [
  {"name": "id", "type": "string"},
  {"name": "total", "type": "shop.Money"},
  {"name": "again", "type": ["null", "shop.Money"]}
]}
"""
_MONEY = """\
{
  "type": "record", "name": "Money", "namespace": "shop",
  "fields": [
    {"name": "amount", "type": "long"},
    {"name": "currency", "type": {"type": "enum", "name": "Currency", "symbols": ["EUR"]}}
  ]
}
"""
_FILES: dict[str, str] = {
    f"{_FOLDER}/created.yaml": _MANIFEST,
    f"{_FOLDER}/created.avsc": _OWN,
    "types/money.avsc": _MONEY,
}


def _located(
    pointer: str, files: dict[str, str] | None = None, *, gone: tuple[str, ...] = ()
) -> Location | None:
    known = files or _FILES
    loaded = load(repository(known))
    assert loaded.findings == ()
    left: MemoryTree = repository({k: v for k, v in known.items() if k not in gone})
    return Locator(left, loaded.topics).locate(_TOPIC, pointer)


@pytest.mark.parametrize(
    ("pointer", "place"),
    [
        ("", f"{_FOLDER}/created.avsc:1:1"),
        ("/name", f"{_FOLDER}/created.avsc:1:28"),
        ("/fields/0/type", f"{_FOLDER}/created.avsc:2:26"),
        ("/fields/1/name", f"{_FOLDER}/created.avsc:3:12"),
        ("/fields/2/type/1", f"{_FOLDER}/created.avsc:4:38"),
        ("/fields/1/type", "types/money.avsc:1:1"),
        ("/fields/1/type/fields/0/name", "types/money.avsc:4:14"),
        ("/fields/1/type/fields/1/type/symbols/0", "types/money.avsc:5:83"),
        ("/fields/1/type/fields/9", "types/money.avsc:3:13"),
        ("/nonsense", f"{_FOLDER}/created.avsc:1:1"),
    ],
)
def test_a_place_is_found_in_the_file_that_it_comes_from(pointer: str, place: str) -> None:
    assert str(_located(pointer)) == place


def test_without_shared_types_the_pointer_is_the_files_own() -> None:
    files = {
        f"{_FOLDER}/created.yaml": _MANIFEST,
        f"{_FOLDER}/created.avsc": _OWN.replace("shop.Money", "string"),
    }

    found = _located("/fields/1/type", files)

    assert str(found) == f"{_FOLDER}/created.avsc:3:29"
    assert found is not None
    assert (found.pointer, found.length) == ("/fields/1/type", 8)


_LITERAL = """|
    {"type": "record", "name": "Created", "fields": [
      {"name": "id", "type": "string"},
      {"name": "total", "type": "shop.Money"}
    ]}
"""
_YAML = """
    type: record
    name: Created
    fields:
      - {name: id, type: string}
      - name: total
        type: shop.Money
"""
_FLOW = """{type: record, name: Created,
    fields: [
      {name: id, type: string}, {name: total,
        type: shop.Money}]}
"""
_ONE_LINE = '{"type": "record", "name": "Created", "fields": [{"name": "id", "type": "string"}]}'


@pytest.mark.parametrize(
    ("definition", "pointer", "line", "column"),
    [
        (_LITERAL, "", 6, 5),
        (_LITERAL, "/name", 6, 32),
        (_LITERAL, "/fields/1/name", 8, 16),
        (_LITERAL, "/fields/9", 6, 53),
        (_LITERAL.replace("|", "|2-  # no indentation", 1), "/fields/1/name", 8, 16),
        (_LITERAL.replace("|", ">-", 1), "/fields/1/name", 8, 16),
        (f"'{_ONE_LINE}'", "/fields/0/type", 5, 88),
        (f"'{_ONE_LINE[:-1]}, \"doc\": \"it''s\"}}'", "/fields/0/type", 5, 15),
        (_LITERAL.replace("|", ">", 1).replace("[\n", "[\n\n"), "/fields/1/name", 9, 16),
        (_LITERAL.replace("|", ">", 1).replace("      ", "    \n    "), "/fields/1/name", 5, 3),
        (_YAML, "", 5, 3),
        (_YAML, "/fields/0/type", 9, 26),
        (_YAML, "/fields/1/type", 11, 15),
        (_FLOW, "/fields/1/name", 7, 40),
        (_FLOW, "/fields/1/type", 8, 15),
    ],
)
def test_a_place_in_a_definition_of_the_manifest_is_found_there(
    definition: str, pointer: str, line: int, column: int
) -> None:
    """What YAML folds or escapes is found where it begins."""
    text = _MANIFEST.replace("created.avsc", definition).replace("shop.Money", "string")

    found = _located(pointer, {f"{_FOLDER}/created.yaml": text})

    assert str(found) == f"{_FOLDER}/created.yaml:{line}:{column}"


@pytest.mark.parametrize("definition", [_LITERAL, _YAML, _FLOW])
def test_a_shared_type_in_a_definition_of_the_manifest_has_its_own_file(definition: str) -> None:
    files = {**_FILES, f"{_FOLDER}/created.yaml": _MANIFEST.replace("created.avsc", definition)}
    del files[f"{_FOLDER}/created.avsc"]

    assert str(_located("/fields/1/type/fields/0/name", files)) == "types/money.avsc:4:14"
    assert str(_located("/fields/1/name", files)).startswith(f"{_FOLDER}/created.yaml:")


def test_halves_that_stand_in_the_manifest_are_found_there() -> None:
    inline = _PAIR.replace("{type: STRING}", f"{{type: AVRO, definition: {_FLOW.strip()}}}")
    files = {**_FILES, f"{_FOLDER}/created.yaml": inline.replace("shop.Money", "string")}

    assert str(_located("/key/fields/1/type", files)) == f"{_FOLDER}/created.yaml:8:15"
    assert str(_located("/value/fields/0/type", files)) == f"{_FOLDER}/created.avsc:2:26"


def test_a_topic_without_a_definition_is_found_at_the_manifest() -> None:
    primitive = "apiVersion: pulsar-gitops/v1\nkind: Topic\nschema: {type: STRING}\n"

    found = _located("", {f"{_FOLDER}/created.yaml": primitive})

    assert found is not None
    assert found.file == f"{_FOLDER}/created.yaml"


def test_a_topic_that_the_files_do_not_name_is_nowhere() -> None:
    assert Locator(repository({}), {}).locate(_TOPIC, "") is None


def test_a_file_that_is_gone_is_still_named() -> None:
    own, shared = f"{_FOLDER}/created.avsc", "types/money.avsc"

    assert _located("/name", gone=(own,)) == Location(file=own)
    assert str(_located("/name", gone=(shared,))) == f"{own}:1:28"
    # Without the shared type nobody knows any more that the place was inside it.
    assert str(_located("/fields/1/type/fields/0", gone=(shared,))).startswith(own)


def test_a_file_that_is_no_longer_json_is_found_at_its_beginning() -> None:
    loaded = load(repository(_FILES))
    broken = repository({**_FILES, f"{_FOLDER}/created.avsc": "{"})

    found = Locator(broken, loaded.topics).locate(_TOPIC, "/fields/1/type/fields/0")

    assert str(found) == f"{_FOLDER}/created.avsc:1:1"


_PAIR = """\
apiVersion: pulsar-gitops/v1
kind: Topic
schema:
  type: KEY_VALUE
  key: {type: STRING}
  value: {type: AVRO, definition: created.avsc}
"""


@pytest.mark.parametrize(
    ("pointer", "place"),
    [
        ("/value/fields/0/type", f"{_FOLDER}/created.avsc:2:26"),
        ("/value/fields/1/type/fields/0/type", "types/money.avsc:4:32"),
        ("/key", f"{_FOLDER}/created.yaml:3:1"),
        ("/encoding", f"{_FOLDER}/created.yaml:3:1"),
        ("", f"{_FOLDER}/created.yaml:3:1"),
    ],
)
def test_a_place_in_a_half_is_in_the_file_of_that_half(pointer: str, place: str) -> None:
    assert str(_located(pointer, {**_FILES, f"{_FOLDER}/created.yaml": _PAIR})) == place


def test_both_halves_may_have_one_definition() -> None:
    both = _PAIR.replace("{type: STRING}", "{type: AVRO, definition: created.avsc}")
    files = {**_FILES, f"{_FOLDER}/created.yaml": both}

    for half in ("key", "value"):
        assert str(_located(f"/{half}/name", files)) == f"{_FOLDER}/created.avsc:1:28"


@pytest.mark.slow
def test_a_place_in_a_message_is_in_its_proto_file() -> None:
    manifest = _MANIFEST.replace("AVRO", "PROTOBUF_NATIVE").replace(
        "created.avsc", "created.proto\n  message: shop.Created"
    )
    proto = 'syntax = "proto3";\npackage shop;\nmessage Created {\n  string id = 1;\n}\n'
    files = {f"{_FOLDER}/created.yaml": manifest, f"{_FOLDER}/created.proto": proto}

    assert str(_located("/shop.Created/id", files)) == f"{_FOLDER}/created.proto:4:10"
    assert str(_located("/shop.Created/gone", files)) == f"{_FOLDER}/created.proto:3:9"
