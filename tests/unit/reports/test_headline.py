"""The first line of a report, in cases that the golden reports do not have."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitops.model.findings import Location, Severity
from gitops.model.plan import SetPolicy
from gitops.model.policy import PolicyChange, SchemaCompatibilityStrategy
from gitops.reports.headline import headline
from gitops.reports.topic_rows import rows_of
from tests.support.checks import CHECK, PAYMENTS, STAGING, UNKNOWN_KEY

_KEYS = ("schemaCompatibilityStrategy", "isAllowAutoUpdateSchema")


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (0, "no schema changes"),
        (1, "1 policy change, no schema changes"),
        (2, "2 policy changes, no schema changes"),
    ],
)
def test_policies_alone_are_counted(keys: int, said: str) -> None:
    actions = tuple(
        SetPolicy(
            subject=PAYMENTS,
            change=PolicyChange(key=key, before=None, after=SchemaCompatibilityStrategy.FULL),
        )
        for key in _KEYS[:keys]
    )
    plan = replace(STAGING, actions=actions, notices=(), findings=())
    one = replace(CHECK.registries[1], plan=plan)
    report = replace(CHECK, registries=(one,), failures={}, findings=())

    assert headline(report, rows_of(report.registries)) == f"✓ Can be merged: {said}"


def test_clients_that_pulsar_would_refuse_are_counted() -> None:
    refused = [replace(UNKNOWN_KEY, rule="CLIENT-R002", subject=name) for name in ("crm", "erp")]
    report = replace(CHECK, registries=(), failures={}, findings=tuple(refused))
    again = replace(report, findings=(refused[0], replace(refused[0], message="other")))

    assert headline(report, []) == "✗ Do not merge: Pulsar would refuse 2 clients"
    assert headline(again, []) == "✗ Do not merge: Pulsar would refuse a client"


def test_topics_whose_clients_come_first_are_counted_beside_refused_ones() -> None:
    late = replace(UNKNOWN_KEY, rule="CLIENT-R003", subject="crm")
    of_two = [
        replace(late, message=name).from_origin(f"shop/orders/{name}", "count") for name in "ab"
    ]
    one, two = (
        replace(CHECK, failures={}, findings=tuple(its)) for its in (of_two[:1], [*of_two, late])
    )

    assert "; 1 other needs clients upgraded first" in headline(one, rows_of(one.registries))
    assert "; 2 others need clients upgraded first" in headline(two, rows_of(two.registries))


def test_no_client_is_asked_to_upgrade_first_where_no_order_is_safe() -> None:
    rules = ("CLIENT-R003", "CLIENT-R004")
    findings = tuple(replace(UNKNOWN_KEY, rule=rule) for rule in rules)
    report = replace(CHECK, registries=(), failures={}, findings=findings)

    assert headline(report, []) == "✗ Do not merge: there is no safe order of upgrades"


def test_an_accepted_change_after_a_loss_is_not_all_there_is_to_say() -> None:
    lost = replace(UNKNOWN_KEY, rule="PLAN-R023", severity=Severity.WARNING)
    plan = replace(STAGING, actions=(), notices=(), findings=())
    one = replace(CHECK.registries[1], plan=plan)
    report = replace(CHECK, registries=(one,), failures={}, findings=(lost,))

    assert headline(report, rows_of(report.registries)) == (
        "⚠ Can be merged: no schema changes; the registry lost versions that stored messages may "
        "carry, 1 warning"
    )


def test_an_error_in_a_waiver_is_told_as_what_it_is() -> None:
    """The rule's title, such as `value that is out of range`, does not say what it is about."""
    empty = replace(UNKNOWN_KEY, rule="REPO-R012", location=Location(file="waivers/a.yaml"))
    report = replace(CHECK, registries=(), failures={}, findings=(empty,))

    assert headline(report, []) == (
        "✗ Do not merge: a waiver is not filled in, or has other errors"
    )
