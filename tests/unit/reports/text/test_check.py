"""A check in a terminal."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitops.model.check import CheckReport, History, HistorySource, Impact, RegistryCheck
from gitops.model.findings import Finding, Location, Severity
from gitops.model.names import TopicName
from gitops.model.plan import Plan, RefusedSchema, RegisterSchema
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.reports.text.check import check_report
from tests.support.consoles import shown

TOPICS = [TopicName.parse(f"shop/orders/t{number}") for number in range(8)]
INFO = SchemaInfo(type=SchemaType.STRING)
EMPTY = Plan(registry="production", address="http://pulsar:8080", files="sha256:abcdef0123")
HISTORY = History(source=HistorySource.SNAPSHOT, recorded="2026-11-20", limits=("Not all.",))
REPORT = CheckReport(
    base="1" * 40,
    head="2" * 40,
    reference="origin/main",
    files="sha256:abcdef0123",
    touched=Impact(),
    command="pulsar-gitops check --base origin/main",
)


def text(report: CheckReport) -> str:
    return shown(check_report(report, lambda _where: None, seconds=0.25))


def register(topic: TopicName) -> RegisterSchema:
    return RegisterSchema(
        topic=topic, info=INFO, version=1, latest_version=0, strategy=Strategy.BACKWARD
    )


def finding(number: int, severity: Severity = Severity.WARNING) -> Finding:
    where = Location(file=f"f{number}.yaml")
    return Finding(rule="REPO-R023", severity=severity, message=f"no {number}", location=where)


def test_the_head_the_history_and_the_way_to_repeat_it() -> None:
    report = text(replace(REPORT, registries=(RegistryCheck(plan=EMPTY, history=HISTORY),)))
    head = "compares origin/main 1111111..2222222 · files digest abcdef0\n"
    assert report.startswith(f"✓ Can be merged: no schema changes\n\nnext  merge\n\n{head}")
    assert report.count("Can be merged") == 1
    assert "\nno findings   " in report
    assert "production · http://pulsar:8080 · history from snapshot of 2026-11-20" in report
    assert "  Not all." in report
    assert report.rstrip().endswith("reproduce: pulsar-gitops check --base origin/main")


def test_the_files_in_the_folder_are_the_head() -> None:
    assert "1111111 with the files here" in text(replace(REPORT, head=""))


def test_a_file_that_affects_several_topics_is_named_with_their_number() -> None:
    touched = Impact(topics=dict.fromkeys(TOPICS, ("types/money.avsc",)))
    said = text(replace(REPORT, touched=touched))
    assert "affects 8 topics\n  types/money.avsc: 8 topics\n" in said


def test_what_the_old_strategy_would_refuse() -> None:
    why = finding(1, Severity.ERROR)
    one = RegistryCheck(
        plan=replace(EMPTY, actions=(register(TOPICS[0]),)),
        history=HISTORY,
        strategies_before={TOPICS[0]: Strategy.FULL},
        refused_before={TOPICS[0]: (why,)},
    )
    said = text(replace(REPORT, registries=(one,)))
    assert "BACKWARD (was FULL)" in said
    assert "shop/orders/t0 would be refused under FULL" in said
    assert "no 1" in said


def test_drift_stands_apart_without_its_findings() -> None:
    refused = RefusedSchema(
        topic=TOPICS[1],
        info=INFO,
        latest_version=0,
        strategy=Strategy.FULL,
        findings=(finding(7, Severity.ERROR),),
    )
    drift = replace(EMPTY, actions=(register(TOPICS[0]),), notices=(refused,))
    one = RegistryCheck(plan=EMPTY, history=HISTORY, drift=drift)
    own, _, apart = text(replace(REPORT, registries=(one,))).partition("not from this change")
    assert "shop/orders/t0" not in own
    assert "shop/orders/t0" in apart
    assert "shop/orders/t1" in apart
    assert "no 7" not in apart
    assert "no findings" in apart


def test_a_registry_without_an_answer() -> None:
    said = text(replace(REPORT, failures={"staging": "no \x1b[31manswer"}))
    assert "staging · no answer: no \\x1b[31manswer" in said
    assert "no findings" not in said
    assert "no answer from 1 of " in said


@pytest.mark.slow
def test_thousands_of_findings_are_cut_the_worst_stay_and_it_is_said() -> None:
    findings = (*map(finding, range(1000)), finding(5000, Severity.ERROR))
    said = text(replace(REPORT, findings=findings))
    assert "no 5000" in said
    assert said.count("REPO-R023") == 200
    assert "… 801 more findings, none worse" in said
    assert "1 error, 1000 warnings" in said
