"""The lenient JSON of KEY_VALUE definitions."""

from __future__ import annotations

from typing import Any

import pytest

from gitops.schemas.key_value import gson


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{'key':1}", {"key": "1"}),
        ("{key=1;value=>2}", {"key": "1", "value": "2"}),
        ("/* a */ [1, // b\n 2 # c\n]", ["1", "2"]),
        ("[1,,2,]", ["1", None, "2", None]),
        ("[,]", [None, None]),
        ("[TRUE, Null, fAlse]", [True, None, False]),
        ("[bare words]", None),
        ('"\\u00e4\\n\\/"', "ä\n/"),
        ('"\\ud83d\\ude00"', "😀"),
        (")]}'\n{}", {}),
        ("\ufeff[]", []),
        ('{"a":1,"a":2}', {"a": "2"}),
        ("", None),
        ('"\\q"', None),
        ("[] // a comment behind it", None),
        ("[] []", None),
        ("[] \n", []),
        ("{,}", None),
        ('{"a":1,}', None),
        ("[", None),
        ("/* open", None),
    ],
)
def test_lenient_text(text: str, value: Any) -> None:  # noqa: ANN401 - JSON
    if value is None:
        with pytest.raises(gson.GsonError):
            gson.read(text)
    else:
        assert gson.read(text) == value


@pytest.mark.parametrize(
    ("text", "kind"),
    [("1", gson.Number), ("-0", gson.Number), ("1.50", gson.Number), ("1e5", gson.Number)]
    + [(word, str) for word in ("01", "1.", ".5", "+1", "NaN", "9" * 1024)],
)
def test_what_is_no_json_number_is_text(text: str, kind: type) -> None:
    assert type(gson.read(text)) is kind
    assert gson.write(gson.read(text)) == (text if kind is gson.Number else f'"{text}"')


def test_line_separators_are_escaped_and_html_is_not() -> None:
    assert gson.write({"<a>": "\u2028é"}) == '{"<a>":"\\u2028é"}'
