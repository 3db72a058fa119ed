"""How a report in Markdown looks: its columns, folds, names and small print."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitops.model.check import CheckReport
from gitops.model.findings import Severity
from gitops.model.names import TopicName
from gitops.model.plan import Plan, RefusedSchema, RegisterSchema
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.rules import make_finding
from gitops.reports.markdown.document import COMMENT_LIMIT
from gitops.reports.markdown.report import markdown
from tests.support.checks import (
    CAPTURED,
    CHECK,
    PRODUCTION,
    REFUSAL,
    REVERT,
    SNEAKED,
    STAGING,
    UNKNOWN_KEY,
)
from tests.support.states import STRING

_PLAIN = replace(CHECK, failures={}, findings=())
_HELD = RefusedSchema(
    topic=CAPTURED,
    info=STRING,
    latest_version=7,
    strategy=Strategy.FULL,
    findings=(REFUSAL,),
    accepted=True,
)

_WARNING = replace(UNKNOWN_KEY, severity=Severity.WARNING, message="odd")


def _with(plan: Plan) -> CheckReport:
    check = replace(_PLAIN.registries[1], plan=plan)
    return replace(_PLAIN, registries=(check,))


def test_one_registry_needs_no_column_and_one_topic_no_click() -> None:
    text = markdown(_with(replace(STAGING, actions=())))

    assert "| Topic | Type | Versions | Strategy | Verdict | Upgrade first |\n" in text
    assert "| `shop/payments/captured` | AVRO | v7 stays | FULL |" in text
    assert "<details open><summary>✗ <b>shop/payments/captured</b>: the new schema" in text
    assert "| Topic | Registry |" in markdown(CHECK)


@pytest.mark.parametrize(("number", "opened"), [(1, 1), (3, 3), (4, 0)])
def test_the_few_topics_that_stop_the_merge_need_no_click(number: int, opened: int) -> None:
    topics = [TopicName(_HELD.topic.namespace, f"t{each}") for each in range(number)]
    found = [replace(REFUSAL, message=f"{topic} is odd", subject=str(topic)) for topic in topics]
    notices = [
        replace(_HELD, topic=t, findings=(one,)) for t, one in zip(topics, found, strict=True)
    ]
    text = markdown(_with(replace(STAGING, notices=tuple(notices), findings=())))

    assert text.count("<details open><summary>✗") == opened


def test_what_changes_in_many_accepted_topics_is_one_fold() -> None:
    (change, *_) = STAGING.notices[0].changes
    actions = [
        RegisterSchema(
            topic=TopicName(CAPTURED.namespace, f"t{number}"),
            info=STRING,
            version=1,
            latest_version=0,
            strategy=Strategy.FULL,
            changes=(replace(change, path=f"f{number}"),),
        )
        for number in range(4)
    ]
    few, many = (
        markdown(_with(replace(STAGING, actions=tuple(some), notices=(), findings=())))
        for some in (actions[:3], actions)
    )

    assert "✓ What changes in the accepted topics" not in few
    assert "✓ What changes in the accepted topics</summary>\n\n<details>" in many
    assert many.count("<details>") == many.count("</details>") == 5


def test_a_title_ends_with_a_whole_word() -> None:
    long = replace(REFUSAL, message=" ".join(["mend"] * 40))
    notice = replace(_HELD, findings=(long,))
    text = markdown(_with(replace(STAGING, actions=(), notices=(notice,))))

    assert "mend …</summary>" in text


def test_the_reason_of_what_a_loosened_policy_lets_in_is_given_once() -> None:
    let_in = make_finding("CHECK-R004", f"accepted only so: before, {SNEAKED.message}", subject="w")
    check = replace(CHECK.registries[0], plan=replace(PRODUCTION, notices=(), findings=()))
    text = markdown(replace(_PLAIN, registries=(check,), findings=(let_in,)))

    assert "\n  accepted only so\n" in text
    details = text.partition("| Topic")[2]
    assert details.count("reader field `legacy` has no default") == 1


def test_what_is_not_known_stands_in_lines_of_its_own_the_reason_for_it_last() -> None:
    history = replace(CHECK.registries[1].history, limits=("No `snapshot`.", "Much is unknown."))
    text = markdown(replace(_PLAIN, registries=(replace(CHECK.registries[1], history=history),)))

    assert ("<sub>⚠ Much is unknown.</sub><br>\n<sub>⚠ No `snapshot`.</sub><br>\n") in text


def test_a_commit_is_named_once_and_short() -> None:
    text = markdown(replace(_PLAIN, reference=CHECK.base))

    assert "compared with `4d7f2a9` · " in text
    assert CHECK.base not in text


def test_shared_types_and_clients_are_named() -> None:
    text = markdown(CHECK)

    assert (
        "- `types/money.avsc` affects `shop/payments/captured`, `shop/orders/order-created`\n"
        in (text)
    )
    assert "- 1 client: `billing`\n" in text


@pytest.mark.slow
def test_no_number_of_trivial_findings_cuts_why_a_schema_is_refused() -> None:
    trivial = tuple(replace(UNKNOWN_KEY, message=f"{each:05}") for each in range(10_000))
    text = markdown(replace(CHECK, findings=trivial))

    assert len(text.encode()) <= COMMENT_LIMIT
    assert REFUSAL.patch.split("\n")[4] in text
    assert "Or a waiver, as <code>waivers/shop-payments-captured-4b356305.yaml</code>" in text
    details = text.partition("| Topic")[2]
    assert details.index("AVRO-R002") < details.index("00000")
    assert "more findings, left out for GitHub's limit" in text


@pytest.mark.slow
def test_the_reason_for_a_refusal_comes_before_what_is_only_odd_about_the_topic() -> None:
    many = tuple(replace(_WARNING, message=f"odd {each:05}") for each in range(10_000))
    changes = CHECK.registries[1].plan.notices[0].changes
    wide = tuple(replace(changes[0], path=f"{each:02}" + "\U0001f600" * 390) for each in range(60))
    notice = replace(_HELD, accepted=False, findings=(*many, REFUSAL), changes=wide)
    text = markdown(_with(replace(STAGING, actions=(), notices=(notice,), findings=())))

    assert len(text.encode()) <= COMMENT_LIMIT
    assert "<summary>✗ <b>shop/payments/captured</b>: the new schema cannot read" in text
    assert "- ✗ `namespaces/shop/payments/captured.avsc:14:6` · `AVRO-R002`" in text
    assert "- … 9,981 more findings" in text
    assert "more lines\n```" in text


def test_a_revert_explains_itself() -> None:
    assert REVERT.message in markdown(CHECK)
