"""Reports as Markdown: what they say, what they leave out, and that nothing in them acts."""

from __future__ import annotations

import itertools
import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitops.model.check import CheckReport
from gitops.model.findings import Finding, Location, Severity
from gitops.model.names import TopicName
from gitops.model.plan import (
    DeleteSchema,
    Plan,
    RefusedSchema,
    RegisterSchema,
    SchemaWithoutEffect,
    SetPolicy,
)
from gitops.model.policy import PolicyChange
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.rules import make_finding
from gitops.reports.markdown.document import COMMENT_LIMIT, SUMMARY_LIMIT
from gitops.reports.markdown.report import markdown
from tests.support.checks import (
    CAPTURED,
    CHECK,
    EMPTY,
    PRODUCTION,
    REFUSAL,
    REVERT,
    STAGING,
    UNKNOWN_KEY,
)
from tests.support.examples import examples
from tests.support.hostile_texts import PIECES, TEXTS, assert_inert, poisoned, tokens
from tests.support.plans import EVERYTHING
from tests.support.states import ORDERS, STRING

_GOLDEN = Path(__file__).parents[1] / "golden" / "check.md"
_PLAIN = replace(CHECK, failures={}, findings=())


def _with(plan: Plan, report: CheckReport = _PLAIN) -> CheckReport:
    check = replace(report.registries[1], plan=plan)
    return replace(report, registries=(check,))


def _headline(report: CheckReport) -> str:
    return markdown(report).split("\n", 1)[0]


def _register(name: str, **given: object) -> RegisterSchema:
    action = RegisterSchema(
        topic=TopicName(ORDERS, name),
        info=STRING,
        version=1,
        latest_version=0,
        strategy=Strategy.FULL,
    )
    return replace(action, **given)  # type: ignore[arg-type]


def _waiver_sets(before: Strategy, after: Strategy) -> SetPolicy:
    change = PolicyChange(key="schemaCompatibilityStrategy", before=before, after=after)
    return SetPolicy(subject=TopicName(ORDERS, "w"), change=change, waiver="until-may")


def _error(rule: str) -> Finding:
    return make_finding(rule, "odd", subject="shop/orders/w")


def test_a_check_looks_as_it_should() -> None:
    if os.environ.get("UPDATE_DOCS"):
        _GOLDEN.write_text(markdown(CHECK), encoding="utf-8")
    assert markdown(CHECK) == _GOLDEN.read_text(encoding="utf-8")


_CHANGES = tuple(_register(name) for name in "ab")
_HELD = RefusedSchema(
    topic=CAPTURED,
    info=STRING,
    latest_version=7,
    strategy=Strategy.FULL,
    findings=(REFUSAL,),
    accepted=True,
)
_UNCHANGED = replace(STAGING, actions=(), notices=(), findings=())
_GOOD = replace(STAGING, actions=_CHANGES, notices=(), findings=())
_REVERT = SchemaWithoutEffect(topic=CAPTURED, equal_version=2, latest_version=5)
_DELETED = DeleteSchema(topic=TopicName(ORDERS, "old"), versions=(0, 3))
_OPEN = Strategy.ALWAYS_COMPATIBLE
_BROKEN = _register("w", waiver="until-may", accepted=False, findings=(REFUSAL,))
_WAIVED = (_waiver_sets(Strategy.FULL, _OPEN), _BROKEN, _waiver_sets(_OPEN, Strategy.FULL))
_RULE_WAIVED = _register("w", waiver="until-may", findings=(REFUSAL,))
_WARNING = replace(UNKNOWN_KEY, severity=Severity.WARNING, message="odd")


_NO, _ODD, _YES = "✗ Do not merge", "⚠ Can be merged", "✓ Can be merged"
_MAYBE, _TAKES = f"{_ODD} if the waiver's reason is true", "Pulsar would accept"
_WHY, _ALSO = "a field has no default", "; unknown value; too many topics would change"


@pytest.mark.parametrize(
    ("report", "said"),
    [
        (
            _with(replace(STAGING, actions=())),
            f"{_NO}: the schema change would be refused by Pulsar: {_WHY}",
        ),
        (CHECK, f"{_NO}: 1 of 4 schema changes would be refused by Pulsar: {_WHY}{_ALSO}"),
        (
            _with(replace(STAGING, notices=(_HELD,))),
            f"{_NO}: 1 of 3 schema changes is held back, although {_TAKES} it: {_WHY}",
        ),
        (
            _with(replace(STAGING, actions=_CHANGES, notices=(), findings=(UNKNOWN_KEY,))),
            f"{_NO}: unknown value ({_TAKES} both schema changes)",
        ),
        (replace(EMPTY, findings=(UNKNOWN_KEY, _WARNING)), "✗ 1 error: unknown value"),
        (
            replace(EMPTY, findings=tuple(_error(f"CHECK-R00{each}") for each in (1, 2, 5))),
            "✗ 3 errors: a topic's manifest is removed; a renamed topic loses its history, …",
        ),
        (
            replace(_PLAIN, registries=(), failures={"dr": "x"}),
            f"{_NO} yet: no answer from the registry",
        ),
        (
            replace(_with(replace(STAGING, notices=(), findings=())), failures={"dr": "x"}),
            f"{_NO} yet: no answer from 1 of 2 registries",
        ),
        (
            _with(replace(STAGING, actions=_CHANGES[:1], notices=(), findings=(_WARNING,))),
            f"{_ODD}: {_TAKES} the schema change, 1 warning",
        ),
        (_with(_GOOD), f"{_YES}: {_TAKES} both schema changes"),
        (_with(_UNCHANGED), f"{_YES}: no schema changes"),
        (EMPTY, "✓ No errors"),
        (
            _with(replace(STAGING, actions=(), notices=(_REVERT,), findings=(REVERT,))),
            f"{_ODD}: the schema change has no effect, 1 warning",
        ),
        (
            _with(replace(STAGING, actions=_CHANGES, notices=(_REVERT,), findings=())),
            f"{_ODD}: {_TAKES} 2 of 3 schema changes; 1 of 3 schema changes has no effect",
        ),
        (
            _with(replace(STAGING, actions=(_DELETED,), notices=(), findings=())),
            f"{_ODD}: 1 schema would be deleted",
        ),
        (
            _with(replace(STAGING, actions=_WAIVED, notices=(), findings=())),
            f"{_MAYBE}: Pulsar would refuse the schema change without its waiver",
        ),
        (
            _with(replace(STAGING, actions=_WAIVED, notices=(), findings=(UNKNOWN_KEY,))),
            f"{_NO}: unknown value",
        ),
        (
            _with(replace(STAGING, actions=(*_CHANGES, _RULE_WAIVED), notices=(), findings=())),
            (
                f"{_MAYBE}: 1 of 3 schema changes would be held back without its waiver; "
                f"{_TAKES} 2 of 3 schema changes"
            ),
        ),
    ],
)
def test_the_verdict_comes_first(report: CheckReport, said: str) -> None:
    assert _headline(report) == f"### {said}"


def test_a_loosened_strategy_is_not_called_good() -> None:
    check = replace(CHECK.registries[0], plan=replace(PRODUCTION, notices=(), findings=()))
    report = replace(_PLAIN, registries=(check,))

    assert _headline(report) == (
        f"### {_ODD}: {_TAKES} both schema changes, 1 of them only under loosened policies"
    )
    assert "| BACKWARD (was FULL) | ⚠&nbsp;refused under FULL | consumers (" in markdown(report)


def test_one_schema_under_a_loosened_strategy_is_spoken_of_in_the_singular() -> None:
    plan = replace(PRODUCTION, actions=PRODUCTION.actions[2:3], notices=(), findings=())
    check = replace(CHECK.registries[0], plan=plan)

    assert _headline(replace(_PLAIN, registries=(check,))) == (
        f"### {_ODD}: {_TAKES} the schema change, but only under loosened policies"
    )


def test_a_waived_schema_does_not_look_harmless() -> None:
    text = markdown(_with(replace(STAGING, actions=_WAIVED, notices=(), findings=())))

    assert "| FULL | ⚠&nbsp;refused by Pulsar, waived | – |" in text
    assert (
        "schemaCompatibilityStrategy: FULL → ALWAYS_COMPATIBLE ⚠ **for this schema only**, "
        "by a waiver<br>schemaCompatibilityStrategy: ALWAYS_COMPATIBLE → FULL, set back after that"
    ) in text
    assert "The waiver `until-may` allows it despite this:\n\n- ✗" in text


def test_a_waiver_of_what_a_rule_holds_back_says_so() -> None:
    text = markdown(_with(replace(STAGING, actions=(_RULE_WAIVED,), notices=(), findings=())))

    assert "| FULL | ⚠&nbsp;held back, waived | – |" in text


def test_the_worst_row_comes_first_and_a_deletion_is_one() -> None:
    shaky = _register("z", findings=(_WARNING,))
    plan = replace(STAGING, actions=(*_CHANGES, shaky, _DELETED), findings=())

    rows = [line for line in markdown(_with(plan)).split("\n") if line.startswith("| `")]

    assert [row.split("|")[1].strip() for row in rows] == [
        "`shop/payments/captured`",
        "`shop/orders/old`",
        "`shop/orders/z`",
        "`shop/orders/a`",
        "`shop/orders/b`",
    ]
    assert "| v3&nbsp;→&nbsp;– | – | ⚠&nbsp;deleted | – |" in rows[1]
    assert "| ⚠&nbsp;1 warning |" in rows[2]


def test_registries_with_the_same_to_say_share_a_fold() -> None:
    text = markdown(CHECK)

    assert text.count("<b>shop/payments/captured</b> on production, staging") == 1
    assert text.count("AVRO-R002") == 2  # the refusal, and what the old policies would refuse


def test_a_plan_says_what_the_files_do_not_name() -> None:
    plan = replace(
        EVERYTHING,
        unmanaged=(TopicName(ORDERS, "stray"),),
        unmanaged_namespaces=(ORDERS,),
        without_schema=2,
        unlisted=(ORDERS,),
        limits=("The clone is shallow.",),
    )
    text = markdown(replace(_with(plan, CHECK), base="", reference=""))

    assert (
        "#### In the registry and not in the files\n\n"
        "- `shop/orders` on production: a namespace that earlier files had\n"
        "- `shop/orders/stray` on production\n"
        "- `shop/orders` on production: its topics cannot be listed or read\n"
        "- 2 more topics on production without a schema\n"
        "- production: The clone is shallow.\n"
    ) in text
    assert "compared with" not in text
    assert "FULL → BACKWARD ⚠ **loosened**<br>schemaValidationEnforced: – → true" in text


def test_findings_alone_need_no_heading() -> None:
    assert markdown(replace(EMPTY, findings=(UNKNOWN_KEY,), command="pulsar-gitops validate")) == (
        "### ✗ 1 error: unknown value\n\n"
        "- ✗ `namespaces/shop/orders/namespace.yaml:4:30` · `REPO-R011`<br>\n"
        "  unknown value `BACKWARDS` for schemaCompatibilityStrategy<br>\n"
        "  → did you mean BACKWARD?\n\n"
        "<sub>reproduce: `pulsar-gitops validate`</sub>\n"
    )


def test_both_files_of_a_comparison_are_named() -> None:
    other = Location(file="old.avsc", line=3, column=5, pointer="/fields/0")
    compared = replace(REFUSAL, compared=other)
    text = markdown(replace(EMPTY, findings=(compared,)))

    assert "captured.avsc:14:6`, compared with `old.avsc:3:5` · `AVRO-R002`" in text


def test_a_line_of_the_base_is_called_so() -> None:
    here = Location(file="a.avsc", line=3, column=5)
    base = replace(here, line=4, in_base=True, pointer="/fields/0")
    places = [
        (replace(REFUSAL, location=base, compared=None), "`a.avsc:4:5` in the base · "),
        (
            replace(REFUSAL, location=here, compared=base),
            "`a.avsc:3:5`, compared with line 4 in the base · ",
        ),
        (
            replace(REFUSAL, location=here, compared=replace(base, file="b.avsc")),
            "`a.avsc:3:5`, compared with `b.avsc:4:5` in the base · ",
        ),
    ]
    for found, said in places:
        assert said in markdown(replace(EMPTY, findings=(found,)))


def _many(topics: int) -> CheckReport:
    refused = tuple(
        RefusedSchema(
            topic=TopicName(ORDERS, f"refused-{number:05}"),
            info=STRING,
            latest_version=3,
            strategy=Strategy.FULL,
            findings=(replace(REFUSAL, message=f"{REFUSAL.message} {number}"),),
        )
        for number in range(topics)
    )
    taken = tuple(
        _register(f"taken-{number:05}", changes=CHECK.registries[1].plan.notices[0].changes)
        for number in range(topics)
    )
    plan = replace(
        PRODUCTION,
        actions=(*PRODUCTION.actions, *taken),
        notices=(*PRODUCTION.notices, *refused),
        findings=tuple(finding for notice in refused for finding in notice.findings),
    )
    drift = replace(plan, registry="live")
    return replace(CHECK, registries=(replace(CHECK.registries[0], plan=plan, drift=drift),))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("topics", "there", "cut"),
    [
        (10, ["Pulsar would ignore", "details"], []),
        (60, ["Pulsar would ignore"], []),
        (110, ["taken-00000`", "_The details of "], []),
        (2000, ["refused-00000`"], ["differences", "topics' details", "topics, left out"]),
    ],
)
def test_what_matters_least_is_cut_first_and_counted(
    topics: int, there: list[str], cut: list[str]
) -> None:
    report = _many(topics)
    text = markdown(report)

    assert len(text.encode()) <= COMMENT_LIMIT
    assert text.startswith(f"### {_NO}: {topics + 1:,} of {2 * topics + 4:,} schema changes would")
    assert text.endswith("reproduce: `pulsar-gitops check --base origin/main`</sub>\n")
    assert all(part in text for part in there)
    notes = [line for line in text.split("\n") if line.startswith("_… and ")]
    assert all(any(noun in note for note in notes) for noun in cut)
    assert all("`pulsar-gitops check --base origin/main` shows all" in note for note in notes)
    assert bool(notes) == bool(cut)
    assert_inert_besides_notes(text)


def assert_inert_besides_notes(text: str) -> None:
    assert_inert("\n".join(one for one in text.split("\n") if one[:2] not in {"_…", "_T"}))


@pytest.mark.slow
def test_a_summary_has_room_for_more_than_a_comment() -> None:
    report = _many(300)

    assert len(markdown(report, SUMMARY_LIMIT)) > COMMENT_LIMIT
    assert "left out" not in markdown(report, SUMMARY_LIMIT)


@pytest.mark.slow
def test_ten_thousand_findings_are_bounded() -> None:
    findings = tuple(
        replace(UNKNOWN_KEY, message=f"unknown value '{'x' * 700}' {number}", hint="y" * 700)
        for number in range(10_000)
    )
    text = markdown(replace(EMPTY, findings=findings, command="pulsar-gitops validate"))

    assert COMMENT_LIMIT * 0.9 < len(text.encode()) <= COMMENT_LIMIT
    assert text.startswith("### ✗ 10,000 errors: unknown value\n")
    assert "more findings, left out for GitHub's limit: `pulsar-gitops validate` shows all" in text


@pytest.mark.parametrize("piece", PIECES)
def test_a_hostile_piece_everywhere_does_nothing(piece: str) -> None:
    names = (f"{piece}{number}{piece}" for number in itertools.count())

    _check_poisoned(poisoned(CHECK, names))


@pytest.mark.slow
@settings(max_examples=examples(30), deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=7))
def test_no_text_anywhere_does_anything(texts: list[str]) -> None:
    numbered = (f"{text}{number}" for number, text in enumerate(itertools.cycle(texts)))

    _check_poisoned(poisoned(CHECK, numbered))


def _check_poisoned(report: CheckReport) -> None:
    text = markdown(report)
    found = [token.type for token in tokens(text)]
    columns = {"td_open": 8 * 7 + 3, "th_open": 7 + 3}

    assert_inert(text)
    assert len(text.encode()) <= COMMENT_LIMIT
    # As many rows, headings and blocks as with harmless texts, at most: equal ones merge.
    assert {kind: found.count(kind) for kind in columns} == columns
    plain = [token.type for token in tokens(markdown(CHECK))]
    assert found.count("heading_open") <= plain.count("heading_open")
