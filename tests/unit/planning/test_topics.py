"""What happens to one topic's schema."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitops.broker.lines.pulsar_4_0 import PULSAR_4_0
from gitops.model.clients import ObservedTopic
from gitops.model.findings import Finding, Location, Severity
from gitops.model.plan import RefusedSchema, RegisterSchema, SchemaSwallowed, SchemaWithoutEffect
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.rules import make_finding
from gitops.model.schema import SchemaHistory, SchemaInfo, SchemaType
from gitops.planning.refusals import TopicCase
from gitops.planning.topics import TopicOutcome, plan_topic
from gitops.planning.waiver_findings import topic_waiver_findings
from tests.support.states import (
    CREATED,
    INT64,
    STRING,
    TODAY,
    avro,
    field,
    history,
    info,
    pair,
    record,
)
from tests.support.topic_plans import locate, planned
from tests.support.waivers import waiver

_OLD = avro(field("a"))
_NEW = avro(field("a"), field("b", default=""))
_BREAKING = avro(field("a"), field("b"), field("c", "int"))


@pytest.mark.parametrize(
    ("held", "desired"),
    [
        (
            _OLD,
            info('{"name": "Order",\n "fields": [{"type":"string","name":"a"}],"type":"record"}'),
        ),
        (info("x", SchemaType.NONE), info("x", SchemaType.BYTES)),
        (STRING, STRING),
        (pair(record(name="K"), record()), pair(record(name="K"), record())),
        (info("{"), info("{")),
        (info("not a pair", SchemaType.KEY_VALUE), info("not a pair", SchemaType.KEY_VALUE)),
    ],
    ids=["another layout", "BYTES", "STRING", "KEY_VALUE", "broken AVRO", "broken KEY_VALUE"],
)
def test_the_same_schema_is_unchanged(held: SchemaInfo, desired: SchemaInfo) -> None:
    assert planned(desired, history(held)) is None


_ENUM = {"type": "enum", "name": "E", "symbols": ["A", "B"]}


@pytest.mark.parametrize(
    ("held", "desired", "places"),
    [
        (_OLD, avro(field("a", doc="x")), [("a", "doc only")]),
        (_OLD, avro(field("a", aliases=["z"])), [("a", "aliases only")]),
        (_OLD, avro(field("a"), doc="x"), [("Order", "doc only")]),
        (_OLD, avro(field("a"), aliases=["Old"]), [("Order", "aliases only")]),
        (
            avro(field("e", _ENUM)),
            avro(field("e", {**_ENUM, "default": "A"})),
            [("e", "enum default only")],
        ),
        (_OLD, replace(_OLD, properties={"owner": "me"}), [("property owner", "me")]),
        (replace(STRING, properties={"owner": "me"}), STRING, [("property owner", "–")]),
        (
            pair("", "", "STRING", "STRING"),
            pair("", "", "STRING", "BYTES"),
            [("value.type", "BYTES")],
        ),
    ],
    ids=[
        "a field's doc",
        "a field's aliases",
        "a record's doc",
        "a record's aliases",
        "an enum's default",
        "a property more",
        "a property less",
        "the type of a half that has no definition",
    ],
)
def test_what_pulsar_swallows_is_named(
    held: SchemaInfo, desired: SchemaInfo, places: list[tuple[str, str]]
) -> None:
    outcome = planned(desired, history(STRING, held, after=4))

    assert isinstance(outcome, SchemaSwallowed)
    assert outcome.version == 5
    assert [(change.path, change.after) for change in outcome.changes] == places
    assert all(change.ignored for change in outcome.changes)


def test_an_older_schema_has_no_effect() -> None:
    outcome = planned(_OLD, history(STRING, _OLD, _NEW, _BREAKING))

    assert isinstance(outcome, SchemaWithoutEffect)
    assert (outcome.equal_version, outcome.latest_version) == (1, 3)
    assert [change.path for change in outcome.changes] == ["b", "c"]


def test_the_oldest_equal_version_is_the_one_that_pulsar_answers() -> None:
    outcome = planned(_OLD, history(_OLD, _OLD, _NEW))

    assert isinstance(outcome, SchemaWithoutEffect)
    assert outcome.equal_version == 0


def test_a_schema_before_a_deletion_does_not_count() -> None:
    outcome = planned(_OLD, SchemaHistory(next_version=2))

    assert isinstance(outcome, RegisterSchema)
    assert outcome.version == 2


def test_a_new_version_says_what_it_changes() -> None:
    outcome = planned(_NEW, history(_OLD, after=3))

    assert isinstance(outcome, RegisterSchema)
    assert (outcome.version, outcome.latest_version, outcome.strategy) == (4, 3, Strategy.FULL)
    assert [(change.path, change.after) for change in outcome.changes] == [("b", 'string = ""')]


def test_a_refusal_has_every_reason_with_its_place() -> None:
    known = history(avro(field("a"), field("b")))

    outcome = planned(avro(field("a", "int"), field("b", "long")), known, Strategy.BACKWARD)

    assert isinstance(outcome, RefusedSchema)
    assert (outcome.latest_version, outcome.strategy) == (0, Strategy.BACKWARD)
    assert [_place(found) for found in outcome.findings] == [
        ("AVRO-R001", "/fields/0/type"),
        ("AVRO-R001", "/fields/1/type"),
    ]
    assert [found.message.partition(":")[0] for found in outcome.findings] == [
        "the new schema cannot read messages of v0 at 'a'",
        "the new schema cannot read messages of v0 at 'b'",
    ]
    assert [change.path for change in outcome.changes] == ["a", "b"]


def test_a_place_is_in_the_new_schema_whichever_side_reads() -> None:
    known = history(avro(field("a"), field("gone")))

    outcome = planned(_OLD, known, Strategy.FORWARD)

    assert isinstance(outcome, RefusedSchema)
    (found,) = outcome.findings
    assert found.message.startswith("v0 cannot read messages of the new schema at 'gone'")
    assert found.location is not None
    assert found.location.file == "created.avsc"
    assert found.location.pointer in ("", "/fields")


def _place(found: Finding) -> tuple[str, str]:
    assert found.location is not None
    return found.rule, found.location.pointer


@pytest.mark.rule("PLAN-R001")
def test_a_refusal_without_a_part_to_blame_stands_at_the_definition() -> None:
    outcome = planned(INT64, history(STRING))

    assert isinstance(outcome, RefusedSchema)
    assert [_place(found) for found in outcome.findings] == [("PLAN-R001", "")]
    assert "409" in outcome.findings[0].message


def test_a_schema_that_is_invalid_for_its_type_is_refused_even_as_the_first() -> None:
    outcome = planned(info("text", SchemaType.INT64), SchemaHistory())

    assert isinstance(outcome, RefusedSchema)
    assert outcome.latest_version is None
    assert [_place(found) for found in outcome.findings] == [("PLAN-R001", "")]
    assert "422" in outcome.findings[0].message


@pytest.mark.rule("PLAN-R002")
def test_a_history_that_cannot_be_read_refuses_a_change() -> None:
    broken = info("no pair", SchemaType.KEY_VALUE)

    outcome = planned(pair("", "", "STRING", "STRING"), history(broken))

    assert isinstance(outcome, RefusedSchema)
    assert [found.rule for found in outcome.findings] == ["PLAN-R002"]


def test_a_poisoned_history_names_the_version_that_poisons_it() -> None:
    bad = avro(field("a", "int", default="text"))

    outcome = planned(_NEW, history(bad))

    assert isinstance(outcome, RefusedSchema)
    assert "v0 of this topic is not a valid schema" in outcome.findings[0].message


def test_a_definition_that_says_why_it_is_refused_says_it_alone() -> None:
    bad = info('{"type": "record", "name": "a-b", "fields": []}')
    (refusal,) = _refused_with(bad)
    why = refusal.message.rpartition("schema: ")[2]
    assert (refusal.rule, "'a-b' is not a name" in why) == ("PLAN-R001", True)

    said = make_finding("AVRO-P001", why, location=locate("/name"))
    assert _refused_with(bad, said) == (said,)
    worded = make_finding("AVRO-P001", "in other words", location=locate("/name"))
    assert _refused_with(bad, worded) == (worded,)
    other = make_finding("REPO-R022", "something else", location=locate("/name"))
    assert _refused_with(bad, other) == (refusal, other)
    lenient = replace(said, severity=Severity.WARNING)
    assert _refused_with(bad, lenient) == (refusal, lenient)


def _refused_with(bad: SchemaInfo, *content: Finding) -> tuple[Finding, ...]:
    outcome = planned(bad, SchemaHistory(), content=content)
    assert isinstance(outcome, RefusedSchema)
    return outcome.findings


_AT_B = make_finding("AVRO-P002", "invalid default", location=locate("/fields/1/name"))
_WARNING = make_finding("REPO-R023", "a warning", location=locate("/doc"))


def test_content_errors_hold_back_a_change_that_the_broker_would_take() -> None:
    outcome = planned(_NEW, history(_OLD), content=(_AT_B,))

    assert isinstance(outcome, RefusedSchema)
    assert outcome.findings == (_AT_B,)


def test_content_warnings_hold_back_nothing() -> None:
    assert isinstance(planned(_NEW, history(_OLD), content=(_WARNING,)), RegisterSchema)


def test_content_errors_do_not_hold_back_what_is_there() -> None:
    assert planned(_OLD, history(_OLD), content=(_AT_B,)) is None


def test_one_place_is_blamed_once() -> None:
    outcome = planned(_BREAKING, history(_OLD), Strategy.BACKWARD, (_AT_B, _WARNING))

    assert isinstance(outcome, RefusedSchema)
    assert [_place(found) for found in outcome.findings] == [
        ("AVRO-R002", "/fields/1/name"),
        ("AVRO-R002", "/fields/2/name"),
        ("REPO-R023", "/doc"),
    ]


_MORE = avro(field("a"), field("e", _ENUM))
_FEWER = avro(field("a"), field("e", {**_ENUM, "symbols": ["A"]}))


def _graded(rules: dict[str, Severity], strategy: Strategy = Strategy.FORWARD) -> TopicOutcome:
    return plan_topic(
        TopicCase(
            today=TODAY,
            topic=CREATED,
            desired=_FEWER,
            history=history(_MORE),
            strategy=strategy,
            line=PULSAR_4_0,
            locate=locate,
            rules=rules,
        )
    )


def test_what_pulsar_takes_and_readers_would_not_is_said_and_goes_on() -> None:
    outcome = _graded({})

    assert isinstance(outcome, RegisterSchema)
    (found,) = outcome.findings
    assert (found.rule, found.severity) == ("AVRO-W001", Severity.WARNING)
    assert found.location == locate("/fields/1/type/symbols")
    assert found.compared == Location(file="v0", pointer="/fields/1/type/symbols/1")


def test_a_certain_failure_holds_the_topic_back_where_the_strategy_promises_to_read() -> None:
    outcome = _graded({}, Strategy.FULL)

    assert isinstance(outcome, RefusedSchema)
    assert outcome.accepted
    assert outcome.waiver is not None
    assert outcome.waiver.effects == (
        "A waiver approves that messages are not read as they were written: AVRO-W001 at 'e'.",
    )
    assert [found.severity for found in outcome.findings] == [Severity.ERROR]


def test_a_configured_severity_counts_in_both_directions() -> None:
    for strategy in (Strategy.FULL, Strategy.FORWARD):
        outcome = _graded({"AVRO-W001": Severity.WARNING}, strategy)
        assert isinstance(outcome, RegisterSchema)
        assert [found.severity for found in outcome.findings] == [Severity.WARNING]


def test_a_rule_that_is_made_an_error_holds_the_topic_back() -> None:
    outcome = _graded({"AVRO-W001": Severity.ERROR})

    assert isinstance(outcome, RefusedSchema)
    assert outcome.accepted
    assert [found.severity for found in outcome.findings] == [Severity.ERROR]


def test_a_rule_about_readers_that_is_off_is_a_note() -> None:
    outcome = _graded({"AVRO-W001": Severity.OFF})

    assert isinstance(outcome, RegisterSchema)
    assert [found.severity for found in outcome.findings] == [Severity.INFO]


def test_what_pulsar_refuses_is_not_called_held_back() -> None:
    outcome = planned(_BREAKING, history(_OLD))

    assert isinstance(outcome, RefusedSchema)
    assert not outcome.accepted


def test_our_own_error_holds_back_what_pulsar_would_take() -> None:
    poison = make_finding("JSON-P001", "the old form", location=locate(""))

    outcome = planned(_OLD, history(), content=(poison,))

    assert isinstance(outcome, RefusedSchema)
    assert outcome.accepted
    assert outcome.findings == (poison,)


_PAIR = pair(record(), record())
_SEPARATED = replace(_PAIR, properties={**_PAIR.properties, "kv.encoding.type": "SEPARATED"})


def test_an_encoding_that_pulsar_does_not_see_is_said_of_what_it_ignores() -> None:
    outcome = planned(_SEPARATED, history(_PAIR), Strategy.ALWAYS_COMPATIBLE)

    assert isinstance(outcome, SchemaSwallowed)
    assert [(one.rule, one.severity) for one in outcome.findings] == [("KV-W001", Severity.WARNING)]


def test_a_broken_promise_that_pulsar_ignores_is_held_back_and_can_be_waived() -> None:
    case = TopicCase(
        today=TODAY,
        topic=CREATED,
        desired=_SEPARATED,
        history=history(_PAIR),
        strategy=Strategy.BACKWARD,
        line=PULSAR_4_0,
        locate=locate,
    )

    refused = plan_topic(case)
    assert isinstance(refused, RefusedSchema)
    assert refused.accepted
    assert all(change.ignored for change in refused.changes)
    assert [one.severity for one in refused.findings] == [Severity.ERROR]
    assert refused.waiver is not None
    assert refused.fingerprint in refused.waiver.text

    waived = replace(case, waivers=(waiver(refused.fingerprint),))
    outcome = plan_topic(waived)
    assert isinstance(outcome, SchemaSwallowed)
    assert outcome.waiver == "agreed"
    assert [one.severity for one in outcome.findings] == [Severity.INFO]
    assert list(topic_waiver_findings(waived, outcome)) == []


def _with_enum(*symbols: str, **more: str) -> SchemaInfo:
    kind = {"type": "enum", "name": "E", "symbols": list(symbols)}
    return avro(field("e", kind, default=symbols[0]), **more)


def test_messages_of_older_versions_are_there_to_be_read() -> None:
    held = history(_with_enum("A", "B"), avro())

    outcome = planned(_with_enum("A"), held, Strategy.BACKWARD)

    assert isinstance(outcome, RegisterSchema)
    (found,) = outcome.findings
    assert (found.rule, found.severity) == ("AVRO-W001", Severity.WARNING)
    assert "since v0, " in found.message
    assert found.compared is not None
    assert found.compared.file == "v0"


def test_a_transitive_strategy_promises_to_read_every_version() -> None:
    held = history(_with_enum("A", "B"), avro())

    outcome = planned(_with_enum("A"), held, Strategy.BACKWARD_TRANSITIVE)

    assert isinstance(outcome, RefusedSchema)
    (found,) = outcome.findings
    assert (found.rule, found.severity) == ("AVRO-W001", Severity.ERROR)
    assert "since v0, " in found.message


def test_what_an_earlier_version_broke_is_no_error_of_a_later_one() -> None:
    held = history(_with_enum("A", "B"), _with_enum("A"))
    desired = avro(
        field("e", {"type": "enum", "name": "E", "symbols": ["A"]}, default="A"),
        field("b", default=""),
    )

    outcome = planned(desired, held, Strategy.FULL_TRANSITIVE)

    assert isinstance(outcome, RegisterSchema)
    assert [(one.rule, one.severity) for one in outcome.findings] == [
        ("AVRO-W001", Severity.WARNING)
    ]


def test_a_transitive_strategy_promises_old_consumers_of_every_version_to_read() -> None:
    held = history(_with_enum("A"), avro())

    looser = planned(_with_enum("A", "B"), held, Strategy.FORWARD)
    outcome = planned(_with_enum("A", "B"), held, Strategy.FORWARD_TRANSITIVE)

    assert isinstance(looser, RegisterSchema)
    assert looser.findings == ()
    assert isinstance(outcome, RefusedSchema)
    assert [(one.rule, one.severity) for one in outcome.findings] == [("AVRO-W002", Severity.ERROR)]


def test_new_symbols_are_reported_once_under_a_transitive_strategy() -> None:
    held = history(_with_enum("A"), _with_enum("A", "B"))

    outcome = planned(_with_enum("A", "B", "C"), held, Strategy.FORWARD_TRANSITIVE)

    assert isinstance(outcome, RefusedSchema)
    (found,) = outcome.findings
    assert "'C'" in found.message
    assert "'B'" not in found.message


def test_what_is_swallowed_is_compared_with_the_latest_alone() -> None:
    held = history(_with_enum("A", "B"), avro(), _with_enum("A"))
    desired = _with_enum("A", doc="new")

    outcome = planned(desired, held, Strategy.BACKWARD)

    assert isinstance(outcome, SchemaSwallowed)
    assert outcome.findings == ()


def _captured(
    versions: SchemaHistory, messages: dict[int, int], new: SchemaInfo, strategy: Strategy
) -> list[str]:
    outcome = plan_topic(
        TopicCase(
            topic=CREATED,
            desired=new,
            history=versions,
            strategy=strategy,
            line=PULSAR_4_0,
            locate=locate,
            today=TODAY,
            observed=ObservedTopic(messages=messages),
        )
    )
    assert isinstance(outcome, RegisterSchema | RefusedSchema)
    return [one.message for one in outcome.findings if one.rule == "CLIENT-R014"]


_CANNOT = "captures had messages that consumers with the new schema cannot read: "
_INT, _LONG, _TEXT = (avro(field("a", type_)) for type_ in ("int", "long", "string"))


@pytest.mark.rule("CLIENT-R014")
@pytest.mark.parametrize("strategy", [Strategy.FORWARD, Strategy.BACKWARD])
def test_captured_messages_that_the_new_schema_cannot_read_are_counted(strategy: Strategy) -> None:
    """Accepted under FORWARD, refused under BACKWARD: the messages are the same."""
    new = avro(field("a", "string"), field("b", "string"))
    versions = history(_TEXT, _TEXT, after=3)

    assert _captured(versions, {3: 1180, 4: 47_033}, new, strategy) == [
        f"{_CANNOT}47,033 of v4 and 1,180 of v3"
    ]
    assert _captured(versions, {4: 1, 9: 5}, new, strategy) == [f"{_CANNOT}1 of v4"]


def test_captured_messages_that_can_be_read_or_could_not_before_are_not_counted() -> None:
    messages = {0: 5, 1: 5}
    assert _captured(history(_INT, _INT), messages, _LONG, Strategy.BACKWARD) == []
    before = history(_TEXT, _INT)
    assert _captured(before, messages, _LONG, Strategy.BACKWARD) == []


def test_of_several_kinds_of_event_only_the_own_kind_counts() -> None:
    other, same = avro(field("z"), name="Other"), avro(field("a", "int"))
    found = _captured(history(other, same), {0: 5, 1: 7}, _TEXT, Strategy.ALWAYS_COMPATIBLE)
    assert found == [f"{_CANNOT}7 of v1"]
