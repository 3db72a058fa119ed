"""Plans in terminals of every width, whatever names and values they hold."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from gitops.model.findings import Location
from gitops.model.names import NamespaceName, TopicName
from gitops.model.plan import (
    Action,
    ChangeKind,
    CreateNamespace,
    DeleteSchema,
    Plan,
    RefusedSchema,
    RegisterSchema,
    SchemaChange,
    SchemaSwallowed,
    SetPolicy,
)
from gitops.model.policy import PolicyChange
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.rules import make_finding
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.model.waivers import WaiverProposal
from gitops.planning.plan import subject_of
from gitops.planning.plan_document import to_document
from gitops.reports.text.plan import plan_report
from tests.support.consoles import shown, unwrapped
from tests.support.examples import examples
from tests.support.plans import CHANGED, EVERYTHING, OTHER, REFUSAL
from tests.support.states import ORDERS, STRING

_GOLDEN = Path(__file__).parents[1] / "golden"
_WIDTHS = [40, 60, 100, 160]


def _excerpt(where: Location) -> str:
    assert where.file.endswith("captured.avsc")
    return '      "name": "currency", "type": "string"'


def _text(plan: Plan, width: int = 100, *, color: bool = False) -> str:
    report = plan_report(plan, _excerpt, files="files 4f1c9e2 (main, clean)", seconds=2.14)
    return shown(report, width, color=color)


@pytest.mark.parametrize("width", [40, 100])
def test_a_plan_looks_as_it_should(width: int) -> None:
    golden, text = _GOLDEN / f"plan-{width}.txt", _text(EVERYTHING, width)
    if os.environ.get("UPDATE_DOCS"):
        golden.write_text(text, encoding="utf-8")

    assert text == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ("a", "1 unmanaged topic (in the registry, not in git): pulsar-gitops import adopts it"),
        ("abc", "3 unmanaged topics (in the registry, not in git): pulsar-gitops import adopts"),
    ],
)
def test_unmanaged_topics_are_all_named(names: str, said: str) -> None:
    plan = replace(
        EVERYTHING,
        unmanaged=tuple(TopicName(ORDERS, name) for name in names),
        observed={"namespace shop/orders": "0" * 64},
    )

    lines = _text(plan, 160).splitlines()

    assert lines[-3].startswith(said)
    assert lines[-2] == f"    shop/orders   {', '.join(names)}"
    assert "unchanged" in lines[-1]


def test_however_many_topics_are_unmanaged_each_has_its_name() -> None:
    names = [f"topic-{number}" for number in range(300)]
    topics = [TopicName(ORDERS, name) for name in names]
    plan = replace(EVERYTHING, unmanaged=tuple(topics), observed={"namespace shop/orders": ""})

    assert set(names) <= set(re.findall(r"topic-\d+", _text(plan, 60)))


def test_a_plan_that_prunes_does_not_offer_to_prune() -> None:
    plan = replace(
        EVERYTHING,
        prune=True,
        unmanaged=(TopicName(ORDERS, "a"),),
        observed={"namespace shop/orders": ""},
    )

    assert "pulsar-gitops import adopts it\n" in _text(plan, 160)


def test_namespaces_that_earlier_files_had_are_named_with_their_topics() -> None:
    plan = replace(
        EVERYTHING,
        unmanaged=(TopicName(ORDERS, "a"), TopicName(ORDERS, "b", "non-persistent")),
        unmanaged_namespaces=(ORDERS, NamespaceName("shop", "payments")),
        without_schema=2,
        limits=("Topics that only earlier files named are unknown: the clone is shallow.",),
        observed={},
    )

    head, *rest = _text(plan, 160).splitlines()[-6:-1]

    assert head.startswith("2 unmanaged namespaces (earlier files had them): ")
    assert "pulsar-gitops import shop/orders shop/payments adopts them" in head
    assert rest == [
        "    shop/orders     a, non-persistent://shop/orders/b",
        "    shop/payments",
        "2 topics without a manifest have no schema",
        "Topics that only earlier files named are unknown: the clone is shallow.",
    ]


def test_namespaces_whose_topics_cannot_be_listed_are_named() -> None:
    text = _text(replace(EVERYTHING, unlisted=(ORDERS,)), 160)

    assert "unknown where none can be listed or read: shop/orders\n" in text


@pytest.mark.parametrize("width", _WIDTHS)
def test_nothing_is_lost_and_nothing_is_too_wide(width: int) -> None:
    text = _text(EVERYTHING, width)
    joined = unwrapped(text)
    said = [
        *(str(subject_of(action)) for action in EVERYTHING.actions),
        *(str(notice.topic) for notice in EVERYTHING.notices),
        *(found.rule for found in EVERYTHING.findings),
        *(found.message for found in EVERYTHING.findings),
        REFUSAL.hint,
        str(REFUSAL.location),
        "FULL → BACKWARD",
        "BACKWARD → BACKWARD_TRANSITIVE",
        "– → true",
        "int → long",
        "[null, string] = null",
        "legacy.code",
        "v3 → v4",
        "new → v0",
        "v5 → deleted",
        "v7 → refused",
        "production",
        "http://pulsar.acme:8080",
        "214 topics, 2 namespaces",
        "files 4f1c9e2 (main, clean)",
        "208 unchanged",
        "2.1 s",
    ]

    assert [one for one in said if unwrapped(one) not in joined] == []
    assert max(map(cell_len, text.split("\n"))) <= width


@pytest.mark.parametrize("width", _WIDTHS)
def test_colour_adds_no_word(width: int) -> None:
    plain, coloured = _text(EVERYTHING, width), _text(EVERYTHING, width, color=True)

    assert "\x1b[" in coloured
    assert "\x1b" not in plain
    without = "".join(part.partition("m")[2] for part in f"m{coloured}".split("\x1b["))
    assert [line.rstrip() for line in without.split("\n")] == plain.split("\n")


def test_an_empty_plan_says_so() -> None:
    plan = Plan(registry="local", address="registry.db", files="sha256:0", topics=1, unchanged=1)

    text = _text(plan)

    assert text == (
        "✓ No schema changes\n"
        "\n"
        "local · registry.db · 1 topic, 0 namespaces · files 4f1c9e2 (main, clean)\n"
        "\n"
        "1 unchanged   2.1 s\n"
    )


def test_a_policy_beside_a_deletion_is_shown() -> None:
    plan = replace(EVERYTHING, actions=EVERYTHING.actions[-1:], notices=(), findings=())

    assert "3 versions: their messages lose their schema" in _text(plan)


def test_a_first_schema_that_is_refused_is_called_new() -> None:
    notice = RefusedSchema(
        topic=TopicName(ORDERS, "x"),
        info=STRING,
        latest_version=None,
        strategy=Strategy.FULL,
        findings=(OTHER,),
    )

    text = _text(replace(EVERYTHING, actions=(), notices=(notice,), findings=(OTHER,)))

    assert "new → refused" in text
    assert text.count(OTHER.message) == 1


def test_a_long_list_of_changes_says_what_is_left_out() -> None:
    changes = tuple(
        SchemaChange(kind=ChangeKind.ADDED, path=f"field{i}", after="int") for i in range(45)
    )
    action = replace(CHANGED, changes=changes)

    text = _text(replace(EVERYTHING, actions=(action,), notices=(), findings=()))

    assert "field39" in text
    assert "field40" not in text
    assert "… 5 more changes" in text


def test_a_long_value_is_cut_in_the_middle_and_says_so() -> None:
    change = SchemaChange(kind=ChangeKind.CHANGED, path="p", before="a" * 900, after="b")
    action = replace(CHANGED, changes=(change,))

    text = _text(replace(EVERYTHING, actions=(action,), notices=(), findings=()), 160)

    assert "600 more" in text
    assert text.count("a") < 500


# ------------------------------------------------------------------ hostile words

HOSTILE = st.text(
    st.sampled_from("ab \t\r\n\x00\x07\x1b[31m\x7f\x9b\u202e\u2066\u2028\u200b\u0301é漢字🎉\ud800")
    | st.characters(),
    max_size=40,
)
_TOPICS = HOSTILE.map(lambda text: TopicName(ORDERS, f"t{text.replace('/', '')}"))
_ALLOWED = {"\n"}


def _odd(text: str) -> set[str]:
    return {char for char in text if not char.isprintable()} - _ALLOWED - _BLANKS


_BLANKS = {chr(code) for code in range(0x10000) if chr(code).isspace() and code > 0x9F} - {
    "\u2028",
    "\u2029",
}
"""Blanks that only take room."""


@pytest.mark.slow
@settings(max_examples=examples(60))
@given(_TOPICS, HOSTILE, HOSTILE, st.sampled_from(_WIDTHS))
def test_no_word_of_a_file_or_a_registry_reaches_the_terminal_raw(
    topic: TopicName, word: str, other: str, width: int
) -> None:
    change = SchemaChange(kind=ChangeKind.CHANGED, path=word, before=other, after=word, note=other)
    place = Location(file=f"a/{word}", line=1, column=3, length=2)
    found = replace(
        make_finding("AVRO-R002", word, location=place, subject=word, hint=other),
        compared=replace(place, pointer=word),
        patch=f"--- a/{word}\n+++ b/{word}\n-{word}\n+{other}\n",
    )
    info = SchemaInfo(type=SchemaType.AVRO, schema=word, properties={word: other})
    strategy = Strategy.FULL
    plan = Plan(
        registry=word,
        address=other,
        files=word,
        actions=(
            RegisterSchema(
                topic=topic,
                info=info,
                version=1,
                latest_version=0,
                strategy=strategy,
                changes=(change,),
                findings=(found,),
            ),
            DeleteSchema(topic=replace(topic, local_name="x"), versions=(0,)),
        ),
        notices=(
            SchemaSwallowed(topic=topic, version=1, changes=(change,)),
            RefusedSchema(
                topic=topic,
                info=info,
                latest_version=0,
                strategy=strategy,
                findings=(found,),
                changes=(change,),
                waiver=WaiverProposal(file=f"waivers/{other}.yaml", text=word),
            ),
        ),
        findings=(found,),
    )

    report = plan_report(plan, lambda _where: f"{word}{other}", files=other, seconds=0)
    text = shown(report, width)

    assert _odd(text) == set()
    assert text.encode()
    assert to_document(plan)["digest"]


def test_what_a_rule_of_ours_holds_back_is_not_called_refused_by_pulsar() -> None:
    (refused,) = (one for one in EVERYTHING.notices if isinstance(one, RefusedSchema))
    plan = replace(EVERYTHING, notices=(replace(refused, accepted=True),))

    text = _text(plan, 100)

    assert "v7 → held back" in text
    assert "Pulsar would accept it" in text
    assert "1 held back" in text
    assert "refused" not in text


def test_the_steps_for_a_schema_that_pulsar_would_refuse_stand_in_order() -> None:
    key, opened, topic = "schemaCompatibilityStrategy", Strategy.ALWAYS_COMPATIBLE, CHANGED.topic
    enforce = PolicyChange(key="schemaValidationEnforced", before=None, after=True)
    loosen = PolicyChange(key=key, before=Strategy.FULL, after=opened)
    back = PolicyChange(key=key, before=opened, after=Strategy.FULL)
    actions = (
        SetPolicy(subject=topic, change=enforce),
        SetPolicy(subject=topic, change=loosen, waiver="agreed"),
        replace(CHANGED, waiver="agreed", accepted=False, changes=()),
        SetPolicy(subject=topic, change=back, waiver="agreed"),
    )

    text = _text(replace(EVERYTHING, actions=actions, notices=(), findings=()), 100)

    assert [" ".join(line.split()) for line in text.splitlines()][4:9] == [
        "~ shop/orders/order-created AVRO v3 → v4 BACKWARD_TRANSITIVE waived",
        "1. schemaValidationEnforced – → true set",
        "2. schemaCompatibilityStrategy FULL → ALWAYS_COMPATIBLE for this schema only",
        "3. register v4",
        "4. schemaCompatibilityStrategy ALWAYS_COMPATIBLE → FULL set back",
    ]


def test_namespaces_with_the_same_policies_share_one_list_of_them() -> None:
    strategy = PolicyChange(key="schemaCompatibilityStrategy", before=None, after=Strategy.FULL)
    other = replace(strategy, after=Strategy.BACKWARD)
    names = [NamespaceName("shop", name) for name in "abcd"]
    made = [CreateNamespace(namespace=name) for name in names]
    given = zip(names, (strategy, strategy, strategy, other), strict=True)
    actions: tuple[Action, ...] = (
        *made,
        *(SetPolicy(subject=name, change=change) for name, change in given),
    )

    text = _text(replace(EVERYTHING, actions=actions, notices=(), findings=()), 100)

    assert [" ".join(line.split()) for line in text.splitlines()][4:12] == [
        "3 namespaces with the same change:",
        "schemaCompatibilityStrategy – → FULL set",
        "+ shop/a namespace",
        "+ shop/b namespace",
        "+ shop/c namespace",
        "",
        "+ shop/d namespace",
        "schemaCompatibilityStrategy – → BACKWARD set",
    ]
