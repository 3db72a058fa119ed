"""Answers whose text no encoding has a form for."""

from __future__ import annotations

import pytest
from starlette.responses import Response

from gitops.registry.rest import answers

HALF = "the name 'a\ud800' is not one"


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (answers.value([HALF]), 200),
        (answers.failure(HALF), 500),
        (answers.malformed(HALF), 400),
        (answers.page(HALF, 422, "/p", "text/html"), 422),
        (answers.page(HALF, 422, "/p", "application/json"), 422),
    ],
)
def test_half_of_a_surrogate_pair_is_a_question_mark(answer: Response, status: int) -> None:
    assert answer.status_code == status
    assert "a?" in bytes(answer.body).decode()
