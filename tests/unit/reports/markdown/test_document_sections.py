"""What is left out of a document is counted in words that agree."""

from __future__ import annotations

import pytest

from gitops.reports.markdown.document import Section, fit


@pytest.mark.parametrize(
    ("left", "noun", "said"),
    [
        (1, "topics", "and 1 more topic, left out"),
        (2, "topics", "and 2 more topics, left out"),
        (1, "registries", "and 1 more registry, left out"),
        (1, "topics' details", "and 1 more topics' details, left out"),
    ],
)
def test_what_is_left_out_is_counted(left: int, noun: str, said: str) -> None:
    section = Section(blocks=("x" * 300,) * (left + 1), cut=1, noun=noun)
    assert said in fit([section], 300 * (left + 1) - 1 if left == 1 else 460, "see all")
