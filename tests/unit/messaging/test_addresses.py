"""Service URLs."""

from __future__ import annotations

import pytest

from gitops.messaging.addresses import parse_service_url
from gitops.model.errors import UsageError


def test_hosts_and_ports() -> None:
    assert [str(each) for each in parse_service_url("pulsar://a,b:1234,[::1]:5")] == [
        "pulsar://a:6650",
        "pulsar://b:1234",
        "pulsar://[::1]:5",
    ]
    (secure,) = parse_service_url("pulsar+ssl://broker.example/")
    assert (str(secure), secure.authority) == (
        "pulsar+ssl://broker.example:6651",
        "broker.example:6651",
    )


@pytest.mark.parametrize(
    "text",
    ["", "pulsar:", "http://a", "pulsar://", "pulsar://a,", "pulsar://a:b", "pulsar://a:70000",
     "pulsar://a:0", "pulsar://user:secret@a", "pulsar://a/b", "pulsar://a?b", "pulsar://[::1"],
)  # fmt: skip
def test_what_is_no_service_url(text: str) -> None:
    with pytest.raises(UsageError, match="not the service URL") as caught:
        parse_service_url(text)
    assert "secret" not in f"{caught.value} {caught.value.hint}"
