"""Where Spark cannot get the packages of a test, the test is skipped with Spark's own reason."""

from __future__ import annotations

import pytest

from tests.support.spark import require_packages


def test_packages_that_are_not_found_skip_the_test() -> None:
    said = (
        "error: Spark does not start on local[2]: [unresolved dependency: "
        "org.apache.hadoop#hadoop-aws;3.5.0: not found, unresolved dependency: software.amazon…"
    )
    with pytest.raises(pytest.skip.Exception, match=r"hadoop-aws;3\.5\.0: not found"):
        require_packages(said)


def test_other_errors_do_not() -> None:
    require_packages("error: Spark does not start on local[2]: no memory")
