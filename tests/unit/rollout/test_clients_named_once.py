"""A declared client that a change locks out is named by one finding of a check."""

from __future__ import annotations

import re

import pytest

from gitops.model.findings import Finding, Severity
from gitops.reports.headline import headline
from gitops.reports.merge_decision import merge_decision
from gitops.reports.topic_rows import rows_of
from tests.support.check_repository import FOLDER, manifest, record, report
from tests.support.git_repos import GitRepository
from tests.support.rollout_repository import (
    FILES,
    TOPIC,
    avro,
    client,
    with_an_optional_field,
)

pytestmark = pytest.mark.slow

SPACE = f"{FOLDER}/namespace.yaml"
SETTINGS = FILES["gitops.yaml"]
NARROW, WIDE, OTHER = avro(a="int", b="string"), avro(a="long", b="string"), avro(a="long")


def lockouts(repo: GitRepository) -> list[tuple[str, Severity, str]]:
    """Rule, severity and the clients' part of the message, of all findings about lockouts."""
    checked = report(repo)
    found: list[Finding] = [*checked.findings, *checked.registries[0].plan.findings]
    rules = ("CLIENT-R002", "CLIENT-R003", "CLIENT-R004", "PLAN-R020", "PLAN-R021")
    return [
        (one.rule, one.severity, re.split(r" (?:can no longer|cannot)", one.message)[0])
        for one in found
        if one.rule in rules
    ]


def test_a_version_that_locks_out_a_declared_client_has_one_finding(repo: GitRepository) -> None:
    repo.write({f"{FOLDER}/created.avsc": WIDE})

    assert lockouts(repo) == [
        (
            "CLIENT-R003",
            Severity.ERROR,
            f"Once v1 of {TOPIC} is registered, the current billing",
        )
    ]


def test_versions_that_nobody_declares_are_named_beside_the_declared_client(
    repo: GitRepository,
) -> None:
    """Consumers with v0 may still run, and billing has v1."""
    record(repo, NARROW, with_an_optional_field())
    repo.commit(
        {
            f"{FOLDER}/created.avsc": with_an_optional_field(),
            "clients/billing.yaml": client("billing", "consumes", "{version: 1}"),
        }
    )
    repo.write({f"{FOLDER}/created.avsc": WIDE})

    assert [(rule, severity) for rule, severity, _ in lockouts(repo)] == [
        ("CLIENT-R003", Severity.ERROR),
        ("PLAN-R021", Severity.WARNING),
    ]
    assert lockouts(repo)[1][2] == "consumers with v0"


@pytest.mark.parametrize("rule", ["CLIENT-R003", "PLAN-R021"])
def test_without_one_rule_the_other_one_names_the_client(repo: GitRepository, rule: str) -> None:
    repo.commit({"gitops.yaml": f"{SETTINGS}rules: {{{rule}: off}}\n"})
    repo.write({f"{FOLDER}/created.avsc": WIDE})

    named = {named_by: (severity, who) for named_by, severity, who in lockouts(repo)}
    reporting = {named_by for named_by, (severity, _) in named.items() if severity > Severity.INFO}

    assert len(reporting) == 1
    assert rule not in reporting
    assert "billing" in named[reporting.pop()][1]


def test_a_policy_without_its_rule_is_named_where_the_client_is_declared(
    repo: GitRepository,
) -> None:
    repo.commit(
        {
            "gitops.yaml": f"{SETTINGS}rules: {{PLAN-R021: off}}\n",
            "clients/checkout.yaml": client("checkout", "produces", "NONE"),
        }
    )
    repo.write({SPACE: f"{FILES[SPACE]}schemaValidationEnforced: true\n"})

    assert {(rule, severity) for rule, severity, _ in lockouts(repo)} == {
        ("CLIENT-R002", Severity.ERROR),
        ("PLAN-R021", Severity.INFO),
    }


def test_a_waiver_of_the_namespace_approves_the_lockout_in_the_check_too(
    repo: GitRepository,
) -> None:
    record(repo, NARROW)
    repo.commit()
    repo.write({f"{FOLDER}/created.avsc": WIDE})
    (proposal,) = report(repo).registries[0].plan.proposals
    approved = re.sub('(reason|approvedBy): ""', r'\1: "because"', proposal.text)
    repo.write({proposal.file: approved.replace("expires: 2026-01-31", "expires: 2026-01-30")})

    assert lockouts(repo) == [("PLAN-R021", Severity.INFO, "consumers with v0 (billing)")]


def test_a_new_client_that_a_policy_keeps_out_is_named_once(repo: GitRepository) -> None:
    """The waiver of the namespace approves it by name, as it does those that connect now."""
    record(repo, NARROW)
    repo.commit()
    repo.write(
        {
            SPACE: FILES[SPACE].replace("BACKWARD", "ALWAYS_INCOMPATIBLE"),
            "clients/crm.yaml": client("crm", "consumes", "{version: 0}"),
        }
    )
    who = "consumers with v0, the latest version, (billing, crm)"
    assert lockouts(repo) == [("PLAN-R020", Severity.ERROR, who)]

    (proposal,) = report(repo).registries[0].plan.proposals
    repo.write({proposal.file: re.sub('(reason|approvedBy): ""', r'\1: "because"', proposal.text)})

    assert lockouts(repo) == [("PLAN-R020", Severity.INFO, who)]
    checked = report(repo)
    rows = rows_of(checked.registries)
    assert headline(checked, rows) == (
        "⚠ Can be merged if the waiver's reason is true: "
        "1 policy change, no schema changes; clients can no longer connect"
    )
    why, approved = merge_decision(checked, rows).why
    assert who in why
    assert "approved by because" in approved


def test_a_new_client_that_no_policy_lets_in_is_not_approved_with_others(
    repo: GitRepository,
) -> None:
    record(repo, NARROW)
    repo.commit({"clients/crm.avsc": avro(a="int", b="string", c="string")})
    tight = FILES[SPACE].replace("BACKWARD", "ALWAYS_INCOMPATIBLE")
    new = client("crm", "consumes", "{type: AVRO, definition: crm.avsc}")
    repo.write({SPACE: tight, "clients/crm.yaml": new})

    assert [(rule, who) for rule, _, who in lockouts(repo)] == [
        ("CLIENT-R002", "crm"),
        ("PLAN-R020", "consumers with v0, the latest version, (billing)"),
    ]


def test_a_topic_without_declared_clients_hides_no_error_of_another_one(
    repo: GitRepository,
) -> None:
    """Both have one cause, and only one of them an error."""
    aaa = {
        f"{FOLDER}/aaa.yaml": manifest("type: AVRO, definition: aaa.avsc"),
        f"{FOLDER}/aaa.avsc": avro(a="int", b="string"),
        f"{FOLDER}/created.avsc": NARROW,
        "clients/checkout.yaml": client("checkout", "produces", "NONE"),
    }
    repo.commit(aaa)
    repo.write({SPACE: f"{FILES[SPACE]}schemaValidationEnforced: true\n"})

    assert lockouts(repo) == [
        ("PLAN-R021", Severity.ERROR, "producers without a schema (checkout)"),
        ("PLAN-R021", Severity.WARNING, "producers without a schema"),
    ]
