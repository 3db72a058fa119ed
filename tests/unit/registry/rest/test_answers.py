"""Answers whose text HTML or no encoding has a form for."""

from __future__ import annotations

import pytest
from starlette.responses import Response

from gitops.registry.pulsar.messages import answer_text
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


@pytest.mark.parametrize("accept", ["application/json", "text/html"])
def test_a_client_shows_the_message_of_a_page_as_it_was_before_html(accept: str) -> None:
    said = "reader field 'street' <b>&amp;</b>"
    answer = answers.page(said, 409, "/admin/v2/x", accept)

    assert answer_text(bytes(answer.body), answer.headers["content-type"]) == said
