"""Admin URLs, and texts that are none."""

from __future__ import annotations

import pytest

from gitops.model.errors import UsageError
from gitops.registry.pulsar.address import parse_address


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("http://broker:8080", "http://broker:8080"),
        ("http://broker:8080/", "http://broker:8080"),
        ("https://broker.example", "https://broker.example:443"),
        ("http://[::1]:8080", "http://[::1]:8080"),
        ("https://gate/pulsar/", "https://gate:443/pulsar"),
        ("http://broker:8080/admin/v2/", "http://broker:8080"),
    ],
)
def test_an_admin_url(text: str, shown: str) -> None:
    assert str(parse_address(text, "here")) == shown


@pytest.mark.parametrize(
    "text",
    ["", "broker:8080", "pulsar://broker:6650", "http://", "http://b:port", "http://b:99999",
     "http://[::1", "file:///etc/passwd", "http:///x"],
)  # fmt: skip
def test_what_is_no_admin_url(text: str) -> None:
    with pytest.raises(UsageError, match="not an http or https URL") as error:
        parse_address(text, "here")
    assert error.value.where == "here"


@pytest.mark.parametrize(
    "text", ["http://me:s3cret@broker", "http://broker?token=s3cret", "http://broker/#s3cret"]
)
def test_a_url_with_a_secret_is_refused_without_repeating_it(text: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_address(text, "here")
    assert "s3cret" not in f"{error.value} {error.value.where} {error.value.hint}"
    assert "authentication" in error.value.hint
