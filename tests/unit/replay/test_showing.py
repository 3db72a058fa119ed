"""What is shown of a message, and what is not."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

from gitops.replay.kernel.avro.values import Tagged
from gitops.replay.places import Places, is_sensitive, steps
from gitops.replay.showing import as_text, redacted, sensitive_names
from tests.support.protos import order
from tests.support.states import pair
from tests.unit.replay.messages import sample, schema, topic_replay

NOWHERE = Places(known=frozenset(), above=frozenset())
VALUE = {
    "id": 1,
    "email": "a@b.c",
    "customer": {"name": "X", "email": "d@e.f"},
    "lines": [{"card": "4111", "sku": "s"}],
    "by": {"some key": {"card": "4222"}},
    "choice": Tagged("Card", {"card": "4333"}),
}


@pytest.mark.parametrize(
    ("name", "hidden"),
    [
        ("email", {"a@b.c", "d@e.f"}),
        ("customer.email", {"d@e.f"}),
        ("customer", {"X", "d@e.f"}),
        ("lines[].card", {"4111"}),
        ("by{}.card", {"4222"}),
        ("card", {"4111", "4222", "4333"}),
        ("nothing", set()),
    ],
)
def test_a_sensitive_field_and_all_in_it_is_hidden(name: str, hidden: set[str]) -> None:
    every = {"a@b.c", "d@e.f", "X", "4111", "4222", "4333"}
    text = as_text(redacted(VALUE, frozenset({steps(name)}), NOWHERE))
    assert {each for each in every if f'"{each}"' not in text} == hidden


def test_what_stands_in_the_place_of_something_sensitive_is_hidden_too() -> None:
    paths = {("customer",), ("customer", "email"), ("id",)}
    places = Places(known=frozenset(paths), above=frozenset({(), ("customer",)}))
    sensitive = frozenset({("customer", "email")})
    for told in ('{"customer": {"email": "SECRET"}}', {"id": 1, "customer": ["SECRET", None]}):
        text = as_text(redacted(told, sensitive, places))
        assert "SECRET" not in text
    assert text == '{"id": 1, "customer": ["(sensitive)", null]}'


def test_a_field_is_sensitive_under_its_other_names() -> None:
    old = schema(json.dumps({"fields": [{"name": "mail", "aliases": ["post"]}]}))
    new = schema(json.dumps({"fields": [{"name": "email", "aliases": ["mail"]}, {"name": "id"}]}))
    replay = topic_replay(
        sample("a", sensitive=("email",)), versions={0: old}, proposed=new, forward={"v": old}
    )
    assert sensitive_names(replay) == {("email",), ("mail",), ("post",)}


def test_a_field_is_sensitive_under_the_other_names_of_what_holds_it() -> None:
    old = schema(json.dumps({"fields": [{"name": "customer"}]}))
    new = schema(json.dumps({"fields": [{"name": "buyer", "aliases": ["customer"]}]}))
    replay = topic_replay(
        sample("a", sensitive=("buyer.email",)), versions={0: old}, proposed=new, forward={}
    )
    assert is_sensitive(("customer", "email"), sensitive_names(replay))
    assert not is_sensitive(("customer", "name"), sensitive_names(replay))


@pytest.mark.parametrize("half", [False, True])
def test_a_field_of_protobuf_is_sensitive_by_its_number(*, half: bool) -> None:
    inner = "message Inner {{ string {0} = 4; Inner more = 5; }}"
    old = order("Inner person = 1; int32 id = 2; " + inner.format("ssn"))
    new = order("Inner holder = 1; int32 number = 2; " + inner.format("tax"))
    if half:
        old, new = (
            pair("", json.loads(one.schema), "STRING", "PROTOBUF_NATIVE") for one in (old, new)
        )
    replay = topic_replay(
        sample("a", sensitive=("holder.tax",)), versions={0: old}, proposed=new, forward={}
    )
    names = sensitive_names(replay)
    assert is_sensitive(("value", "person", "ssn"), names)
    assert is_sensitive(("person", "more", "ssn"), names)
    assert not is_sensitive(("id",), names)


def test_paths_of_reports_are_sensitive_too() -> None:
    names = frozenset({("card", "number"), ("email",)})
    assert is_sensitive(steps("customer.email"), names)
    assert is_sensitive(steps("card{}.number"), names)
    assert is_sensitive(steps("card.number.first"), names)
    assert not is_sensitive(steps("card"), names)


def test_a_value_is_told_in_a_bounded_text() -> None:
    assert as_text({"a": b"\x01\xff", "b": float("inf"), "c": "ä"}) == (
        '{"a": "01ff", "b": Infinity, "c": "ä"}'
    )
    assert len(as_text("x" * 10_000)) == 2001


def test_a_fraction_is_a_number_if_it_can_be_one() -> None:
    assert as_text([Decimal("1.5"), Decimal("0." + "1" * 30)]) == f'[1.5, "0.{"1" * 30}"]'


def test_half_a_character_can_be_shown() -> None:
    assert as_text("a\ud800b").encode() == b'"a\\ud800b"'
