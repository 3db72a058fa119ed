"""Lines and rows in terminals of any width."""

from __future__ import annotations

import pytest
from rich.text import Text

from gitops.reports.text.layout import Hanging, align_columns
from tests.support.consoles import shown

_ROWS = [[Text("name"), Text("messages")], [Text("a"), Text("400")], [Text("longest"), Text("7")]]


@pytest.mark.parametrize(("width", "gap"), [(18, 3), (17, 2), (16, 1)])
def test_all_rows_have_the_widest_gap_with_which_every_row_fits(width: int, gap: int) -> None:
    assert shown(align_columns(_ROWS), width=width).splitlines() == [
        f"name   {' ' * gap}messages",
        f"a      {' ' * gap}400",
        f"longest{' ' * gap}7",
    ]


def test_rows_that_fit_with_no_gap_wrap_with_their_further_lines_set_in() -> None:
    assert shown(align_columns(_ROWS), width=13).splitlines()[:2] == ["name", "    messages"]


def test_further_lines_of_a_hanging_text_are_set_in() -> None:
    text = Text("one two three four")

    assert shown(Hanging(text, 2), width=9).splitlines() == ["one two", "  three", "  four"]
    assert shown(Hanging(text, 2), width=18).splitlines() == ["one two three four"]
