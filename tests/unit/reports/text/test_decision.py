"""The report of a decision that has very much to say."""

from __future__ import annotations

import io

from rich.console import Console

from gitops.model.decision import Decision
from gitops.model.findings import Finding, Severity
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.reports.text.decision import decision_report
from gitops.repository.file_comparison import Comparison


def test_a_long_list_is_cut_and_says_so() -> None:
    findings = [
        Finding(rule="AVRO-R001", severity=Severity.ERROR, message=f"number {number}.")
        for number in range(250)
    ]
    report = decision_report(
        Comparison(
            strategy=SchemaCompatibilityStrategy.FULL,
            decision=Decision(accepted=False),
            findings=tuple(findings),
            changes=(),
            texts={},
        )
    )
    printed = io.StringIO()
    Console(file=printed, width=100).print(report)
    said = printed.getvalue()
    assert "number 199." in said
    assert "number 200." not in said
    assert "… 50 more findings; `--format json` has all" in said
