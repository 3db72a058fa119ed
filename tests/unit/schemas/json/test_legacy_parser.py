"""The old form of JSON definitions."""

from __future__ import annotations

import pytest

from gitops.schemas.json import legacy_parser


@pytest.mark.parametrize(
    "text",
    [
        '{"type":"any"}',
        '{"type":"any"} and more',
        '\ufeff{"type":"object","properties":{"a":{"type":"string","maxLength":"12"}}}',
        '{"type":null,"type":["x"],"type":"any"}',
        '{"type":"array","items":[["string",{}]],"maxItems":1e3}',
        '{"type":"any","required":" true "}',
        '{"type":"number","maximum":"-INF"}',
        '["object",{"id":"x"}]',
    ],
)
def test_json_schemas(text: str) -> None:
    assert legacy_parser.read(text) is not None


@pytest.mark.parametrize("text", ["null", " null x", '["object"]', "[null]"])
def test_texts_that_stand_for_no_schema(text: str) -> None:
    assert legacy_parser.read(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "nullx",
        '{"type":["any"]}',
        '{"type":"any"',
        '{"type":"any","a":NaN}',
        '{"type":"any","required":["a"]}',
        '{"type":"any","required":0.0}',
        '{"type":"array","items":["string",{}]}',
        '{"type":"array","maxItems":2147483648}',
        '{"type":"object","properties":{"a":{"type":"zzz"}}}',
        '{"type":"object","enum":[[]]}',
        '["any",{},1]',
        '{"type":"any","a":' + "1" * 1001 + "}",
        '{"' + "k" * 50_001 + '":1,"type":"any"}',
    ],
)
def test_other_texts(text: str) -> None:
    with pytest.raises(legacy_parser.NotJacksonError):
        legacy_parser.read(text)


@pytest.mark.parametrize(
    "text", ['{"type":"record"}', '{"type":1}', '{"type":"zzz" and no JSON', '["zzz",{}]']
)
def test_an_unknown_type_hides_what_stands_behind_it(text: str) -> None:
    with pytest.raises(legacy_parser.UnknownTypeIdError):
        legacy_parser.read(text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('{"type":"any","id":"x"}', "x"),
        ('{"type":"any","id":1.50}', "1.50"),
        ('{"type":"any","id":true,"id":null}', None),
        ('{"type":"any"}', None),
    ],
)
def test_the_id(text: str, name: str | None) -> None:
    schema = legacy_parser.read(text)

    assert schema is not None
    assert schema.id == name


@pytest.mark.parametrize(
    "text", ['["R"]', '["R", {malformed', '["R","unterm', '["R",1x', "[true,[", '["R",{' * 1100]
)
def test_an_unknown_type_in_a_list_hides_all_but_the_beginning_of_the_next(text: str) -> None:
    with pytest.raises(legacy_parser.UnknownTypeIdError):
        legacy_parser.read(text)


@pytest.mark.parametrize("text", ['["R"', '["R",]', '["R" x', '["R",1.', '["R",nul', '["R",01'])
def test_what_is_no_token_comes_before_an_unknown_type(text: str) -> None:
    with pytest.raises(legacy_parser.NotJacksonError):
        legacy_parser.read(text)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32-be"])
def test_bytes_in_any_encoding_of_json(encoding: str) -> None:
    assert legacy_parser.read_data('{"type":"any","id":"x"}'.encode(encoding)) is not None


@pytest.mark.parametrize(
    "data", [b'{"type":"re\xffcord"}', b'{"type":"any","\xf0":1}', b"\x00\x00x\x00"]
)
def test_bytes_in_no_encoding(data: bytes) -> None:
    with pytest.raises(legacy_parser.NotJacksonError):
        legacy_parser.read_data(data)
