"""The workflow that audits a cluster each week."""

from __future__ import annotations

import subprocess
from typing import Final

from gitops.repository.template import template_root
from tests.support.github_stand_in import GitHubStandIn
from tests.support.prepared_command import prepared_program
from tests.support.workflow_steps import Runner, steps_of

AUDIT: Final = steps_of(template_root() / ".github" / "workflows" / "audit.yml", "audit")


def test_an_audit_is_one_issue_until_nothing_is_wrong(
    runner: Runner, github: GitHubStandIn
) -> None:
    runner.environment |= github.environment
    runner.expressions |= {"vars.PULSAR_NEXT_BROKER": "5.0", "vars.PULSAR_NAMESPACES": ""}
    about = {"REGISTRY": "local"}
    dashed = '{"type": "record", "name": "A", "namespace": "com.my-co", "fields": []}'
    (runner.temp / "dashed.avsc").write_text(dashed)
    topic = "shop/orders/dashed"
    schema = str(runner.temp / "dashed.avsc")
    for command in (
        ["apply", "--auto-approve"],
        ["schemas", "upload", topic, schema, "--type", "AVRO"],
    ):
        subprocess.run(
            [prepared_program(), *command], cwd=runner.workspace, check=True, capture_output=True
        )

    for _ in range(2):
        assert runner.run(AUDIT["Audit"], about).outputs == {"good": "false"}
        reported = runner.run(AUDIT["Report"], about)
        assert reported.code == 0, reported.printed
    runner.expressions["vars.PULSAR_NEXT_BROKER"] = ""
    today = runner.run(AUDIT["Audit"], about)
    closed = runner.run(AUDIT["Close"], about)

    assert today.outputs == {"good": "true"}
    assert closed.code == 0, closed.printed
    (issue,) = github.issues
    assert issue.title == "Audit of local"
    assert "AUDIT-U001" in issue.body
    assert issue.state == "closed"


def test_a_cluster_that_cannot_be_read_is_no_audit(runner: Runner) -> None:
    runner.expressions |= {"vars.PULSAR_NEXT_BROKER": "", "vars.PULSAR_NAMESPACES": ""}
    asked = runner.run(AUDIT["Audit"], {"REGISTRY": "nowhere"})

    assert asked.code == 2
    assert asked.outputs == {}


def test_only_some_namespaces_are_looked_at_where_they_are_named(runner: Runner) -> None:
    subprocess.run(
        [prepared_program(), "apply", "--auto-approve"],
        cwd=runner.workspace,
        check=True,
        capture_output=True,
    )
    expected = {"shop/orders": ({"good": "true"}, 0), "shop/orders shop/none": ({}, 2)}
    for names, outcome in expected.items():
        runner.expressions |= {"vars.PULSAR_NEXT_BROKER": "", "vars.PULSAR_NAMESPACES": names}
        asked = runner.run(AUDIT["Audit"], {"REGISTRY": "local"})
        assert (asked.outputs, asked.code) == outcome, asked.printed
