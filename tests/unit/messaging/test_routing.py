"""Hashes of keys; all of Java's own are compared in tests/broker/java/test_java_protocol.py."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops.messaging.routing import HASHES, java_string_hash, murmur3_32_hash


@pytest.mark.parametrize(
    ("key", "java", "murmur"),
    [("", 0, 0), ("hello", 99162322, 613153351), ("order-1", 940372338, 1970427425)],
)
def test_known_hashes(key: str, java: int, murmur: int) -> None:
    assert (java_string_hash(key), murmur3_32_hash(key)) == (java, murmur)


@given(st.text())
def test_hashes_are_those_of_java_ints_without_a_sign(key: str) -> None:
    assert all(0 <= one(key) < 2**31 for one in HASHES.values())
