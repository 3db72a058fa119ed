"""What somebody may have meant."""

from __future__ import annotations

import pytest

from gitops.model.rules import RULES
from gitops.model.schema import SchemaType
from gitops.repository.suggestions import closest, did_you_mean, did_you_mean_or_list

_TYPES = [each.value for each in SchemaType]


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("sting", "STRING"),
        ("String", "STRING"),
        ("avor", "AVRO"),
        ("KeyValue", "KEY_VALUE"),
        ("key-value", "KEY_VALUE"),
        ("proto", "PROTOBUF"),
        ("native", "PROTOBUF_NATIVE"),
        ("localdate", "LOCAL_DATE"),
        ("integer", None),
        ("text", None),
        ("xyz", None),
        ("", None),
    ],
)
def test_a_schema_type(word: str, meant: str | None) -> None:
    assert closest(word, _TYPES) == meant


def test_letters_in_another_order_are_near_however_short_the_word() -> None:
    assert closest("ulr", ["url", "kind"]) == "url"
    assert closest("kye", ["value", "key"]) == "key"


def test_a_far_word_is_not_suggested_but_the_words_to_choose_from() -> None:
    assert closest("sting", ["Sailing"]) is None
    assert closest("no", ["off", "info", "warning", "error"]) is None
    assert did_you_mean_or_list("no", ["off", "info"]) == "use one of off, info"
    assert did_you_mean_or_list("xyz", [f"word{i}" for i in range(99)]) == ""


def test_a_rule_without_all_its_zeros() -> None:
    assert did_you_mean("PLAN-R03", RULES) == "did you mean PLAN-R003?"
