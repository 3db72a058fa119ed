"""Admin URLs, and texts that are none."""

from __future__ import annotations

import pytest

from gitops.model.errors import UsageError
from gitops.registries.pulsar.address import parse_address


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
     "http://[::1", "file:///etc/passwd", "http:///x", "http://b:0", "http://b\t:80", " http://b"],
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


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("pulsar://broker:6650", "write the web service URL: http://broker:8080"),
        ("pulsar+ssl://[::1]:6651", "write the web service URL: https://[::1]:8443"),
        ("pulsar://a:6650,b:6650", "one broker"),
        ("http://a:8080,b:8080", "one broker"),
        ("broker.example:8080", "write the scheme as well: http://broker.example:8080"),
        ("localhost", "http://broker.example:8080"),
        ("htpp://broker", "http://broker.example:8080"),
    ],
)
def test_what_to_write_instead_is_told(text: str, hint: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_address(text, "here")
    assert hint in error.value.hint


@pytest.mark.parametrize(
    "text", ["eyJhbGciOi.eyJzdWIi.c2VjcmV0", "pulsar://me:s3cret@broker", "me:s3cret@broker:8080"]
)
def test_a_secret_in_place_of_a_url_is_not_repeated(text: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_address(text, "here")
    told = f"{error.value} {error.value.hint}"
    assert not any(part in told for part in ("s3cret", "eyJ", "c2Vj"))
