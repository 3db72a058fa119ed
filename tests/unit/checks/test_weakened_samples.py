"""What is said of a replay that sees less than before."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitops.checks.weakened_samples import sample_settings_weakened
from gitops.model.findings import Location, Severity
from gitops.model.replay import Sample
from tests.support.states import CREATED

SAMPLE = Sample(
    format="avro", path="x/*.avro", location=Location(file="created.yaml", line=7, column=5)
)


@pytest.mark.rule("CHECK-R008")
@pytest.mark.parametrize(
    ("before", "after", "limits"),
    [(0, 1, "0 → 1"), (0, 0.001, "0 → 0.1 %"), (0.1, 0.5, "10 % → 50 %"), (5, 0.01, "5 → 1 %")],
)
def test_a_limit_that_is_raised(before: float, after: float, limits: str) -> None:
    """Of a share, nobody knows how many messages that is."""
    samples = (replace(SAMPLE, max_failures=limit) for limit in (before, after))
    (found,) = sample_settings_weakened(CREATED, *samples)
    assert (found.rule, found.severity) == ("CHECK-R008", Severity.WARNING)
    assert found.message == f"maxFailures of the sample x/*.avro is raised: {limits}"
    assert found.location == SAMPLE.location
    assert found.subject == str(CREATED)


def test_logical_types_that_are_looked_at_again() -> None:
    samples = (replace(SAMPLE, logical_types=how) for how in ("none", "java"))
    assert list(sample_settings_weakened(CREATED, *samples)) == []


@pytest.mark.parametrize(
    ("before", "after"), [(1, 0), (5, 5), (0.5, 0.1), (0.5, 0), (5, 0.0), (0, 0.0), (0.0, 0)]
)
def test_a_limit_that_is_not(before: float, after: float) -> None:
    samples = (replace(SAMPLE, max_failures=limit) for limit in (before, after))
    assert list(sample_settings_weakened(CREATED, *samples)) == []
