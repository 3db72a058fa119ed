"""All tests with a broker run in one process, which starts one broker."""

from __future__ import annotations

import pytest


@pytest.mark.broker
def test_tests_with_a_broker_stay_together(request: pytest.FixtureRequest) -> None:
    if not request.config.getoption("loadgroup", default=False):
        pytest.skip("tests are not shared out by groups here: --dist loadgroup")
    assert request.node.nodeid.endswith("@broker")
