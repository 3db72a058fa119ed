"""Several edits of one text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gitops.repository.definitions.text_edits import (
    Change,
    by_lines,
    change_of,
    is_apart,
    with_changes,
)


@given(st.text("ab\n", max_size=12), st.text("ab\n", max_size=12))
def test_a_change_makes_one_text_of_the_other(before: str, after: str) -> None:
    change = change_of(before, after)

    assert with_changes(before, [change]) == after
    assert 0 <= change.start <= change.end <= len(before)


def test_changes_that_touch_are_not_apart() -> None:
    change = Change(3, 5, "x")

    assert is_apart(change, [Change(0, 2, ""), Change(6, 6, "y")])
    assert not is_apart(change, [Change(5, 5, "y")])
    assert not is_apart(change, [Change(1, 3, "y")])
    assert with_changes("0123456", [Change(6, 6, "y"), change]) == "012x5y6"


def test_changes_of_one_line_are_together() -> None:
    first, second, third = Change(0, 1, ""), Change(4, 4, "x"), Change(2, 2, "y")

    assert by_lines("ab\ncd", [first, second, third]) == [[first, third], [second]]
