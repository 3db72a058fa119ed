"""Which names a server answers for."""

from __future__ import annotations

import pytest

from gitops.registries.server.host_guard import HostNames, is_loopback

EVERYWHERE = "0.0.0.0"  # noqa: S104 - it is what must not pass for loopback


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("localhost", True),
        (EVERYWHERE, False),
        ("::", False),
        ("10.0.0.1", False),
        ("example.org", False),
    ],
)
def test_only_loopback_is_loopback(host: str, expected: bool) -> None:  # noqa: FBT001
    assert is_loopback(host) is expected


@pytest.mark.parametrize(
    "authority",
    ["localhost", "LOCALHOST:8080", "localhost.", "127.0.0.1", "127.1.2.3:80", "[::1]", "[::1]:8"],
)
@pytest.mark.parametrize("listening", ["127.0.0.1", "::1", "localhost", EVERYWHERE, "10.0.0.1"])
def test_loopback_is_this_server(listening: str, authority: str) -> None:
    assert HostNames(listening).accept(authority)


@pytest.mark.parametrize(
    "authority",
    [
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "evil.example:80@localhost",
        "evil.example@127.0.0.1",
        "localhost@evil.example",
        "localhost/evil.example",
        "evil.example#localhost",
        "evil.example?localhost",
        "localhost:0",
        "localhost:99999",
        "localhost:a",
        "[::1",
        "[localhost]",
        "0x7f.1",
        "2130706433",
        "",
        ":8080",
        "registry.example",
        "10.0.0.2",
    ],
)
def test_every_other_name_is_not_this_server(authority: str) -> None:
    assert not HostNames("127.0.0.1").accept(authority)


def test_a_server_for_other_machines_answers_for_addresses_and_its_name() -> None:
    names = HostNames("registry.example")
    assert names.accept("Registry.Example:8080")
    assert names.accept("10.0.0.2:8080")
    assert names.accept("[fe80::1]:8080")
    assert not names.accept("evil.example")


def test_further_names_are_accepted() -> None:
    names = HostNames("127.0.0.1", ["registry", "Registry.lan."])
    assert names.accept("registry:8080")
    assert names.accept("registry.lan")
    assert not names.accept("registry.example")
