"""Numbers of versions that a registry would give a second time."""

from __future__ import annotations

from typing import Final

import pytest

from gitops.model.policy import BrokerSettings
from gitops.model.schema import SchemaHistory
from gitops.planning.lost_versions import lost_numbers
from tests.support.states import INT64, STRING, history

_DELETED: Final = SchemaHistory(next_version=3)


@pytest.mark.parametrize(
    ("release", "lost"), [("3.0.7", set()), ("4.0.7", {0, 1, 2}), ("9.1", {0, 1, 2})]
)
def test_a_broker_that_shows_no_tombstone_may_still_have_it(release: str, lost: set[int]) -> None:
    broker = BrokerSettings(release=release)

    assert lost_numbers(_DELETED, SchemaHistory(), broker) == lost


def test_versions_that_are_gone_are_lost_on_every_broker() -> None:
    recorded, live = history(STRING, INT64), history(STRING)

    assert lost_numbers(recorded, live, BrokerSettings(release="9.1")) == {1}
