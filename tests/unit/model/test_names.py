"""Names as Pulsar 4.0.7 reads them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops.model.errors import InvalidNameError
from gitops.model.names import NamespaceName, TopicName

_ORDERS = NamespaceName("shop", "orders")


@pytest.mark.parametrize("text", ["shop/orders", "a/b", "A-1=:._z/x", "_/-"])
def test_namespaces(text: str) -> None:
    assert str(NamespaceName.parse(text)) == text


@pytest.mark.parametrize(
    "text",
    ["", "shop", "/", "shop/", "/orders", "a/b/c", "a b/c", "é/b", "a/b\n", "persistent://a/b"],
)
def test_what_is_no_namespace(text: str) -> None:
    with pytest.raises(InvalidNameError) as raised:
        NamespaceName.parse(text)

    assert raised.value.hint


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("shop/orders/created", "shop/orders/created"),
        ("persistent://shop/orders/created", "shop/orders/created"),
        ("non-persistent://shop/orders/x", "non-persistent://shop/orders/x"),
        ("topic://shop/orders/created", "shop/orders/created"),
        ("shop/orders/é x", "shop/orders/é x"),
    ],
)
def test_topics(text: str, shown: str) -> None:
    topic = TopicName.parse(text)

    assert str(topic) == shown
    assert TopicName.parse(str(topic)) == topic


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("x-partition-0", "x"),
        ("x-partition-10", "x"),
        ("x-partition-2147483647", "x"),
        ("x-partition-0-partition-1", "x-partition-0"),
        ("x-partition-01", "x-partition-01"),
        ("x-partition-2147483648", "x-partition-2147483648"),
        ("x-partition-99999999999", "x-partition-99999999999"),
        ("x-partition--1", "x-partition--1"),
        ("x-partition-+3", "x-partition-+3"),
        ("x-partition-3\n", "x-partition-3\n"),
        ("x-partition-", "x-partition-"),
        ("x-partition-1x", "x-partition-1x"),
    ],
)
def test_a_partition_is_its_topic(name: str, kept: str) -> None:
    """As org.apache.pulsar.common.naming.TopicName of Pulsar 4.0.7 answers."""
    assert TopicName.of(_ORDERS, name).local_name == kept


def test_a_partition_is_no_whole_topic() -> None:
    with pytest.raises(InvalidNameError, match="is the name of a partition") as caught:
        TopicName.parse_whole("persistent://shop/orders/0-partition-0")
    assert caught.value.hint == "name the topic, with all of its partitions: shop/orders/0"
    for name in ("shop/orders/x-partition-01", "non-persistent://shop/orders/x"):
        assert TopicName.parse_whole(name) == TopicName.parse(name)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "shop/orders",
        "shop/orders/",
        "shop/orders/ ",
        "shop/orders/a/b",
        "shop/orders/-partition-3",
        "https://shop/orders/x",
        "shop//x",
        "PERSISTENT://shop/orders/x",
    ],
)
def test_what_is_no_topic(text: str) -> None:
    with pytest.raises(InvalidNameError) as raised:
        TopicName.parse(text)

    assert raised.value.exit_code == 2


@given(st.text())
def test_no_text_makes_a_traceback(text: str) -> None:
    for kind in (NamespaceName, TopicName):
        try:
            assert kind.parse(kind.parse(text).__str__()) == kind.parse(text)
        except InvalidNameError:
            continue


def test_topics_sort_by_namespace_then_name() -> None:
    names = ["b/a/x", "a/b/x", "a/a/y", "non-persistent://a/a/x", "a/a/x"]

    assert [str(topic) for topic in sorted(map(TopicName.parse, names))] == [
        "non-persistent://a/a/x",
        "a/a/x",
        "a/a/y",
        "a/b/x",
        "b/a/x",
    ]
