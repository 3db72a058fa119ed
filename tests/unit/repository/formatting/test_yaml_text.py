"""A manifest in canonical form says the same, with every comment."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitops.repository.documents.manifests import ClientDocument, TopicDocument
from gitops.repository.formatting.yaml_comments import comments
from gitops.repository.formatting.yaml_text import format_yaml, is_same_yaml
from gitops.repository.formatting.yaml_tree import read_tree
from gitops.repository.yaml.parser import parse_yaml
from tests.support.examples import examples
from tests.support.layouts import YamlLayouts


def canonical(text: str) -> str:
    return format_yaml(text, TopicDocument)


def comments_of(text: str) -> Counter[str]:
    plain = text.replace("\r\n", "\n")
    return Counter(one.text for one in comments(plain, read_tree(plain)))


@settings(max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(random=st.randoms(use_true_random=False))
def test_any_layout_becomes_canonical_once_and_says_the_same(random: Random) -> None:
    text = YamlLayouts(random).text()
    if parse_yaml(text.encode()).problems:
        return

    after = canonical(text)

    assert is_same_yaml(text, after)
    assert comments_of(after) == comments_of(text)
    assert canonical(after) == after
    assert after.endswith("\n")
    assert "\r" not in after


UGLY = """\
# yaml-language-server: $schema=../topic.schema.json


kind:   Topic   # what it is
# about the version
apiVersion: pulsar-gitops/v1
unknown: 1
schema:
    # before the type
    properties: { "owner":checkout , # in braces
       n: "1.0", m: 0x1F, o: 1e3, p: +1, q: -0.0, r: on }
    definition: |2
          {"type":
        "string"}
    # behind the definition
    type: AVRO
samples:
- {path: a, format: avro}



# the second
-   format: json
    path: "é\\u00e9 \\
       long"
    sensitive: []
# policies:
#   schemaCompatibilityStrategy: FULL
"""
TIDY = """\
# yaml-language-server: $schema=../topic.schema.json

# about the version
apiVersion: pulsar-gitops/v1
kind: Topic # what it is
schema:
  # behind the definition
  type: AVRO
  definition: |2
        {"type":
      "string"}
  # before the type
  properties:
    "owner": checkout # in braces
    n: "1.0"
    m: 0x1F
    o: 1e3
    p: +1
    q: -0.0
    r: on
samples:
  - {format: avro, path: a}

  # the second
  - format: json
    path: "é\\u00e9 \\
      long"
    sensitive: []
unknown: 1
# policies:
#   schemaCompatibilityStrategy: FULL
"""


def test_order_indentation_and_blank_lines_change_and_words_do_not() -> None:
    assert canonical(UGLY) == TIDY
    assert is_same_yaml(UGLY, TIDY)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a: 1", "a: 1\n"),
        ("a: 1\r\nb: 2\r\n", "a: 1\nb: 2\n"),
        ("\n\na: 1\n\n\n\nb: 2\n\n\n", "a: 1\n\nb: 2\n"),
        ("--- # c\na: 1\n...\n", "---\n# c\na: 1\n"),
        ("{kind: Topic, apiVersion: x}\n", "apiVersion: x\nkind: Topic\n"),
        ("a: [ 1,2 , {b:  c} ]\n", "a: [1, 2, {b: c}]\n"),
        ("a: {\n}\n", "a: {}\n"),
        ("a: &x 1\nkind: *x\n", "a: &x 1\nkind: *x\n"),
        ("a: &x\n    b: 1\nc:\n- &y\n  d: 1\n", "a: &x\n  b: 1\nc:\n  - &y\n    d: 1\n"),
        ("a: |+\n  x\n\nkind: y\n", "a: |+\n  x\n\nkind: y\n"),
        ("a: |\n    x", "a: |-\n  x\n"),
        ("a: '1'\nb: \"1\"\nc: 1\n", "a: '1'\nb: \"1\"\nc: 1\n"),
        ("? a\n:   b\n", "? a\n: b\n"),
        ("a:\n-\n  - 1\n- # c\n  b: 1\n", "a:\n  - - 1\n  # c\n  - b: 1\n"),
        (f"a: [{'x' * 50}, {'y' * 50}]\n", f"a:\n  - {'x' * 50}\n  - {'y' * 50}\n"),
        ("a:\n  b: 1\n  # in\nc: 2\n", "a:\n  b: 1\n  # in\nc: 2\n"),
        ("a:\n  b: 1\n# out\nc: 2\n", "a:\n  b: 1\n# out\nc: 2\n"),
        ("a:\n  - 1\n  #c\n", "a:\n  - 1\n  #c\n"),
    ],
)
def test_the_canonical_form(before: str, after: str) -> None:
    assert canonical(before) == after
    assert canonical(after) == after


def test_keys_of_each_entry_are_in_order_and_the_comments_go_with_them() -> None:
    before = (
        "apiVersion: x\nkind: Client\nconsumes:\n"
        "  # first\n  - {schema: NONE, topic: t, subscription: s}\n"
        "  - # second\n    schema: NONE # its schema\n    # its topic\n    topic: u\n"
        "owner: o\nname: n\n"
    )
    assert format_yaml(before, ClientDocument) == (
        "apiVersion: x\nkind: Client\nname: n\nowner: o\nconsumes:\n"
        "  # first\n  - {topic: t, subscription: s, schema: NONE}\n"
        "  # second\n  # its topic\n  - topic: u\n    schema: NONE # its schema\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        "- a\n",
        "word\n",
        "a: \u2028  b\n",
        "? |\n  long\n: b\n",
        "# nothing\n",
        "&x {a: 1}\n",
        "{}\n",
    ],
)
def test_what_has_no_canonical_form_stays(text: str) -> None:
    assert canonical(text) == text
