"""Answers whose text HTML or no encoding has a form for."""

from __future__ import annotations

import pytest
from starlette.responses import Response

from gitops.registries.pulsar.error_responses import answer_text
from gitops.registries.server import responses

HALF = "the name 'a\ud800' is not one"


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (responses.value([HALF]), 200),
        (responses.failure(HALF), 500),
        (responses.bad_request(HALF), 400),
        (responses.page(HALF, 422, "/p", "text/html"), 422),
        (responses.page(HALF, 422, "/p", "application/json"), 422),
    ],
)
def test_half_of_a_surrogate_pair_is_a_question_mark(answer: Response, status: int) -> None:
    assert answer.status_code == status
    assert "a?" in bytes(answer.body).decode()


@pytest.mark.parametrize("accept", ["application/json", "text/html"])
def test_a_client_shows_the_message_of_a_page_as_it_was_before_html(accept: str) -> None:
    said = "reader field 'street' <b>&amp;</b>"
    answer = responses.page(said, 409, "/admin/v2/x", accept)

    assert answer_text(bytes(answer.body), answer.headers["content-type"]) == said
