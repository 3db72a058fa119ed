"""A rollout in words, in a terminal and as a list to tick off."""

from __future__ import annotations

from dataclasses import replace

from gitops.model.check import CheckReport, History, HistorySource, Impact, RegistryCheck
from gitops.model.findings import Severity
from gitops.model.names import TopicName
from gitops.model.plan import Plan, RegisterSchema
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.rollout import (
    Block,
    Constraint,
    Delete,
    Drain,
    Migration,
    OrderedStep,
    Register,
    Rollout,
    Upgrade,
)
from gitops.model.rules import make_finding
from gitops.reports.json.check import rollout_document
from gitops.reports.markdown.sections import rollout_items
from gitops.reports.rollout_wording import lines, migration_lines
from gitops.reports.text.rollout import rollouts_report
from tests.support.consoles import shown as plain
from tests.support.states import STRING

_TOPIC = TopicName.parse("a/b/c")
_UPGRADE, _DRAIN = Upgrade("billing"), Drain(_TOPIC, 0)
_WAIT = Constraint(first=_DRAIN, then=_UPGRADE, reason="it cannot read v0", topic=_TOPIC)
_ORDERED = Rollout(
    steps=(
        OrderedStep(step=Register(_TOPIC, 1), wave=0),
        OrderedStep(step=_DRAIN, wave=1),
        OrderedStep(step=_UPGRADE, wave=2, waits_for=(_WAIT,)),
        OrderedStep(step=Delete(_TOPIC), wave=3),
    ),
    sides={"billing": ("consumer of a/b/c",)},
    may_stay=frozenset({"billing"}),
    strategies={_TOPIC: Strategy.FORWARD},
)
_BLOCKED = Rollout(
    blocks=(Block(reason="each waits", steps=(_UPGRADE,), topics=(_TOPIC,)),),
    migrations=(Migration(topic=_TOPIC, to=TopicName.parse("a/b/c-v2"), consumers=("billing",)),),
    broken=("audit cannot read",),
    refused=(_TOPIC,),
    strategies={_TOPIC: Strategy.ALWAYS_INCOMPATIBLE},
)


_PLAN = Plan(registry="local", address="x.db", files="")
_WARNED = replace(
    _PLAN,
    actions=(
        RegisterSchema(
            topic=_TOPIC,
            info=STRING,
            version=1,
            latest_version=0,
            strategy=Strategy.BACKWARD,
            findings=(
                make_finding("PROTO-W004", "at 'quantity': int32 becomes string"),
                make_finding("PROTO-W004", "at 'total': int32 becomes string"),
                replace(make_finding("PROTO-W007", "a name"), severity=Severity.INFO),
            ),
        ),
    ),
)


def _report(rollout: Rollout, plan: Plan = _PLAN) -> CheckReport:
    one = RegistryCheck(
        plan=plan,
        history=History(source=HistorySource.REGISTRY),
        rollout=rollout,
    )
    return CheckReport(
        base="", head="", reference="ma in", files="", touched=Impact(), registries=(one,)
    )


def test_each_step_is_a_sentence() -> None:
    assert [line.text for line in lines(_ORDERED, _PLAN)] == [
        "register v1 of a/b/c",
        "wait until no message of v0 is left in a/b/c",
        "upgrade billing (consumer of a/b/c)",
        "delete the schema of a/b/c",
    ]
    register, drain, upgrade, delete = lines(_ORDERED, _PLAN)
    assert register.advice.startswith("FORWARD: producers upgrade first; then wait")
    assert "pulsar-admin namespaces get-retention a/b" in drain.advice
    assert "pulsar-admin topics stats a/b/c" in drain.advice
    assert (upgrade.note, upgrade.reasons) == ("can stay behind", ("it cannot read v0",))
    assert upgrade.advice == ""
    assert delete.advice.startswith("messages that are left would lose their schema")
    assert delete.advice.endswith("stats a/b/c); then `pulsar-gitops plan --prune`")


def test_who_leaves_a_topic_is_told_to_look_first() -> None:
    _, _, upgrade, _ = lines(replace(_ORDERED, left={"billing": (_TOPIC,)}), _PLAN)
    assert upgrade.advice == (
        "first see that it has read what is left there: pulsar-admin topics stats a/b/c"
    )


def test_a_terminal_has_all_of_it() -> None:
    shown = plain(rollouts_report(_report(_ORDERED)))
    assert "  3  upgrade billing (consumer of a/b/c)   can stay behind\n" in shown
    assert "     since it cannot read v0\n" in shown


def test_what_a_rule_warns_of_stands_at_the_registration() -> None:
    said = "in whatever order, PROTO-W004 warns: at 'quantity': int32 becomes string"
    told = " ".join(plain(rollouts_report(_report(_ORDERED, _WARNED))).split())
    assert f"⚠ {said} (`pulsar-gitops explain PROTO-W004`) 2 wait" in told
    first, *others = rollout_items(_report(_ORDERED, _WARNED))
    assert "⚠ in whatever order, PROTO-W004 warns" in first
    assert not any("⚠" in item for item in others)


def test_of_many_reasons_the_first_are_shown_and_the_others_counted() -> None:
    waits = tuple(replace(_WAIT, reason=f"s{number} cannot read v0") for number in range(1200))
    many = Rollout(steps=(OrderedStep(step=_UPGRADE, wave=0, waits_for=waits),))
    shown = plain(rollouts_report(_report(many)))
    assert "since s2 cannot read v0\n     and 1,197 more of the kind\n" in shown
    assert "s3 " not in shown
    (item,) = rollout_items(_report(many))
    assert "since s0 cannot read v0<br>\n      and 1,199 more of the kind\n" in item
    assert len(rollout_document(many)["steps"][0]["reasons"]) == len(waits)


def test_what_blocks_comes_with_the_way_and_its_command() -> None:
    shown = plain(rollouts_report(_report(_BLOCKED)))
    assert "! it does not work now: audit cannot read" in shown
    assert "✗ Pulsar refuses the new schema of a/b/c (ALWAYS_INCOMPATIBLE: nobody" in shown
    assert "✗ no safe order: each waits" in shown
    assert "the way to a new topic, a/b/c-v2:" in shown
    assert "pulsar-gitops rollout --base 'ma in' --migrate" in shown


def test_a_pull_request_has_a_list_to_tick_off() -> None:
    items = rollout_items(_report(_ORDERED))
    assert [item[:9] for item in items] == ["- [ ] 1. ", "- [ ] 2. ", "- [ ] 3. ", "- [ ] 4. "]
    assert "since it cannot read v0" in items[2]
    assert "can stay behind" in items[2]


def test_a_pull_request_without_an_order_is_told_the_way() -> None:
    block, way, *steps = rollout_items(_report(_BLOCKED))
    assert block == "- ✗ no safe order: each waits\n"
    assert "`a/b/c-v2`" in way
    assert "--migrate" in way
    assert len(steps) == len(list(migration_lines(_BLOCKED.migrations[0])))
    assert steps[1].startswith("  - [ ] 2. upgrade billing: consume a/b/c-v2 beside a/b/c")
    assert "all producers" in steps[2]


def test_json_has_the_same() -> None:
    document = rollout_document(_ORDERED)
    assert [step["kind"] for step in document["steps"]] == [
        "register",
        "drain",
        "upgrade",
        "delete",
    ]
    assert [bool(step["advice"]) for step in document["steps"]] == [True, True, False, True]
    (way,) = rollout_document(_BLOCKED)["migrations"]
    assert [step["kind"] for step in way["steps"]] == [
        "create",
        "consumeBoth",
        "produce",
        "drain",
        "consumeNew",
        "delete",
    ]
