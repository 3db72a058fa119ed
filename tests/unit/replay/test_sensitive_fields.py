"""Which fields are sensitive, and what hides them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gitops.model.replay import TopicReplay
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.replay.failure_display import as_text
from gitops.replay.kernel.avro.values import UnionValue
from gitops.replay.sensitive_fields import SensitiveFields, known_names, unknown_names
from tests.support.nested_schemas import (
    NATIVE,
    OLD_FORM,
    ORDER,
    PROTOBUF,
    UNTOLD,
    protobuf,
)
from tests.support.pairs_kernel import sample, schema, topic_replay
from tests.support.protos import order
from tests.support.states import field, info, pair, record

VALUE = {
    "id": 1,
    "email": "a@b.c",
    "customer": {"name": "X", "email": "d@e.f"},
    "lines": [{"card": "4111", "sku": "s"}],
    "by": {"some key": {"card": "4222"}},
    "choice": UnionValue("Card", {"card": "4333"}),
    "attrs": {"tax.number": "4444"},
}


IN_OLD_FORM = info(OLD_FORM, SchemaType.JSON)


def replay_of(*names: str, proposed: SchemaInfo, **others: Any) -> TopicReplay:  # noqa: ANN401
    versions = {0: others.pop("old", proposed)}
    given = {"versions": versions, "proposed": proposed, **others}
    return topic_replay(sample("a", sensitive=names), **given)


def hiding(*names: str, proposed: SchemaInfo, **others: Any) -> SensitiveFields:  # noqa: ANN401
    return SensitiveFields.of(replay_of(*names, proposed=proposed, **others))


@pytest.mark.parametrize(
    ("name", "hidden"),
    [
        ("email", {"a@b.c", "d@e.f"}),
        ("customer.email", {"d@e.f"}),
        ("customer", {"X", "d@e.f"}),
        ("lines[].card", {"4111"}),
        ("by{}.card", {"4222"}),
        ("card", {"4111", "4222", "4333"}),
        ("attrs{}.tax.number", {"4444"}),
        ("nothing", set()),
        ("[]", {"a@b.c", "d@e.f", "X", "4111", "4222", "4333", "4444"}),
    ],
)
def test_a_sensitive_field_and_all_in_it_is_hidden(name: str, hidden: set[str]) -> None:
    every = {"a@b.c", "d@e.f", "X", "4111", "4222", "4333", "4444"}
    # of a definition that cannot be parsed, only the names count
    text = as_text(hiding(name, proposed=schema("?")).redacted(VALUE))
    assert {each for each in every if f'"{each}"' not in text} == hidden


@pytest.mark.parametrize(
    "proposed",
    [info(ORDER), IN_OLD_FORM, NATIVE, PROTOBUF],
    ids=["JSON", "JSON's old form", "PROTOBUF_NATIVE", "PROTOBUF"],
)
def test_what_stands_in_the_place_of_something_sensitive_is_hidden_too(
    proposed: SchemaInfo,
) -> None:
    hidden = hiding("pin", proposed=proposed)
    for value in (
        "SECRET",
        b"SECRET",
        ["SECRET"],
        {"paid": "SECRET"},
        {"paid": b"SECRET"},
        {"paid": ["SECRET", {"other": "SECRET"}]},
        {"by": {"any key": "SECRET"}},
        {"by": [{"pin": {"deep": "SECRET"}}]},
        {"PAID": "SECRET"},
        {"unknown": {"more": ["SECRET"]}},
    ):
        assert "SECRET" not in str(hidden.redacted(value))
    assert hidden.redacted({"id": 7, "notes": {"k": "text"}}) == {"id": 7, "notes": {"k": "text"}}


@pytest.mark.parametrize("proposed", [info(ORDER), NATIVE], ids=["JSON", "PROTOBUF_NATIVE"])
@pytest.mark.parametrize("name", ["pin", "parent.paid.pin"])
def test_a_record_within_itself_may_hold_it_at_every_depth(name: str, proposed: SchemaInfo) -> None:
    hidden = hiding(name, proposed=proposed)
    for value in ({"parent": "SECRET"}, {"parent": {"parent": "SECRET", "paid": b"SECRET"}}):
        assert "SECRET" not in str(hidden.redacted(value))
    assert not unknown_names([proposed], [name])


def test_what_no_definition_looks_into_is_hidden_where_a_name_leads_there() -> None:
    value = {"other": ["SECRET", {"issuer": "SECRET", "pin": {"first": "SECRET"}}]}
    assert "SECRET" not in str(hiding("other.pin", proposed=IN_OLD_FORM).redacted(value))
    assert hiding("tax", proposed=IN_OLD_FORM).redacted(value) == value
    assert "SECRET" not in str(
        hiding("tax", proposed=protobuf(UNTOLD)).redacted({"untold": b"SECRET"})
    )


def test_a_message_that_is_one_value_is_hidden_if_anything_is() -> None:
    plain = SchemaInfo(type=SchemaType.STRING)
    assert hiding("email", proposed=plain).redacted('{"email": "SECRET"}') == "(sensitive)"
    assert hiding(proposed=plain).redacted("text") == "text"
    half = pair("", record(field("email")), "STRING", "JSON")
    value = {"key": "k", "value": {"email": "SECRET"}}
    assert hiding("email", proposed=half).redacted(value)["key"] == "k"
    assert hiding("key.id", proposed=half).redacted(value)["key"] == "(sensitive)"


def test_a_field_is_sensitive_under_its_other_names() -> None:
    old = schema(json.dumps({"fields": [{"name": "mail", "aliases": ["post"]}]}))
    new = schema(json.dumps({"fields": [{"name": "email", "aliases": ["mail"]}, {"name": "id"}]}))
    hidden = hiding("email", proposed=new, old=old, forward={"v": old})
    assert hidden.names == (("email",), ("mail",), ("post",))


def test_a_field_is_sensitive_under_the_other_names_of_what_holds_it() -> None:
    old = schema(json.dumps({"fields": [{"name": "customer"}]}))
    new = schema(json.dumps({"fields": [{"name": "buyer", "aliases": ["customer"]}]}))
    hidden = hiding("buyer.email", proposed=new, old=old)
    assert hidden.hides("customer.email")
    assert not hidden.hides("customer.name")


@pytest.mark.parametrize("half", [False, True])
def test_a_field_of_protobuf_is_sensitive_by_its_number(*, half: bool) -> None:
    inner = "message Inner {{ string {0} = 4; Inner more = 5; }}"
    old = order("Inner person = 1; int32 id = 2; " + inner.format("ssn"))
    new = order("Inner holder = 1; int32 number = 2; " + inner.format("tax"))
    if half:
        old, new = (
            pair("", json.loads(one.schema), "STRING", "PROTOBUF_NATIVE") for one in (old, new)
        )
    hidden = hiding("holder.tax", proposed=new, old=old)
    assert hidden.hides("value.person.ssn")
    assert hidden.hides("person.more.ssn")
    assert not hidden.hides("id")


def test_a_field_of_protobuf_is_sensitive_by_the_name_that_json_has_for_it() -> None:
    proposed = order("string card_number = 1; string e_mail = 2 [json_name = 'post'];")
    assert hiding("cardNumber", proposed=proposed).hides("card_number")
    assert hiding("post", proposed=proposed).hides("e_mail")
    assert not unknown_names([proposed], ["cardNumber", "post", "card_number"])


def test_a_oneof_is_all_of_its_fields_and_none_of_them_is_the_others() -> None:
    assert hiding("choice", proposed=NATIVE).hides("coupon")
    assert hiding("choice.coupon", proposed=NATIVE).hides("coupon")
    assert not hiding("coupon", proposed=NATIVE).hides("gift")


def test_paths_of_reports_are_sensitive_too() -> None:
    hidden = hiding("card.number", "email", proposed=schema("?"))
    assert hidden.hides("customer.email")
    assert hidden.hides("card{}.number")
    assert hidden.hides("card.number.first")
    assert not hidden.hides("card")
    assert hidden.hides("card{}")  # the values of its keys, of which one is meant, together


@pytest.mark.parametrize(
    "proposed",
    [
        info(ORDER),
        IN_OLD_FORM,
        NATIVE,
        PROTOBUF,
        pair("", ORDER, "STRING", "JSON"),
    ],
)
def test_a_name_that_no_definition_has_is_told(proposed: SchemaInfo) -> None:
    names = ["pin", "paid.pin", "by{}.pin", "pni", "paid.id"]
    assert unknown_names([proposed], names) == ["pni", "paid.id"]


@pytest.mark.parametrize("proposed", [info(ORDER), IN_OLD_FORM, NATIVE, PROTOBUF])
def test_a_name_that_no_definition_has_hides_everything(proposed: SchemaInfo) -> None:
    hidden = hiding("pin", "pni", proposed=proposed)
    assert hidden.all_of_it
    assert hidden.hides("id")
    assert not hiding("pin", proposed=proposed).all_of_it


def test_the_fields_that_a_name_may_mean() -> None:
    names = known_names([info(ORDER), order("Inner holder = 1; message Inner { Inner more = 5; }")])
    assert {"pin", "paid.pin", "holder.more", "more"} <= set(names)
    assert len(names) < 100


def test_nothing_is_told_of_definitions_that_say_no_names() -> None:
    assert not unknown_names([schema("?")], ["pni"])
    assert not unknown_names([SchemaInfo(type=SchemaType.BYTES)], ["pni"])
    assert not unknown_names([protobuf(UNTOLD)], ["pni"])


FLAT = (field("kind"), field("other"))
OTHER = {"type": "record", "name": "Other", "fields": [field("kind"), field("other")]}


@pytest.mark.parametrize(
    ("proposed", "hidden"),
    [
        (info(record(*FLAT, field("next", ["null", "Order"]))), ["kind", "next.kind"]),
        (order("string kind = 1; string other = 2; Order next = 3;"), ["kind", "next.kind"]),
        (info(record(*FLAT, field("next", OTHER))), ["next.kind"]),
    ],
)
def test_what_stands_in_a_record_of_the_same_name_is_counted_at_the_outer_one(
    proposed: SchemaInfo, hidden: list[str]
) -> None:
    hides = hiding("next.kind", proposed=proposed).hides
    assert [each for each in ("kind", "other", "next.kind", "next.other") if hides(each)] == hidden
