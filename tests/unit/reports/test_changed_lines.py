"""The lines of an edit that reports show."""

from __future__ import annotations

from gitops.reports.check_summary import changed_lines


def _patch(*lines: str) -> str:
    return "\n".join(["--- a/order.avsc", "+++ b/order.avsc", "@@ -1,1 +1,1 @@", *lines])


def test_short_lines_are_shown_whole() -> None:
    assert changed_lines(_patch(" {", "-  old", "+  new,", "+  more")) == [
        "- old",
        "+ new,",
        "+ more",
    ]


def test_of_long_lines_the_part_that_differs_is_shown() -> None:
    before, after = "b" * 300, "a" * 300

    old, new = changed_lines(_patch(f"-{before}int{after}", f"+{before}long{after}"))

    assert old == f"- … {'b' * 40}int{'a' * 40} …"
    assert new == f"+ … {'b' * 40}long{'a' * 40} …"


def test_a_part_that_repeats_what_is_around_it_is_shown() -> None:
    text = "x" * 250

    assert changed_lines(_patch(f"-{text}", f"+{text}x")) == [
        f"- … {'x' * 40}",
        f"+ … {'x' * 41}",
    ]
