"""What several registries have for one cause is told once, with the versions of each."""

from __future__ import annotations

import json
from dataclasses import replace

from gitops.model.check import CheckReport
from gitops.model.findings import Finding
from gitops.model.plan import RefusedSchema
from gitops.model.schema import SchemaEntry
from gitops.reports.check_summary import all_findings, reported_causes
from gitops.reports.codequality import codequality_text
from gitops.reports.github import github
from gitops.reports.markdown.report import markdown
from gitops.reports.results import CheckResult
from gitops.reports.text.check import check_report
from tests.support.checks import CAPTURED, CHECK, REFUSAL, STAGING
from tests.support.consoles import shown, unwrapped
from tests.support.states import STRING

_PATCH = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
_ON_PRODUCTION = replace(REFUSAL, patch=_PATCH)
_ON_STAGING = replace(_ON_PRODUCTION, message=REFUSAL.message.replace("v7", "v8, v7"))
_JOINED = (
    "the new schema cannot read messages of v7 on production and v8, v7 on staging at 'currency'"
)


def _report(*findings: Finding) -> CheckReport:
    """A topic that both registries refuse, each with a finding of its own."""
    one = CHECK.registries[1]
    (refused,) = (each for each in one.plan.notices if isinstance(each, RefusedSchema))
    registries = tuple(
        replace(
            one,
            plan=replace(
                one.plan,
                registry=name,
                actions=(),
                notices=(replace(refused, findings=(finding,)),),
                findings=(finding,),
            ),
        )
        for name, finding in zip(("production", "staging"), findings, strict=True)
    )
    return replace(CHECK, registries=registries, failures={}, findings=())


_REPORT = _report(_ON_PRODUCTION, _ON_STAGING)


def test_findings_that_differ_in_their_versions_are_one_cause() -> None:
    (told,) = reported_causes(all_findings(_REPORT))

    assert told.registries == ("production", "staging")
    assert told.finding.message.startswith(f"{_JOINED}: ")
    assert told.finding.fingerprint == _ON_PRODUCTION.fingerprint
    assert [one.message for one in told.finding.members] == [
        _ON_PRODUCTION.message,
        _ON_STAGING.message,
    ]


def test_other_edits_and_other_topics_are_other_causes() -> None:
    for other in (
        replace(_ON_STAGING, patch=""),
        replace(_ON_STAGING, subject="acme/b/c"),
        replace(_ON_STAGING, location=None),
    ):
        assert len(reported_causes(all_findings(_report(_ON_PRODUCTION, other)))) == 2


def test_it_is_one_annotation_and_one_entry() -> None:
    (line,) = github(_REPORT).splitlines()
    assert "on production%2C staging" in line
    (entry,) = json.loads(codequality_text(CheckResult(check=_REPORT, seconds=0)))
    assert _JOINED in entry["description"]


def test_a_terminal_shows_line_and_edit_once() -> None:
    for finding in (_ON_STAGING, _ON_PRODUCTION):
        text = shown(
            check_report(_report(_ON_PRODUCTION, finding), lambda _: "the line", seconds=0)
        )
        _, first, second = text.split(f"{REFUSAL.location}  AVRO-R002 error\n")
        claim = finding.message.partition(": ")[0]

        assert ("the line" in first, "- a\n" in first, "+ b\n" in first) == (True, True, True)
        assert ("the line" in second, "- a\n" in second) == (False, False)
        assert unwrapped(f"{claim} the same cause as on production, above") in unwrapped(second)


def test_a_comment_shows_the_edit_once() -> None:
    text = markdown(_REPORT)

    assert text.count("+b\n") == 1
    assert text.count(f"<b>{CAPTURED}</b> on production") == 1
    _, _, second = text.partition(f"<b>{CAPTURED}</b> on staging")
    assert "→ the same cause as on production, above\n" in second


def test_a_comment_has_one_fold_for_what_is_the_same() -> None:
    text = markdown(_report(_ON_PRODUCTION, _ON_PRODUCTION))

    assert text.count(f"<b>{CAPTURED}</b> on production, staging") == 1
    assert "the same cause" not in text


def test_versions_that_differ_between_registries_are_shown_of_plans() -> None:
    v2, v3 = ({CAPTURED: SchemaEntry(version=n, info=STRING)} for n in (2, 3))
    plans = replace(STAGING, latest=v3), replace(STAGING, registry="it", latest=v2)
    checks = tuple(replace(CHECK.registries[1], plan=plan) for plan in plans)
    report = replace(CHECK, registries=checks, failures={})
    skew = f"#### Other latest versions\n\n- `{CAPTURED}`: v3 at staging, v2 at it; same schema\n"

    assert skew in markdown(replace(report, base=""))
    assert "Other latest versions" not in markdown(report)
    assert "Other latest versions" not in markdown(replace(report, base="", registries=checks[:1]))
