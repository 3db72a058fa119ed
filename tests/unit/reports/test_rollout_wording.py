"""A rollout in words: what people do, in a terminal and as a list to tick off."""

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
    Move,
    OrderedStep,
    Register,
    Role,
    Rollout,
    Side,
    Step,
    Upgrade,
)
from gitops.model.rollout_reason import Cause, Reason
from gitops.model.rules import make_finding
from gitops.reports.json.check import rollout_document
from gitops.reports.markdown.sections import rollout_items
from gitops.reports.rollout_wording import Line, block_lines, lines, migration_lines
from gitops.reports.text.rollout import rollouts_report
from tests.support.consoles import shown as plain
from tests.support.states import STRING

_TOPIC = TopicName.parse("a/b/c")
_UPGRADE, _DRAIN = Upgrade("billing"), Drain(_TOPIC, 0)
_REASON = Reason(state="new", clients=("billing",), verb="cannot read", rest="v0")
_WAIT = Constraint(first=_DRAIN, then=_UPGRADE, reason=_REASON, topic=_TOPIC)


def _after(first: Step, then: Step, reason: Reason = _REASON) -> Constraint:
    return Constraint(first=first, then=then, reason=reason, topic=_TOPIC)


_ORDERED = Rollout(
    steps=(
        OrderedStep(step=Register(_TOPIC, 1), wave=0),
        OrderedStep(step=_DRAIN, wave=1, waits_for=(_after(Register(_TOPIC, 1), _DRAIN),)),
        OrderedStep(step=_UPGRADE, wave=2, waits_for=(_WAIT,)),
        OrderedStep(step=Delete(_TOPIC), wave=3),
    ),
    sides={"billing": (Side(role=Role.CONSUMER, topic=_TOPIC),)},
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
        base="4d7f2a9", head="", reference="ma in", files="", touched=Impact(), registries=(one,)
    )


def _lines(rollout: Rollout, plan: Plan = _PLAN) -> list[Line]:
    return list(lines(rollout, plan))


def _texts(rollout: Rollout) -> list[str]:
    return [line.text for line in _lines(rollout)]


def _upgrades(names: str, *sides: Side, may_stay: str = "") -> Rollout:
    steps = tuple(OrderedStep(step=Upgrade(name), wave=0) for name in names)
    return Rollout(steps=steps, sides=dict.fromkeys(names, sides), may_stay=frozenset(may_stay))


def _registers(*versions: int) -> Rollout:
    steps = (Register(TopicName.parse(f"a/b/t{n}"), v) for n, v in enumerate(versions))
    return Rollout(steps=tuple(OrderedStep(step=step, wave=0) for step in steps))


def test_each_act_is_a_line() -> None:
    assert _texts(_ORDERED) == [
        "merge: registers v1 of a/b/c",
        "wait until no message of v0 is left in a/b/c",
        "upgrade billing (consumer of a/b/c)",
        "delete the schema of a/b/c",
    ]
    register, drain, upgrade, delete = _lines(_ORDERED)
    assert register.advice[0].startswith(
        "no client of a/b/c is declared; by FORWARD, producers upgrade first; then wait"
    )
    assert "pulsar-admin namespaces get-retention a/b" in drain.advice[0]
    assert "pulsar-admin topics stats a/b/c" in drain.advice[0]
    assert [one.sentence() for one in upgrade.reasons] == ["The new billing cannot read v0"]
    assert upgrade.advice == ()
    assert delete.advice[0].startswith("messages that are left would lose their schema")
    assert delete.advice[0].endswith("stats a/b/c); then `pulsar-gitops plan --prune`")


def test_what_a_merge_registers_is_named_or_counted() -> None:
    assert _texts(_registers(1, 1)) == ["merge: registers v1 of a/b/t0 and a/b/t1"]
    assert _texts(_registers(1, 0)) == ["merge: registers v1 of a/b/t0 and v0 of a/b/t1"]
    assert _texts(_registers(*[1] * 11)) == ["merge: registers v1 of 11 topics"]
    assert _texts(_registers(2, 1, 1, 0)) == [
        "merge: registers v2 of a/b/t0; v1 of 2 topics; v0 of a/b/t3"
    ]


def test_who_upgrades_together_is_one_line_with_its_sides() -> None:
    reads, writes = (Side(role=role, topic=_TOPIC) for role in Role)
    other = replace(reads, topic=TopicName.parse("a/b/d"))
    assert _texts(_upgrades("a", reads, other, writes)) == [
        "upgrade a (consumer of a/b/c and a/b/d, producer of a/b/c)"
    ]
    assert _texts(_upgrades("abc", reads)) == ["upgrade a, b and c (consumers), in any order"]
    assert _texts(_upgrades("ab", reads, writes)) == [
        "upgrade a and b (consumers and producers), in any order"
    ]
    both = {"a": (writes,), "b": (reads,), "c": (writes,), "d": (replace(reads, leaves=True),)}
    assert _texts(replace(_upgrades("abcd"), sides=both)) == [
        "upgrade a and c (producers), b (consumer), d (no longer consumer), in any order"
    ]
    assert "k, l" not in (text := _texts(_upgrades("abcdefghijklmnop", reads))[0])
    assert "i, j and 6 more (consumers), in any order" in text


def test_who_may_upgrade_is_the_last_line() -> None:
    assert _texts(_upgrades("a", may_stay="a")) == ["nobody has to upgrade; a may"]
    assert _texts(_upgrades("abcdef", may_stay="abcdef")) == [
        "nobody has to upgrade; a, b, c and 3 more may, in any order"
    ]
    assert _texts(_upgrades("abc", may_stay="bc")) == [
        "upgrade a",
        "b and c may upgrade, in any order",
    ]


def test_the_second_part_of_an_upgrade_may_come_at_the_end() -> None:
    writes = Side(role=Role.PRODUCER, topic=_TOPIC)
    later = replace(_upgrades("ab", may_stay="b"), later={"a": (writes,)})
    assert _texts(later)[-1] == "b and a (producer) may upgrade, in any order"


def test_what_cannot_be_one_merge_is_named_in_two() -> None:
    first, second = (Register(TopicName.parse(f"a/b/{name}"), 1) for name in "de")
    steps = (
        OrderedStep(step=first, wave=0),
        OrderedStep(step=_UPGRADE, wave=1, waits_for=(_after(first, _UPGRADE),)),
        OrderedStep(step=second, wave=2, waits_for=(_after(_UPGRADE, second),)),
    )
    assert _texts(Rollout(steps=steps)) == [
        "merge a first pull request: registers v1 of a/b/d",
        "upgrade billing",
        "merge a second pull request: registers v1 of a/b/e",
    ]


def test_notes_are_shown_above_the_steps() -> None:
    note = "the cluster also has brokers of 4.2.4"
    shown = plain(rollouts_report(_report(replace(_ORDERED, notes=(note,)))))

    assert f"  ! {note}\n" in shown


def test_after_a_merge_it_is_apply_that_registers() -> None:
    shown = plain(rollouts_report(replace(_report(_ORDERED), base="")))
    assert "  1  apply: registers v1 of a/b/c\n" in shown


def test_equal_reasons_are_one_and_told_once() -> None:
    register, upgrade = Register(_TOPIC, 1), Upgrade("checkout")

    def locked(name: str) -> Reason:
        cause = Cause(text="a reader of int cannot read long", path="q", writer="v1")
        return Reason(state="current", clients=(name,), verb="cannot reconnect", cause=cause)

    again = [replace(locked(name), verb="cannot read", rest="it") for name in "ab"]
    steps = (
        *(OrderedStep(step=Upgrade(name), wave=0) for name in "ab"),
        OrderedStep(
            step=register,
            wave=1,
            waits_for=tuple(_after(Upgrade(name), register, locked(name)) for name in "ab"),
        ),
        OrderedStep(
            step=upgrade,
            wave=2,
            waits_for=tuple(
                _after(Upgrade(n), upgrade, r) for n, r in zip("ab", again, strict=True)
            ),
        ),
    )
    reasons = [[one.sentence() for one in line.reasons] for line in _lines(Rollout(steps=steps))]
    assert reasons == [
        [],
        ["The current a and b cannot reconnect: they read int, v1 writes long (q)"],
        [],
    ]
    document = rollout_document(Rollout(steps=steps), _PLAN)
    assert len(document["steps"][-1]["reasons"]) == len("ab")
    assert document["lines"][1]["reasons"] == reasons[1]


def test_who_leaves_a_topic_is_told_to_look_first() -> None:
    _, _, upgrade, _ = _lines(replace(_ORDERED, left={"billing": (_TOPIC,)}))
    assert upgrade.advice == (
        "first see that nothing is left to read: pulsar-admin topics stats a/b/c",
    )


def test_a_terminal_has_all_of_it_and_keeps_the_indent() -> None:
    shown = plain(rollouts_report(_report(_ORDERED)))
    assert "  3  upgrade billing (consumer of a/b/c)\n" in shown
    assert "     The new billing cannot read v0\n" in shown
    for width in (60, 80):
        *_, wait, _, _ = plain(rollouts_report(_report(_ORDERED)), width=width).split("\n  ")
        assert all(line.startswith("     ") for line in wait.splitlines()[1:])


def test_what_a_rule_warns_of_stands_at_the_registration() -> None:
    said = "regardless of order, PROTO-W004 warns: at 'quantity': int32 becomes string"
    told = " ".join(plain(rollouts_report(_report(_ORDERED, _WARNED))).split())
    assert f"⚠ {said} (`pulsar-gitops explain PROTO-W004`) 2 wait" in told
    first, *others = rollout_items(_report(_ORDERED, _WARNED))
    assert "⚠ regardless of order, PROTO-W004 warns" in first
    assert not any("⚠" in item for item in others)


def test_of_many_reasons_the_first_are_shown_and_the_others_counted() -> None:
    waits = tuple(
        replace(_WAIT, reason=replace(_REASON, clients=(f"s{number}",), rest=f"v{number}"))
        for number in range(1200)
    )
    steps = tuple(OrderedStep(step=one.step, wave=0) for one in _ORDERED.steps[:2])
    upgrade = OrderedStep(step=_UPGRADE, wave=1, waits_for=waits)
    *_, line = _lines(Rollout(steps=(*steps, upgrade)))
    assert line.remarks[2:] == ("The new s2 cannot read v2", "and 1,197 more like this")
    assert len(line.reasons) == len(waits)


def test_what_blocks_comes_with_the_way_and_its_command() -> None:
    shown = plain(rollouts_report(_report(_BLOCKED)))
    assert "! it does not work now: audit cannot read" in shown
    assert "✗ Pulsar refuses the new schema of a/b/c (ALWAYS_INCOMPATIBLE: nobody" in shown
    assert "✗ no safe order: each waits" in shown
    assert "alternative: move to a/b/c-v2:" in shown
    assert "pulsar-gitops rollout --base 'ma in' --migrate" in shown


def test_a_pull_request_has_a_list_to_tick_off() -> None:
    items = rollout_items(_report(_ORDERED))
    assert [item[:9] for item in items] == ["- [ ] 1. ", "- [ ] 2. ", "- [ ] 3. ", "- [ ] 4. "]
    assert "The new billing cannot read v0" in items[2]


def test_folded_lines_of_other_names_are_other_steps() -> None:
    """Their words are equal, so that a tick would survive."""
    (one,), (other,) = (
        rollout_items(_report(_upgrades(names, may_stay=names))) for names in ("abcdefg", "abcdefh")
    )
    assert one != other
    assert one.partition(" <!-- ")[0] == other.partition(" <!-- ")[0]
    (short,) = rollout_items(_report(_upgrades("ab", may_stay="ab")))
    assert "<!--" not in short


def test_a_pull_request_without_an_order_is_told_the_alternative_in_one_line() -> None:
    block, way = rollout_items(_report(_BLOCKED))
    assert block == "- ✗ no safe order: each waits\n"
    assert way == (
        "- Alternative for what is refused: move to a/b/c-v2 (`pulsar-gitops rollout --base "
        "'ma in' --migrate` writes the manifests)\n"
    )


def test_json_has_the_same() -> None:
    document = rollout_document(_ORDERED, _PLAN)
    assert [step["kind"] for step in document["steps"]] == [
        "register",
        "drain",
        "upgrade",
        "delete",
    ]
    assert [bool(step["advice"]) for step in document["steps"]] == [True, True, False, True]
    assert [line["steps"] for line in document["lines"]] == [[0], [1], [2], [3]]
    assert [line["text"] for line in document["lines"]] == _texts(_ORDERED)
    (way,) = rollout_document(_BLOCKED, _PLAN)["migrations"]
    assert [step["kind"] for step in way["steps"]] == [move.value for move in Move]
    assert [step["text"] for step in way["steps"]] == [
        text for _, text in migration_lines(_BLOCKED.migrations[0])
    ]


def test_reasons_that_findings_have_are_not_repeated() -> None:
    topics = [TopicName.parse(f"shop/orders/{name}") for name in "ab"]
    blocks = [Block(reason=f"each waits for {one}", topics=(one,)) for one in topics]
    locked_out = Block(reason="billing cannot connect", topics=(topics[0],), in_plan=True)
    rollout = Rollout(blocks=(*blocks, locked_out, Block(reason="another", topics=())))

    assert [*block_lines(rollout, {one.reason for one in blocks})] == [
        "clients are locked out of shop/orders/a: see the findings",
        "no safe order for shop/orders/a and shop/orders/b: see the findings",
        "no safe order: another",
    ]
