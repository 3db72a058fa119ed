"""What a waiver is bound to, and what it makes of a refusal."""

from __future__ import annotations

import datetime
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops.broker.lines.pulsar_4_0 import PULSAR_4_0
from gitops.model.findings import Severity
from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.rules import make_finding
from gitops.model.schema import SchemaEntry, SchemaHistory, SchemaInfo, SchemaType
from gitops.planning.refusals import TopicCase
from gitops.planning.waivers import (
    case_fingerprint,
    drop_latest_version,
    find_waiver,
    propose_waiver,
    waive_findings,
    waived_fingerprint,
    waiver_fingerprint,
)
from tests.support.states import (
    CREATED,
    ORDERS,
    STRING,
    TODAY,
    avro,
    field,
    history,
    info,
    pair,
    record,
)
from tests.support.waivers import waiver

_OLD, _NEW = avro(field("a")), avro(field("a"), field("b"))
_DAY = datetime.timedelta(days=1)
_CASE = TopicCase(
    topic=CREATED,
    desired=_NEW,
    history=history(_OLD),
    strategy=Strategy.FULL,
    line=PULSAR_4_0,
    locate=lambda _pointer: None,
    today=TODAY,
)


def test_a_fingerprint_is_the_same_on_every_machine() -> None:
    assert case_fingerprint(_CASE) == "21660065ac18aac953bb1e5ba8f8019b"


@pytest.mark.parametrize(
    "other",
    [
        replace(_CASE, topic=TopicName(ORDERS, "other")),
        replace(_CASE, topic=TopicName(ORDERS, "created", "non-persistent")),
        replace(_CASE, desired=avro(field("a"), field("b"), doc="mine")),
        replace(_CASE, desired=info(_NEW.schema + " ")),
        replace(_CASE, desired=info(_NEW.schema, SchemaType.JSON)),
        replace(_CASE, desired=info(_NEW.schema, properties={"owner": "me"})),
        replace(_CASE, history=history(_OLD, _OLD)),
        replace(_CASE, history=history(_OLD, after=1)),
        replace(_CASE, history=history(STRING)),
        replace(_CASE, history=history()),
        replace(_CASE, history=SchemaHistory(next_version=1)),
        replace(_CASE, history=history(info(_OLD.schema, properties={"owner": "me"}))),
        replace(_CASE, strategy=Strategy.BACKWARD),
        replace(_CASE, own=Strategy.FULL),
    ],
)
def test_any_change_makes_another_fingerprint(other: TopicCase) -> None:
    assert case_fingerprint(other) != case_fingerprint(_CASE)


@pytest.mark.parametrize(
    "same",
    [
        replace(_CASE, own=Strategy.UNDEFINED),
        replace(_CASE, content=(make_finding("AVRO-P001", "no"),)),
        replace(_CASE, rules={"AVRO-W001": Severity.ERROR}, today=TODAY + _DAY),
        replace(
            _CASE,
            history=SchemaHistory(
                entries=(SchemaEntry(version=0, info=_OLD, timestamp=1),), next_version=1
            ),
        ),
    ],
)
def test_what_does_not_count(same: TopicCase) -> None:
    assert case_fingerprint(same) == case_fingerprint(_CASE)


@given(st.dictionaries(st.text(), st.text()))
def test_the_order_of_properties_does_not_count(properties: dict[str, str]) -> None:
    turned = dict(reversed(properties.items()))
    prints = {
        case_fingerprint(replace(_CASE, desired=info(_NEW.schema, properties=one)))
        for one in (properties, turned)
    }

    assert len(prints) == 1
    assert re.fullmatch("[0-9a-f]{32}", prints.pop())


@pytest.mark.parametrize(
    "desired",
    [_NEW, SchemaInfo(type=SchemaType.BYTES), pair(record(name="K"), record()), info("{"), STRING],
)
def test_a_schema_has_the_same_fingerprint_before_and_after_it_is_registered(
    desired: SchemaInfo,
) -> None:
    before = replace(_CASE, desired=desired, history=history(_OLD, after=3))
    after = replace(before, history=history(_OLD, _stored(desired), after=3))

    assert waived_fingerprint(after) == case_fingerprint(before)
    assert drop_latest_version(after.history) == before.history


def _stored(posted: SchemaInfo) -> SchemaInfo:
    kept = SchemaType.NONE if posted.type is SchemaType.BYTES else posted.type
    return replace(posted, type=kept)


def test_without_a_version_nothing_was_let_in() -> None:
    assert waived_fingerprint(replace(_CASE, history=history())) is None


def test_a_schema_that_cannot_be_converted_has_a_fingerprint() -> None:
    broken = info("not a pair \ud800", SchemaType.KEY_VALUE)

    first = waiver_fingerprint(CREATED, history(broken), broken, own=None, strategy=Strategy.FULL)

    assert first != waiver_fingerprint(CREATED, history(), broken, own=None, strategy=Strategy.FULL)


def test_a_waiver_holds_up_to_its_last_day_and_for_its_fingerprint() -> None:
    mine, other = waiver("a" * 32), waiver("b" * 32, name="other")
    last = replace(_CASE, waivers=(other, mine))

    assert find_waiver(last, "a" * 32) == mine
    assert find_waiver(last, "b" * 32) == other
    assert find_waiver(last, "a" * 31) is None
    assert find_waiver(replace(last, today=TODAY + _DAY), "a" * 32) is None
    assert find_waiver(replace(last, today=TODAY - _DAY), "a" * 32) == mine


def test_of_two_waivers_the_first_by_name_that_holds_is_used() -> None:
    expired = waiver("a" * 32, name="a", expires=TODAY - _DAY)
    second, third = (waiver("a" * 32, name=name) for name in ("b", "c"))

    assert find_waiver(replace(_CASE, waivers=(third, expired, second)), "a" * 32) == second


def test_findings_stay_and_are_no_errors_any_more() -> None:
    error, warning = (
        make_finding("AVRO-R002", "no default", hint="mend it"),
        make_finding("AVRO-W001", "?"),
    )

    lowered, same = waive_findings([error, warning], waiver("a" * 32))

    assert same == warning
    assert (lowered.rule, lowered.severity) == ("AVRO-R002", Severity.INFO)
    assert lowered.message == "no default"
    assert lowered.hint == (
        "waived until 2026-05-12 by waivers/agreed.yaml, approved by @acme/platform, "
        'with the reason "every consumer is upgraded"'
    )


def test_a_proposal_lacks_reason_and_approval_only() -> None:
    proposed = propose_waiver(_CASE.topic, "9c0b41d2" * 4, _CASE.today, _CASE.waivers)

    assert proposed.file == "waivers/shop-orders-created-9c0b41d2.yaml"
    assert proposed.text == (
        "# yaml-language-server: $schema=../.schemas/waiver.schema.json\n"
        "apiVersion: pulsar-gitops/v1\n"
        "kind: Waiver\n"
        "topic: shop/orders/created\n"
        'fingerprint: "9c0b41d29c0b41d29c0b41d29c0b41d2"\n'
        'reason: "" # why this change may pass\n'
        'approvedBy: "" # who approves it\n'
        "expires: 2026-06-11\n"
    )


def test_a_proposal_takes_the_place_of_what_has_expired() -> None:
    expired = waiver("a" * 32, name="mine", expires=TODAY - _DAY)

    assert (
        propose_waiver(_CASE.topic, "a" * 32, _CASE.today, (expired,)).file == "waivers/mine.yaml"
    )


@pytest.mark.parametrize(
    ("name", "file", "line"),
    [
        (
            TopicName(ORDERS, "a", "non-persistent"),
            "shop-orders-a",
            "non-persistent://shop/orders/a",
        ),
        (TopicName(ORDERS, "a b: #c"), "shop-orders-a-b-c", '"shop/orders/a b: #c"'),
        (TopicName(ORDERS, 'ü"'), "shop-orders", '"shop/orders/ü\\""'),
        (TopicName(NamespaceName("1", "2"), "3"), "1-2-3", '"1/2/3"'),
        (TopicName(ORDERS, "x" * 300), f"shop-orders-{'x' * 48}", f"shop/orders/{'x' * 300}"),
    ],
)
def test_odd_names_make_a_file_and_a_yaml_text(name: TopicName, file: str, line: str) -> None:
    proposed = propose_waiver(name, "a" * 32, _CASE.today, ())

    assert proposed.file == f"waivers/{file}-aaaaaaaa.yaml"
    assert f"topic: {line}\n" in proposed.text
