"""Decisions, histories and policies in a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitops.model.decision import Decision
from gitops.model.findings import Finding, Location
from gitops.model.names import TopicName
from gitops.model.plan import ChangeKind, SchemaChange
from gitops.model.policy import NamespacePolicies, TopicPolicies
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.rules import make_finding
from gitops.model.schema import SchemaEntry, SchemaHistory, SchemaInfo, SchemaType
from gitops.reports.text.decision import decision_report
from gitops.reports.text.history import history_report, policies_report
from gitops.reports.text.plain import safe, short
from gitops.repository.file_comparison import Comparison
from tests.support.consoles import shown, unwrapped
from tests.support.examples import examples
from tests.support.states import CREATED, ORDERS, STRING, avro, field, history

_REFUSED = Decision(accepted=False, status=409, reason="no")
_PLACE = Location(file="new.avsc", line=2, column=3, length=3)


def _compared(
    decision: Decision,
    findings: Sequence[Finding] = (),
    changes: Sequence[SchemaChange] = (),
    texts: Mapping[str, str] | None = None,
    old: tuple[str, ...] = ("old.avsc",),
) -> Comparison:
    return Comparison(
        strategy=Strategy.FULL,
        decision=decision,
        findings=tuple(findings),
        changes=tuple(changes),
        texts=dict(texts or {}),
        old=old,
    )


def test_several_old_files_are_named_once() -> None:
    text = shown(
        decision_report(
            _compared(Decision(accepted=True, version=0, known=True), old=("a.avsc", "b.avsc"))
        )
    )
    assert text == (
        "⚠ accepted as v0, which it equals: v1 stays the latest, and nothing changes\n"
        "    v0 a.avsc · v1 b.avsc\n"
    )


@pytest.mark.parametrize(
    ("decision", "text"),
    [
        (Decision(accepted=True, version=3), "✓ accepted under FULL as v3"),
        (Decision(accepted=True, version=1, known=True), "✓ accepted as v1, which it equals"),
        (_REFUSED, "✗ refused under FULL"),
    ],
)
def test_a_verdict(decision: Decision, text: str) -> None:
    assert shown(decision_report(_compared(decision))) == f"{text}\n"


@pytest.mark.parametrize(
    ("decision", "text"),
    [
        (
            Decision(accepted=True, version=0),
            "✓ accepted as v0, the first schema of a topic: nothing was compared",
        ),
        (_REFUSED, "✗ refused as the first schema of a topic"),
    ],
)
def test_a_verdict_on_a_first_schema_names_no_strategy(decision: Decision, text: str) -> None:
    assert shown(decision_report(_compared(decision, old=()))) == f"{text}\n"


def test_a_decision_with_its_changes_and_reasons() -> None:
    found = make_finding("AVRO-R002", "no default", location=_PLACE, hint="give one")
    change = SchemaChange(kind=ChangeKind.ADDED, path="b", after="int")
    texts = {"new.avsc": "{\n  bad\n}"}

    text = shown(decision_report(_compared(_REFUSED, [found], [change], texts)))

    assert text == (
        "✗ refused under FULL\n"
        "    + b   int\n"
        "\n"
        "new.avsc:2:3  AVRO-R002 error\n"
        "    no default\n"
        "    2 |   bad\n"
        "      |   ^^^\n"
        "    give one\n"
    )


def test_a_place_in_a_file_that_was_not_read_has_no_excerpt() -> None:
    found = make_finding("AVRO-R002", "no default", location=_PLACE)

    assert "|" not in shown(decision_report(_compared(_REFUSED, [found])))


def test_a_history_says_when_and_what_changed() -> None:
    entries = (
        SchemaEntry(version=3, info=avro(field("a")), timestamp=1_763_720_000_000),
        SchemaEntry(version=4, info=avro(field("a"), field("b", "int"))),
        SchemaEntry(version=5, info=STRING, timestamp=2**63 - 1),
    )

    text = shown(history_report(CREATED, SchemaHistory(entries=entries, next_version=6)))

    assert text == (
        "shop/orders/created\n"
        "v3  AVRO  2025-11-21 10:13:20 UTC\n"
        "v4  AVRO\n"
        "    + b   int\n"
        "v5  STRING  9223372036854775807 ms since 1970\n"
        "    ~ type   AVRO → STRING\n"
    )


def test_a_topic_without_a_schema_says_so() -> None:
    assert shown(history_report(CREATED, history())) == "shop/orders/created has no schema\n"


@pytest.mark.parametrize("width", [40, 60, 100, 160])
def test_policies(width: int) -> None:
    own = NamespacePolicies(
        schema_compatibility_strategy=Strategy.BACKWARD_TRANSITIVE,
        is_allow_auto_update_schema=False,
    )

    text = unwrapped(shown(policies_report(ORDERS, own, Strategy.BACKWARD_TRANSITIVE), width))

    assert "schemaCompatibilityStrategyBACKWARD_TRANSITIVE" in text
    assert "isAllowAutoUpdateSchemafalse" in text
    assert "thestrategyinforceBACKWARD_TRANSITIVE" in text


_HOSTILE = st.text(
    st.sampled_from("ab\x1b[2J\x00\x9b\r\n\t\u202e\u2066\u200b\ud800") | st.characters(),
    max_size=30,
)


@settings(max_examples=examples(60))
@given(_HOSTILE, st.sampled_from([40, 100]))
def test_no_word_reaches_the_terminal_raw(word: str, width: int) -> None:
    topic = TopicName(ORDERS, f"t{word.replace('/', '')}")
    info = SchemaInfo(type=SchemaType.AVRO, schema=word, properties={word: word})
    found = make_finding("AVRO-R002", word, location=Location(file=word), hint=word)
    change = SchemaChange(kind=ChangeKind.CHANGED, path=word, before=word, after="x", note=word)
    reports = (
        history_report(topic, history(STRING, info)),
        history_report(topic, history()),
        policies_report(topic, TopicPolicies(), Strategy.FULL),
        decision_report(_compared(_REFUSED, [found], [change], {word: word})),
    )

    for report in reports:
        text = shown(report, width)
        assert text.encode()
        assert not {"\x1b", "\x9b", "\x00", "\r", "\t", "\u202e", "\u2066"} & set(text)


@pytest.mark.slow
@given(_HOSTILE)
def test_safe_text_says_what_was_escaped(word: str) -> None:
    assert safe(word).isprintable() or {c for c in safe(word) if not c.isprintable()} <= _SPACES
    assert safe(safe(word)) == safe(word)
    assert len(safe(word)) >= len(word)


_SPACES = {chr(code) for code in range(0x3001) if chr(code).isspace()} - {"\n", "\r", "\t"}


def test_a_short_text_is_whole_and_a_long_one_says_how_much_is_missing() -> None:
    assert short("x" * 300) == "x" * 300
    assert short("x" * 301) == f"{'x' * 150} … 1 more … {'x' * 150}"
    assert short("é\x1b") == "é\\x1b"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("##[set-output name=a;]b", "##\\x5bset-output name=a;]b"),
        ("::stop-commands::x", ":\\x3astop-commands:\\x3ax"),
        ("a::b", "a:\\x3ab"),
        ("[::1]:8080, 14:7: no", "[::1]:8080, 14:7: no"),
    ],
)
def test_no_text_is_a_command_in_the_log_of_a_workflow(text: str, shown: str) -> None:
    assert safe(text) == shown
