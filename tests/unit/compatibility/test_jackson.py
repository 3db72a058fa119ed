"""The old form of JSON definitions."""

from __future__ import annotations

import pytest

from gitops.compatibility import jackson


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
    assert jackson.read(text) is not None


@pytest.mark.parametrize("text", ["null", " null x", '["object"]', "[null]"])
def test_texts_that_stand_for_no_schema(text: str) -> None:
    assert jackson.read(text) is None


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
    with pytest.raises(jackson.NotJacksonError):
        jackson.read(text)


@pytest.mark.parametrize(
    "text", ['{"type":"record"}', '{"type":1}', '{"type":"zzz" and no JSON', '["zzz",{}]']
)
def test_an_unknown_type_hides_what_stands_behind_it(text: str) -> None:
    with pytest.raises(jackson.UnknownTypeIdError):
        jackson.read(text)


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
    schema = jackson.read(text)

    assert schema is not None
    assert schema.id == name
