"""Items that are made in a thread while the caller works on the ones before."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from gitops.interrupts import read_ahead
from gitops.model.errors import OutsideError


def test_the_next_item_is_made_while_the_caller_works() -> None:
    second = threading.Event()

    def source() -> Iterator[int]:
        yield 0
        second.set()
        yield 1
        yield 2

    items = read_ahead(source())
    assert next(items) == 0
    assert second.wait(5)
    assert [*items] == [1, 2]


def test_a_failure_of_the_source_comes_after_what_it_made() -> None:
    def source() -> Iterator[int]:
        yield 1
        raise OutsideError("the wire is cut")

    items = read_ahead(source())
    assert next(items) == 1
    with pytest.raises(OutsideError):
        next(items)
