"""What is left out of a document is counted in words that agree."""

from __future__ import annotations

import pytest

from gitops.reports.markdown.document import Section, fit, paragraphs


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


def test_details_are_cut_to_their_titles_before_anything_is_left_out() -> None:
    body = "x" * 900
    folds = tuple(
        f"<details><summary>✗ <b>t{number:03}</b>: no {number}</summary>\n\n{body}\n</details>\n\n"
        for number in range(300)
    )
    text = fit([Section(blocks=folds, cut=3, noun="refused topics' details")], 40_000, "all")

    assert len(text.encode()) <= 40_000
    assert all(f"<b>t{number:03}</b>: no {number}" in text for number in range(300))
    assert text.startswith("<details>")
    assert "_The details of " in text
    assert "_… and " not in text


def test_why_a_schema_is_refused_is_whole_before_what_matters_less() -> None:
    refused = "<details><summary>✗ <b>t</b>: no</summary>\n\nreason\n</details>\n\n"
    others = tuple(f"- finding {number} {'x' * 90}\n" for number in range(100))
    sections = [
        Section(blocks=(refused,), cut=3, noun="refused topics' details"),
        Section(blocks=others, cut=5, noun="findings"),
    ]

    text = fit(sections, 2_000, "all")

    assert refused in text
    assert "more findings, left out" in text


def test_one_blank_line_is_between_two_parts() -> None:
    assert paragraphs(("a\n\n", "", "b\n", "c\n\n")) == "a\n\nb\n\nc\n\n"
    assert paragraphs(("",)) == ""
