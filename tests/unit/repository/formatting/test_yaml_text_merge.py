"""Parts of a manifest that are replaced: what stays keeps its comments."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitops.repository.formatting.yaml_text import merge_yaml
from gitops.repository.formatting.yaml_tree import UnformattableYamlError
from gitops.repository.yaml.dumper import yaml_text
from gitops.repository.yaml.parser import parse_yaml
from tests.support.examples import examples
from tests.support.layouts import YamlLayouts

_KEYS = ("schema", "policies")
_texts = st.sampled_from(["AVRO", "a, b", "{", "[x]", "# no", "true", " ", "", "ä: b", "a.avsc"])
_maps = st.dictionaries(st.sampled_from(["type", "definition", "old", "#"]), _texts, max_size=3)
_parts = st.fixed_dictionaries(
    {}, optional={"schema": _maps | st.fixed_dictionaries({"properties": _maps}), "policies": _maps}
)


def _value(text: str) -> dict[str, object]:
    parsed = parse_yaml(text.encode())
    assert not parsed.problems, text
    assert parsed.value is None or isinstance(parsed.value, dict)
    return parsed.value if isinstance(parsed.value, dict) else {}


@pytest.mark.slow
@settings(max_examples=examples(200), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(random=st.randoms(use_true_random=False), parts=_parts)
def test_exactly_the_parts_are_replaced(random: Random, parts: dict[str, object]) -> None:
    text = YamlLayouts(random).text()
    if parse_yaml(text.encode()).problems:
        return
    rest = {key: value for key, value in _value(text).items() if key not in _KEYS}
    try:
        merged = merge_yaml(text, yaml_text({"kind": "Topic", **parts}), _KEYS)
    except UnformattableYamlError:
        return

    assert _value(merged) == {**rest, **parts}


def test_comments_stay_beside_their_keys_and_go_with_them() -> None:
    text = """\
# the file
kind: Topic
# the schema
schema: # as agreed
  # why
  type: AVRO # yes
  properties: {a: "1", b: "2"}
  # gone
  old: x
# all of them
policies:
  # gone too
  schemaValidationEnforced: true
# the end
"""
    new = "schema:\n  type: JSON\n  properties:\n    b: 2, 3\n    c: '4'\n  new: y\n"

    assert (
        merge_yaml(text, new, _KEYS)
        == """\
# the file
kind: Topic
# the schema
schema: # as agreed
  # why
  type: JSON # yes
  properties:
    b: 2, 3
    c: '4'
  new: y
# the end
"""
    )


@pytest.mark.parametrize("text", ["[]\n", "a: 1\u20282\n", "? [a]\n: b\n"])
def test_what_has_no_canonical_form_is_refused(text: str) -> None:
    with pytest.raises(UnformattableYamlError):
        merge_yaml(text, "schema: {}\n", _KEYS)
