"""The table of formats: each row leads to its renderer."""

from __future__ import annotations

import pytest

from gitops.reports import operation_results, results
from gitops.reports.formats import FORMATS, available_formats, renderer

ALL = tuple(name for name in FORMATS if name != "html")
"""The formats of what a pull request shows; html is for replays and audits."""

ROWS = [(name, kind) for name, kinds in FORMATS.items() for kind in kinds]


@pytest.mark.parametrize(("name", "kind"), ROWS, ids=lambda each: getattr(each, "__name__", each))
def test_each_row_leads_to_what_makes_the_text(name: str, kind: type) -> None:
    assert callable(renderer(name, kind))


def test_a_command_offers_the_formats_that_have_all_its_results() -> None:
    assert {"text", "json", "markdown", "github", "sarif"} <= {*ALL}
    assert (
        available_formats(results.CheckResult) == available_formats(results.FindingsResult) == ALL
    )
    assert available_formats(results.PlanResult, results.PlansResult, results.FindingsResult) == ALL
    assert available_formats(results.PlanResult, results.RolloutResult) == ("text", "json")
    assert available_formats(results.ReplayPage) == ("html",)
    assert available_formats(operation_results.AuditResult) == (*ALL, "html")


def test_a_kind_without_a_row_of_its_own_has_that_of_what_it_is_one_of() -> None:
    assert renderer("sarif", results.PlanResult) is renderer("sarif", results.ReviewResult)
    assert renderer("markdown", results.ReplayResult) is not renderer(
        "markdown", results.ReviewResult
    )


def test_a_format_without_a_row_for_a_kind_is_an_error_of_ours() -> None:
    with pytest.raises(KeyError, match="sarif has no RolloutResult"):
        renderer("sarif", results.RolloutResult)
