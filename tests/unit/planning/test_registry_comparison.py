"""Which registry is applied first, and whose versions differ."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitops.model.findings import Severity
from gitops.model.plan import Plan
from gitops.model.schema import SchemaEntry
from gitops.planning.plan_document import to_document
from gitops.planning.registry_comparison import (
    VersionSkew,
    not_applied_finding,
    noted,
    unknown_finding,
    version_skews,
)
from tests.support.plans import DRIFT, EVERYTHING
from tests.support.states import CREATED, INT64, STRING

_APPLIED = Plan(registry="staging", address="", files="")


def _plan(registry: str, version: int, info: object = STRING) -> Plan:
    entry = SchemaEntry(version=version, info=INT64 if info is INT64 else STRING)
    return replace(_APPLIED, registry=registry, latest={CREATED: entry})


@pytest.mark.rule("PLAN-R016")
def test_what_is_left_at_the_first_registry_is_counted() -> None:
    finding = not_applied_finding("production", replace(EVERYTHING, registry="staging"))

    assert finding is not None
    assert (finding.rule, finding.subject) == ("PLAN-R016", "production")
    assert finding.severity is Severity.ERROR
    assert finding.message == (
        "staging comes first, and is not applied: 7 actions to carry out, 1 schema refused"
    )


def test_a_registry_with_nothing_to_do_is_applied() -> None:
    assert not_applied_finding("production", _APPLIED) is None


def test_drift_that_no_apply_changes_is_not_waited_for() -> None:
    assert not_applied_finding("production", replace(_APPLIED, notices=(DRIFT,))) is None


def test_a_plan_has_a_note_that_is_no_part_of_its_digest() -> None:
    plan = noted(EVERYTHING, unknown_finding("production", "staging", "no answer"))

    assert plan.findings[-1].severity is Severity.INFO
    assert "whether it is applied is unknown: no answer" in plan.findings[-1].message
    assert to_document(plan)["digest"] == to_document(EVERYTHING)["digest"]
    assert noted(EVERYTHING, None) is EVERYTHING


@pytest.mark.parametrize(
    ("plans", "skew"),
    [
        ([_plan("a", 3), _plan("b", 3)], None),
        ([_plan("a", 3), _APPLIED], None),
        ([_plan("a", 3)], None),
        ([_plan("a", 3), _plan("b", 2)], ({"a": 3, "b": 2}, True)),
        ([_plan("a", 3), _plan("b", 3, INT64)], ({"a": 3, "b": 3}, False)),
        ([_plan("a", 3), _APPLIED, _plan("b", 2, INT64)], ({"a": 3, "b": 2}, False)),
    ],
)
def test_versions_and_schemas_that_differ_are_listed(
    plans: list[Plan], skew: tuple[dict[str, int], bool] | None
) -> None:
    expected = (VersionSkew(topic=CREATED, versions=skew[0], same_schema=skew[1]),) if skew else ()
    assert version_skews(plans) == expected
