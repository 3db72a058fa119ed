"""Why, what next, who first: the lines below the first one."""

from __future__ import annotations

import datetime
from dataclasses import replace

import pytest

from gitops.model.check import CheckReport, PlannedRollout, RegistryCheck
from gitops.model.findings import UNDONE, Location, Severity
from gitops.model.plan import RegisterSchema
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.model.rollout import (
    Block,
    Constraint,
    Drain,
    OrderedStep,
    Register,
    Role,
    Rollout,
    Side,
    Step,
    Upgrade,
)
from gitops.model.rollout_reason import Reason
from gitops.model.waivers import Waiver
from gitops.planning.waivers import waive_findings
from gitops.reports.headline import headline
from gitops.reports.markdown.report import markdown
from gitops.reports.merge_decision import MergeDecision, merge_decision
from gitops.reports.replay_by_topic import TopicResult
from gitops.reports.results import no_excerpt
from gitops.reports.text.check import check_report
from gitops.reports.topic_rows import rows_of
from tests.support.checks import (
    CAPTURED,
    CHECK,
    CREATED,
    EMPTY,
    REFUSAL,
    STAGING,
    UNKNOWN_KEY,
    WAIVED,
)
from tests.support.consoles import shown
from tests.support.replays import FAILING

_ONE = CHECK.registries[1]
_ACCEPTED = replace(STAGING, notices=(), findings=())


def _decided(report: CheckReport) -> MergeDecision:
    return merge_decision(report, rows_of(report.registries))


def _with(*registries: RegistryCheck) -> CheckReport:
    return replace(CHECK, registries=registries, failures={}, findings=())


def _waits(name: str) -> Rollout:
    """A client upgrades before v1 of CREATED is registered."""
    upgrade, register = Upgrade(name), Register(CREATED, 1)
    wait = Constraint(first=upgrade, then=register, topic=CREATED, reason=Reason(verb="fails"))
    steps = (
        OrderedStep(step=upgrade, wave=0),
        OrderedStep(step=register, wave=1, waits_for=(wait,)),
    )
    return Rollout(
        steps=steps,
        sides={name: (Side(topic=CREATED, role=Role.CONSUMER),)},
    )


def test_the_worst_reason_comes_first_without_its_details() -> None:
    told = _decided(CHECK)

    assert told.why[0] == (
        "shop/payments/captured: 'currency' (string) is new and has no default; the new schema "
        "cannot read messages of v7"
    )
    assert REFUSAL.hint in told.next[0]
    assert told.next[0].startswith("make the edit that is shown below (`check --fix` makes it): ")


def test_a_subject_that_the_reason_names_is_not_told_twice() -> None:
    one = replace(UNKNOWN_KEY, subject="acme/a", message="acme/a is odd: very")

    assert _decided(replace(_with(), findings=(one,))).why == ("acme/a is odd: very",)


def test_many_reasons_and_remedies_are_counted() -> None:
    odd = [replace(UNKNOWN_KEY, message=f"no {each}", hint=f"do {each}") for each in range(9)]
    told = _decided(replace(CHECK, registries=(), failures={}, findings=tuple(odd)))

    assert [one.partition("no ")[2] for one in told.why[:3]] == ["0", "1", "2"]
    assert (told.why[3:], told.next) == (
        ("6 more findings: unknown value",),
        ("do 0", "do 1", "do 2", "and 6 more below"),
    )


def test_only_what_is_as_bad_as_the_verdict_is_a_reason() -> None:
    warning = replace(UNKNOWN_KEY, severity=Severity.WARNING, message="odd")
    told = _decided(replace(_with(), findings=(warning, UNKNOWN_KEY)))
    warned = _decided(replace(_with(), findings=(warning,)))

    assert ("odd" in str(told.why), "odd" in str(warned.why)) == (False, True)


def test_a_warning_about_another_subject_is_beside_the_reasons() -> None:
    warned = replace(
        UNKNOWN_KEY, severity=Severity.WARNING, message="odd", hint="look", subject="acme/b"
    )
    told = _decided(replace(_with(), findings=(warned, replace(warned), UNKNOWN_KEY)))
    many = [replace(UNKNOWN_KEY, message=f"no {each}") for each in range(3)]
    full = _decided(replace(_with(), findings=(warned, *many)))

    assert told.warnings == ("does not block the merge: acme/b: odd",)
    assert told.next == (
        f"{UNKNOWN_KEY.subject}: {UNKNOWN_KEY.hint}",
        "acme/b: look (recommended, does not block the merge)",
    )
    assert full.warnings == ()


def test_messages_that_cannot_be_read_are_mended_as_the_schema_s_warnings_advise() -> None:
    unread = replace(UNKNOWN_KEY, rule="REPLAY-R001", subject="acme/b", hint="change the schema")
    symbol = replace(
        unread, rule="AVRO-W001", severity=Severity.WARNING, hint="keep the symbol 'OLD'"
    )
    other = replace(symbol, subject="acme/c", hint="keep int")
    told = _decided(replace(_with(), findings=(unread, symbol, other)))

    assert told.next == (
        "acme/b: keep the symbol 'OLD'",
        "acme/c: keep int (recommended, does not block the merge)",
    )


_DECLARE = "declare the new schema in {} (`schema: {{definition: …}}`)"
_CODE = "with code that reads the old and the new schema, and "
_WITH = f"{_CODE}{_DECLARE.format('their client manifests')}"
_WITH_ONE = f"{_CODE}{_DECLARE.format('its client manifest')}"
_BESIDE = "keep the old field and add a new one"
_TWO_AND_ONE = (
    "make the 2 edits that are shown below for acme/t1 and acme/t2 (`check --fix` makes them)",
    f"decide about acme/t0: drop the change (`check --fix` does), or {_BESIDE}",
)
_OTHERWISE = "drop the change (`check --fix` does), or change it in another way"


@pytest.mark.parametrize(
    ("undone", "said"),
    [
        (0, ("make the 3 edits that are shown below (`check --fix` makes them)",)),
        (1, _TWO_AND_ONE),
        (
            2,
            (
                "acme/t2: make the edit that is shown below (`check --fix` makes it): do it",
                f"decide about acme/t0 and acme/t1: {_OTHERWISE}",
            ),
        ),
        (3, (f"decide about acme/t0, acme/t1 and acme/t2: {_OTHERWISE}",)),
    ],
)
def test_edits_that_undo_the_change_are_to_be_decided(undone: int, said: tuple[str, ...]) -> None:
    edits = [
        replace(
            UNKNOWN_KEY,
            message=str(n),
            patch=f"{n}",
            hint=("keep int, or add a new field", "keep the symbol")[min(n, 1)] + UNDONE
            if n < undone
            else "do it",
            subject=f"acme/t{n}",
        )
        for n in range(3)
    ]
    told = _decided(replace(_with(), findings=tuple(edits)))

    assert told.next == said


_BACKWARD = SchemaCompatibilityStrategy.BACKWARD
_REPLAYED = TopicResult(topic=CREATED, strategy=_BACKWARD, asked=(), aside=(), findings=(FAILING,))


def test_messages_that_cannot_be_read_leave_the_order_open() -> None:
    rows = rows_of(CHECK.registries)
    unread = [replace(row, replay=_REPLAYED) for row in rows if not row.is_refused]

    assert merge_decision(_with(replace(_ONE, plan=_ACCEPTED)), unread).first == (
        "not known before its schema reads all messages",
    )


def test_a_rename_is_a_guess_and_the_other_way_is_beside_it() -> None:
    hint = "if it is a rename, add \"aliases\": [\"a\"] to 'b'; else give 'b' a default: x"
    told = _decided(replace(_with(), findings=(replace(UNKNOWN_KEY, patch="p", hint=hint),)))

    alias = 'add "aliases": ["a"] to \'b\''
    edit = f"if it is a rename, make the edit that is shown below (`check --fix` makes it): {alias}"
    assert told.next == (f"{edit}; if it is no rename, give 'b' a default: x",)


def test_a_policy_that_is_merged_first_makes_two_merges() -> None:
    split = replace(UNKNOWN_KEY, rule="CHECK-R004", hint="split it")
    some = _with(replace(_ONE, plan=_ACCEPTED, rollout=_waits("crm")))
    told = _decided(replace(some, findings=(split,)))

    assert told.next[-4:] == (
        "split this pull request in two: the policy alone, then the schema",
        "merge the policy, once the owners of its topics approve",
        f"deploy crm {_WITH_ONE}",
        "merge the schema",
    )
    assert told.first == ("crm (consumer), before the schema is merged",)


def test_what_messages_show_comes_before_what_may_happen_to_some() -> None:
    may = replace(UNKNOWN_KEY, rule="AVRO-W005", severity=Severity.WARNING, subject="acme/b")
    seen = replace(may, rule="REPLAY-R007", message="other values (4 of 4 values)")
    told = _decided(replace(_with(), findings=(may, seen, UNKNOWN_KEY)))

    assert "other values (4 of 4 values)" in told.warnings[0]


def test_one_edit_for_several_findings_is_one() -> None:
    edits = [replace(UNKNOWN_KEY, message=str(n), patch="a", hint="do it") for n in range(2)]
    one = _decided(replace(_with(), findings=tuple(edits)))
    other = replace(edits[0], message="2", patch="b")
    two = _decided(replace(_with(), findings=(*edits, other)))

    assert one.next == ("make the edit that is shown below (`check --fix` makes it): do it",)
    assert two.next == ("make the 2 edits that are shown below (`check --fix` makes them)",)


def test_what_is_good_needs_no_reason() -> None:
    assert _decided(_with(replace(_ONE, plan=_ACCEPTED)))[:2] == ((), ("merge",))


def test_without_clients_the_strategy_tells_who_is_first_and_says_so() -> None:
    told = _decided(_with(replace(_ONE, plan=_ACCEPTED)))

    assert told.first[0].endswith("(by BACKWARD): no client is declared")


def test_clients_that_have_to_upgrade_are_named_for_all_registries() -> None:
    some = [replace(_ONE, plan=_ACCEPTED, rollout=_waits(name)) for name in ("crm", "billing")]
    refused = replace(_ONE, rollout=_waits("billing"))

    assert _decided(_with(*some)).first == ("billing and crm (consumers), before the merge",)
    deploy = f"deploy billing and crm {_WITH}"
    assert _decided(_with(*some)).next == (f"{deploy}: then this check allows the merge",)
    assert _decided(_with(refused)).first == (
        "billing (consumer), before the merge",
        "for the refused topic not known yet",
    )


@pytest.mark.parametrize(
    ("rollout", "first"),
    [
        (Rollout(steps=(OrderedStep(step=Register(CAPTURED, 8), wave=0),)), ()),
        (_waits("billing"), ("billing (consumer), before the merge",)),
    ],
)
def test_with_the_edits_it_is_known_who_is_first_for_a_refused_topic(
    rollout: Rollout, first: tuple[str, ...]
) -> None:
    edited = PlannedRollout(plan=_ONE.plan, rollout=rollout)

    assert _decided(_with(replace(_ONE, edited=edited))).first == first


@pytest.mark.slow
def test_nothing_is_told_of_upgrades_where_nothing_can_be_merged_and_nobody_upgrades() -> None:
    register = OrderedStep(step=Register(CREATED, 1), wave=0)
    may_upgrade = OrderedStep(step=Upgrade("billing"), wave=1)
    block = Block(reason="billing still uses it", steps=(Upgrade("billing"),), topics=(CREATED,))
    for rollout in (Rollout(steps=(register, may_upgrade)), Rollout(blocks=(block,))):
        refused = _with(replace(_ONE, rollout=rollout))
        in_error = replace(
            _with(replace(_ONE, plan=_ACCEPTED, rollout=rollout)), findings=(UNKNOWN_KEY,)
        )
        for report in (refused, in_error):
            assert _decided(report).first == ()
            assert "rollout" not in shown(check_report(report, no_excerpt, seconds=0))
            assert "Rollout" not in markdown(report)


def test_without_clients_the_strategy_speaks_for_an_edited_schema_too() -> None:
    register = next(one for one in _ACCEPTED.actions if isinstance(one, RegisterSchema))
    plan = replace(_ONE.plan, actions=(replace(register, topic=CAPTURED),))
    (first,) = _decided(_with(replace(_ONE, edited=PlannedRollout(plan, Rollout())))).first
    assert ("(by FULL)" in first, "edit" in first) == (True, False)


def test_nobody_is_first_where_the_rollout_has_no_one() -> None:
    rollout = Rollout(steps=(OrderedStep(step=Register(CREATED, 1), wave=0),))

    assert _decided(_with(replace(_ONE, plan=_ACCEPTED, rollout=rollout))).first == ("nobody",)


def test_no_safe_order_is_not_called_nobody() -> None:
    rollout = Rollout(blocks=(Block(reason="a needs b, and b needs a"),))

    told = _decided(_with(replace(_ONE, plan=_ACCEPTED, rollout=rollout)))

    assert told.first == ("there is no safe order, see below",)


def test_who_is_locked_out_with_approval_waits_for_no_order() -> None:
    block = Block(reason="billing cannot connect", topics=(CREATED,), in_plan=True)

    told = _decided(_with(replace(_ONE, plan=_ACCEPTED, rollout=Rollout(blocks=(block,)))))

    assert told.first != ("there is no safe order, see below",)


def test_a_topic_without_a_safe_order_is_no_accepted_one() -> None:
    rollout = Rollout(blocks=(Block(reason="a needs b, and b needs a", topics=(CREATED,)),))
    error = replace(UNKNOWN_KEY, rule="CLIENT-R004")
    report = replace(
        _with(replace(_ONE, plan=_ACCEPTED, rollout=rollout, refused_before={})), findings=(error,)
    )
    rows = rows_of(report.registries)
    (row,) = (row for row in rows if row.topic == CREATED)

    assert (row.verdict, row.upgrade_first) == ("✗ no safe order", "no safe order")
    assert rows[0] == row
    assert not row.is_refused
    said = headline(report, rows)
    assert said.startswith("✗ Do not merge: there is no safe order of upgrades (Pulsar would acc")
    terminal = shown(check_report(report, no_excerpt, seconds=0))
    assert "   no safe order\n" in terminal
    assert "compatible, no safe order" not in terminal
    fold, _, _ = markdown(report).partition(f"<b>{CREATED}")
    assert fold.endswith("<details open><summary>✗ ")


def test_a_waiver_is_named_with_who_approved_it() -> None:
    waiver = Waiver(
        name="agreed",
        subject=CAPTURED,
        location=Location(file="waivers/agreed.yaml"),
        fingerprint="a" * 32,
        approved_by="@acme/billing",
        reason="all read both",
        expires=datetime.date(2026, 12, 23),
    )
    (one,) = WAIVED.registries
    (action,) = (each for each in one.plan.actions if isinstance(each, RegisterSchema))
    waived = waive_findings(action.findings, waiver)
    plan = replace(one.plan, actions=(action,), findings=waived, notices=())
    report = replace(WAIVED, registries=(replace(one, plan=plan),), waivers=(waiver,))
    told = _decided(replace(report, base=CHECK.base))

    who = "waived until 2026-12-23 by waivers/agreed.yaml, approved by @acme/billing"
    assert told.why[1:] == (f'{who}, with the reason "all read both"',)
    sure = "make sure that the waiver's reason is still true, with @acme/billing who approved it"
    assert told.next == (f"{sure}; then merge",)


def test_what_is_no_change_has_nothing_to_decide() -> None:
    assert _decided(replace(EMPTY, findings=(UNKNOWN_KEY,))).items == ()


def test_a_reason_that_many_topics_share_names_its_place_and_their_number() -> None:
    where = Location(file="types/a.avsc", line=9)
    many = [replace(UNKNOWN_KEY, subject=f"a/b/{n}", message="x: y", location=where) for n in "cde"]
    told = _decided(replace(_with(), findings=tuple(many)))

    assert told.why == ("types/a.avsc:9 (3 topics): x: y",)


def test_a_registry_without_an_answer_is_a_reason_and_leaves_the_order_open() -> None:
    told = _decided(replace(_with(replace(_ONE, plan=_ACCEPTED)), failures={"dr": "refused: x"}))

    assert told.why == ("dr: refused: x",)
    assert told.first == ("not known yet: not every registry answers",)


def test_who_upgrades_after_the_merge_is_named_too() -> None:
    register, late = Register(CREATED, 1), Upgrade("checkout")
    wait = Constraint(first=late, then=Upgrade("crm"), topic=CREATED, reason=Reason(verb="fails"))
    steps = (
        OrderedStep(step=register, wave=0),
        OrderedStep(step=late, wave=1),
        OrderedStep(step=Upgrade("crm"), wave=2, waits_for=(wait,)),
    )
    report = _with(replace(_ONE, plan=_ACCEPTED, rollout=Rollout(steps=steps)))
    told = _decided(report)

    assert told.first == ("nobody before the merge; after it checkout",)
    assert told.next == ("merge", "upgrade checkout", "upgrade crm")
    # Who upgrades for another topic is nobody of this one.
    row, *_ = [row for row in rows_of(report.registries) if row.topic == CREATED]
    unread = replace(row, replay=_REPLAYED)
    read = replace(row, topic=CAPTURED, upgrade_first="nobody")
    assert merge_decision(report, [unread, read]).first[1] == f"{CAPTURED}: nobody"


def test_who_waits_for_messages_to_be_gone_is_named() -> None:
    register, drain = Register(CREATED, 1), Drain(CREATED, 0)
    because = Reason(verb="fails")
    waits = (_after(drain, Upgrade("crm"), because),)
    steps = (
        OrderedStep(step=register, wave=0),
        OrderedStep(step=drain, wave=1, waits_for=(_after(register, drain, because),)),
        OrderedStep(step=Upgrade("crm"), wave=2, waits_for=waits),
    )
    told = _decided(_with(replace(_ONE, plan=_ACCEPTED, rollout=Rollout(steps=steps))))

    left = f"no message of v0 is left in {CREATED}, in a backlog or retained"
    assert told.next[1] == f"wait until {left}, before crm upgrades"


def _after(first: Step, then: Step, reason: Reason) -> Constraint:
    return Constraint(first=first, then=then, topic=CREATED, reason=reason)
