"""Which entry point opens which kind of registry."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

from gitops.model.errors import UsageError
from gitops.registry.opening import GROUP, find_kind


def point(name: str, value: str) -> EntryPoint:
    return EntryPoint(name=name, value=value, group=GROUP)


OURS = point("pulsar", "gitops.registry.pulsar.registry:open_registry")


def test_the_entry_point_of_the_kind_is_found() -> None:
    other = point("embedded", "gitops.registry.embedded.registry:open_registry")
    assert find_kind("pulsar", [other, OURS]) is OURS


def test_our_function_is_what_the_entry_point_names() -> None:
    from gitops.registry.pulsar.registry import open_registry

    assert find_kind("pulsar", [OURS]).load() is open_registry


def test_the_same_entry_point_seen_twice_is_one() -> None:
    assert find_kind("pulsar", [OURS, point(OURS.name, OURS.value)]) is not None


def test_a_kind_that_nobody_offers_is_named() -> None:
    with pytest.raises(UsageError, match="kind 'pulsar'"):
        find_kind("pulsar", [])


def test_two_packages_with_one_kind_are_both_named() -> None:
    with pytest.raises(UsageError, match=r"gitops\.registry\.pulsar.*plugin:open"):
        find_kind("pulsar", [OURS, point("pulsar", "plugin:open")])
