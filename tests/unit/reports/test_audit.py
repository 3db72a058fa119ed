"""An audit in every format: what it says, and that no text in it does anything."""

from __future__ import annotations

import datetime
import html
import itertools
import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

import gitops
from gitops.model.audit import AuditCounts, AuditReport
from gitops.model.broker_settings import (
    assumed_settings,
    known_settings,
    named_broker,
    with_known,
)
from gitops.model.findings import Finding, Severity, group
from gitops.model.policy import BrokerSettings, SettingSource
from gitops.reports.audit_wording import member_text, scope_text, subject_count, verdict_text
from gitops.reports.formats import render
from gitops.reports.operation_results import AuditResult
from gitops.reports.text.audit import audit_text
from tests.support.audits import audit_of, record
from tests.support.consoles import shown
from tests.support.hostile_texts import PIECES, assert_inert, assert_plain, poisoned
from tests.support.states import field

DASHED = record(namespace="com.my-co")
REPORT = audit_of({"a": (DASHED,), "b": (DASHED, DASHED), "c": (record(),)}, target="5.0")
EMPTY = AuditReport(registry="local", address="local", line="4.0", counts=AuditCounts())


def result(report: AuditReport) -> AuditResult:
    return AuditResult(audit=report, command="pulsar-gitops audit", seconds=1.0)


def rendered(name: str, report: AuditReport) -> str:
    """The report in a format, as a terminal shows it where that lays it out."""
    body = render(name, result(report)).body
    if isinstance(body, Iterator):
        return "".join(body)
    return body if isinstance(body, str) else shown(body)


def finding(severity: Severity) -> Finding:
    return Finding(rule="AUDIT-H004", severity=severity, message="v0: no", subject="a/b/c")


def test_the_verdict_is_first() -> None:
    assert verdict_text(REPORT) == "✗ 2 of 3 topics lose something on 5.0"
    assert verdict_text(EMPTY) == "✓ no findings"
    ready = replace(EMPTY, target="5.0")
    assert verdict_text(ready) == "✓ 5.0 refuses nothing that 4.0 accepts"
    warned = replace(ready, findings=(finding(Severity.WARNING),))
    assert verdict_text(warned) == "⚠ 5.0 refuses nothing that 4.0 accepts"
    ill = replace(ready, findings=(finding(Severity.ERROR),))
    assert verdict_text(ill) == (
        "✓ 5.0 refuses nothing that 4.0 accepts; ✗ 1 error in the registry as it is"
    )
    assert verdict_text(replace(ill, target="")) == "✗ 1 error"


def test_errors_that_are_there_without_an_upgrade_are_in_the_verdict() -> None:
    ill = (*REPORT.findings, finding(Severity.ERROR), finding(Severity.WARNING))

    said = verdict_text(replace(REPORT, findings=ill, limits=("shop/a: no",)))

    assert said == ("✗ 2 of 3 topics lose something on 5.0; 1 other error; not all could be read")


def test_what_was_read_is_second() -> None:
    asked = replace(REPORT, strategy="FULL")
    assert scope_text(asked) == (
        "local · local.db · Pulsar 4.0 → 5.0 · history under FULL · 3 topics, 4 versions, "
        "1 namespace"
    )
    assert scope_text(EMPTY).startswith("local · Pulsar 4.0 · 0 topics")


def test_a_cause_counts_its_subjects() -> None:
    one = finding(Severity.ERROR)
    assert subject_count(one) == "a/b/c"
    assert subject_count(group("all", [one, one])) == "2 topics"
    space = replace(one, subject="a/b")
    assert subject_count(group("all", [space, space])) == "2 namespaces"
    assert member_text(one) == "a/b/c v0"
    assert member_text(replace(one, message="very: bad")) == "a/b/c"


@pytest.mark.slow
def test_many_topics_of_one_cause_are_counted() -> None:
    report = audit_of({f"t{n}": (DASHED,) for n in range(60)}, target="4.2")

    assert "… 55 more; --format json has all" in rendered("text", report)
    assert "- … 10 more; `--format json` has all\n" in rendered("markdown", report)
    (cause,) = [f for f in json.loads(rendered("json", report))["findings"]
                if f["rule"] == "AUDIT-U001"]  # fmt: skip
    assert len(cause["members"]) == 60


UNKNOWN = assumed_settings()
READ_IN_PART = with_known(
    UNKNOWN,
    known_settings({"release": "4.0.7"}, SettingSource.LEARNED, limits=("The role may not.",)),
)


@pytest.mark.parametrize("name", ["text", "markdown", "html", "sarif"])
def test_what_it_was_decided_by_and_what_is_assumed(name: str) -> None:
    def body(broker: BrokerSettings) -> str:
        unescaped = html.unescape(rendered(name, replace(REPORT, broker=broker)))
        return " ".join(unescaped.replace("\\", "").split())

    known = body(READ_IN_PART)
    assert "Pulsar 4.0.7 (learned), default strategy FULL (assumed)" in known
    assert "The role may not. `brokerDefaults:` in gitops.yaml sets what is assumed." in known
    unknown = body(UNKNOWN)
    assert "`--broker` and `brokerDefaults:` in gitops.yaml set what is assumed." in unknown
    named = body(named_broker(UNKNOWN, "4.2"))
    assert "Pulsar 4.2 (--broker), default strategy FULL (assumed)" in named
    assert "assumed" not in body(BrokerSettings())


@pytest.mark.parametrize("name", ["text", "json", "markdown", "html", "sarif"])
def test_a_finding_that_rests_on_what_is_assumed_has_a_mark(name: str) -> None:
    """Beside the reasons of its topics, which it leaves as they are."""
    versions = (record(field("b")), record(field("b", "int")))
    topics = {"a": versions, "b": (*versions, record(field("b", "long"))), "c": (DASHED,)}

    def body(broker: BrokerSettings) -> str:
        report = audit_of(topics, target="5.0", broker=broker)
        return " ".join(rendered(name, replace(report, broker=BrokerSettings())).split())

    marked, known = body(READ_IN_PART), body(BrokerSettings())
    assert "assumed: schemaCompatibilityStrategy FULL" in marked
    assert "assumed" not in known
    if name in ("text", "markdown", "html"):
        reason = "a reader of string cannot read int"
        assert known.count(reason) == marked.count(reason) == 2


def test_the_settings_in_json() -> None:
    assert json.loads(rendered("json", REPORT))["brokerSettings"] is None
    known = json.loads(rendered("json", replace(REPORT, broker=READ_IN_PART)))["brokerSettings"]
    assert known["release"] == "4.0.7"
    assert known["sources"]["schemaJsonAllowLegacyJacksonFormat"] == "assumed"


@pytest.mark.slow
def test_a_thousand_topics_of_one_cause_are_one_block() -> None:
    topics = {f"t{n:04}": (DASHED,) if n < 1000 else (record(),) for n in range(1001)}
    report = audit_of(topics, target="5.0")

    assert len([one for one in report.findings if one.rule.startswith("AUDIT-U00")]) == 2
    assert len(rendered("text", report).splitlines()) < 45
    assert len(rendered("markdown", report).encode()) < 8_000
    assert len(rendered("html", report).encode()) < 100_000
    (cause, _) = json.loads(rendered("json", report))["findings"][:2]
    assert len(cause["members"]) == 1000


def test_what_to_do_is_told_once_and_in_order() -> None:
    assert "1. on 4.0, before the first broker of 5.0, for shop/orders/a, " in rendered(
        "markdown", REPORT
    )
    assert "<ol>\n<li>on 4.0, before the first broker of 5.0" in rendered("html", REPORT)
    assert json.loads(rendered("json", REPORT))["steps"] == list(REPORT.steps)
    said = rendered("text", REPORT)
    assert said.index("what to do, in this order") > said.index("AUDIT-U001")
    for name in ("text", "markdown", "html"):
        assert "in this order" not in rendered(name, EMPTY)


def test_kinds_of_definitions_are_a_list_in_every_form() -> None:
    said = rendered("text", REPORT).splitlines()
    assert "      • `$` in names" in said
    assert "<br>• `$` in names<br>• " in rendered("markdown", REPORT)
    page = rendered("html", REPORT)
    assert "<ul>\n<li><code>$</code> in names</li>\n<li>" in page
    assert "•" not in page
    assert "`" not in page.partition("</style>")[2]


def test_a_page_has_its_day_its_commit_and_the_release_of_this_program() -> None:
    made = datetime.datetime(2026, 11, 24, 12, 30, tzinfo=datetime.UTC)
    known = replace(result(REPORT), made=made, commit=lambda: "4f1c9e2 <main>, clean")

    said = str(render("html", known).body)

    program = f"pulsar-gitops {gitops.__version__}"
    assert f"2026-11-24 12:30 UTC · commit 4f1c9e2 &lt;main&gt;, clean · {program}</p>" in said
    assert f'<p class="soft">{program}</p>' in rendered("html", REPORT)


@pytest.mark.parametrize("width", [60, 80, 120])
def test_versions_stand_below_each_other(width: int) -> None:
    said = shown(audit_text(result(REPORT)), width=width).splitlines()
    assert "      shop/orders/a   v0" in said
    assert "      shop/orders/b   v0, v1" in said
    assert all(len(one) <= width for one in said)


def test_one_subject_has_its_versions_beside_it() -> None:
    alone = audit_of({"b": (DASHED, DASHED)}, target="5.0")
    assert "✗ shop/orders/b  v0, v1  AUDIT-U001 error\n" in rendered("text", alone)
    assert "| `shop/orders/b` v0, v1 | `my-co` is not a name" in rendered("markdown", alone)


def test_namespaces_that_could_be_stricter_are_one_cause() -> None:
    cause = "all topics satisfy FULL"
    one, two = (
        Finding(
            rule="AUDIT-S002",
            severity=Severity.INFO,
            message=f"{strategy} is in force: {cause}",
            subject=f"shop/{strategy.lower()}",
        )
        for strategy in ("BACKWARD", "FORWARD")
    )
    said = rendered("text", replace(EMPTY, findings=(group(cause, [one, two]),)))
    assert "      shop/backward   BACKWARD is in force\n" in said


def test_what_is_in_no_list_is_one_line() -> None:
    report = replace(EMPTY, unlisted="schemas of topics that do not exist")
    for name in ("text", "markdown", "html", "sarif"):
        assert "not seen: schemas of topics that do not exist" in rendered(name, report)
    assert json.loads(rendered("json", report))["unlisted"] == report.unlisted
    assert verdict_text(report) == "✓ no findings"


def test_what_was_not_read_is_said() -> None:
    report = replace(EMPTY, limits=("shop/orders: its topics could not be listed: 403",))
    assert verdict_text(report) == "⚠ no findings; not all could be read"
    assert verdict_text(replace(report, target="5.0")).startswith("⚠ 5.0 refuses nothing")
    for name in ("text", "markdown", "html"):
        assert "shop/orders" in rendered(name, report)


@pytest.mark.parametrize("name", ["text", "markdown", "html", "sarif", "json"])
@pytest.mark.parametrize("piece", PIECES)
def test_a_hostile_piece_does_nothing(name: str, piece: str) -> None:
    body = rendered(name, poisoned(REPORT, itertools.repeat(piece)))

    if name == "markdown":
        assert_inert(body)
    elif name in ("text", "html"):
        assert_plain(body)
        assert "<script" not in body or name == "text"
    else:
        json.loads(body)
