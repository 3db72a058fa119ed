"""The tests of a file share one process, which starts one broker."""

from __future__ import annotations

import os

import pytest


@pytest.mark.broker
def test_the_broker_tests_of_a_file_stay_together(request: pytest.FixtureRequest) -> None:
    if not request.config.getoption("loadgroup", default=False):
        pytest.skip("tests are not shared out by groups here: --dist loadgroup")
    group = "broker" if os.environ.get("PULSAR_ADMIN_URL") else "broker test_one_broker"
    assert request.node.nodeid.endswith(f"@{group}")
