"""The name of the topic that takes another's place."""

from __future__ import annotations

import pytest

from gitops.model.names import TopicName
from gitops.rollout.order import next_name


@pytest.mark.parametrize(
    ("topic", "taken", "wanted"),
    [
        ("a/b/orders", [], "a/b/orders-v2"),
        ("a/b/orders", ["a/b/orders-v2", "a/c/orders-v3"], "a/b/orders-v3"),
        ("a/b/orders", ["non-persistent://a/b/orders-v2"], "a/b/orders-v3"),
        ("a/b/orders-v2", [], "a/b/orders-v3"),
        ("a/b/orders-v9", ["a/b/orders-v10"], "a/b/orders-v11"),
        ("a/b/orders-v", [], "a/b/orders-v-v2"),
        ("a/b/-v1", [], "a/b/-v1-v2"),
        ("non-persistent://a/b/orders", [], "non-persistent://a/b/orders-v2"),
    ],
)
def test_the_next_free_number(topic: str, taken: list[str], wanted: str) -> None:
    names = {(str(one.namespace), one.local_name) for one in map(TopicName.parse, taken)}
    found = next_name(TopicName.parse(topic), names)
    assert str(found) == wanted
