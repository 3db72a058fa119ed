"""What error bodies of all kinds say, in one line."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops.registries.pulsar.error_responses import answer_text, exception_name, one_line

UNEXPECTED = json.dumps(
    {
        "reason": "\n --- An unexpected error occurred in the server ---\n\n"
        'Message: Invalid default for field a: "x" not a "int"\n\nStacktrace:\n\n'
        "org.apache.avro.AvroTypeException: Invalid default\n\tat org.apache.avro.Schema…"
    }
).encode()
JETTY = b"""<html><head><title>Error 409 Unable to read: &apos;a&apos;</title></head>
<body><h2>HTTP ERROR 409 Unable to read: &apos;a&apos;</h2><table>
<tr><th>URI:</th><td>/admin/v2/x</td></tr><tr><th>STATUS:</th><td>409</td></tr>
<tr><th>MESSAGE:</th><td>Unable to read:
{ &quot;a&quot; : 1 }</td></tr></table></body></html>"""
JETTY_JSON = b"""{
"servlet":"S",
"message":"Invalid: &apos;a\\\\b&quot;&apos;",
"url":"/admin/v2/x",
"status":"422"
}"""


@pytest.mark.parametrize(
    ("body", "content_type", "said"),
    [
        (b'{"reason":"Namespace does not exist"}', "application/json", "Namespace does not exist"),
        (UNEXPECTED, "application/json", 'Invalid default for field a: "x" not a "int"'),
        (JETTY, "text/html;charset=iso-8859-1", 'Unable to read: { "a" : 1 }'),
        (JETTY_JSON, "application/json", "Invalid: 'a\\b\"'"),
        (b"<h2>HTTP ERROR 401 Log in</h2>", "text/html", "Log in"),
        (b"<html><title>502 Bad Gateway</title>nginx", "text/html", "502 Bad Gateway"),
        (b" <HTML><TITLE>Sign in</TITLE>", "", "Sign in"),
        (b"<html>nothing to see", "text/html", "Conflict"),
        (b"Bad\r\n\tRequest\x1b[31m", "text/plain", "Bad Request [31m"),
        ("é".encode("latin-1"), "text/plain; charset=ISO-8859-1", "é"),
        (b"text", "text/plain; charset=none-such", "text"),
        (b"", "", "Conflict"),
        (b"[1, 2]", "application/json", "[1, 2]"),
        (b'{"reason": 5}', "application/json", '{"reason": 5}'),
        (b'{"error":"invalid_client","error_description":"no"}', "application/json", "no"),
        (b"[" * 100_000, "application/json", "[" * 1000 + "…"),
    ],
)  # fmt: skip
def test_what_an_answer_says(body: bytes, content_type: str, said: str) -> None:
    assert answer_text(body, content_type, "Conflict") == said


@pytest.mark.parametrize(
    ("escaped", "said"),
    [
        ("reader field &#x27;street&#x27;", "reader field 'street'"),
        ("&amp;#x27;", "&#x27;"),
        ("no&#10;::error::&#x1b;[31m&#8232;you", "no ::error::[31m you"),
    ],
)
def test_an_error_page_in_json_is_unescaped_once_and_stays_one_line(
    escaped: str, said: str
) -> None:
    page = json.dumps({"message": escaped, "url": "/admin/v2/x", "status": "422"}).encode()

    assert answer_text(page, "application/json") == said


def test_what_is_no_error_page_is_not_unescaped() -> None:
    assert answer_text(b'{"reason":"a&amp;b"}', "application/json") == "a&amp;b"


def test_an_answer_that_says_nothing() -> None:
    assert answer_text(b"", "") == "nothing"


def test_the_exception_of_a_stack_trace() -> None:
    assert exception_name(UNEXPECTED) == "org.apache.avro.AvroTypeException"
    assert exception_name(b'{"reason":"no"}') == ""
    assert exception_name(JETTY) == ""


@given(st.binary(), st.text(), st.text())
def test_whatever_comes_is_one_printable_line(body: bytes, content_type: str, reason: str) -> None:
    said = answer_text(body, content_type, reason)
    assert said
    assert said.isprintable()
    assert len(said) <= 1001


@pytest.mark.slow
@given(st.text())
def test_one_line_is_stable(text: str) -> None:
    assert one_line(one_line(text)) == one_line(text)


_PAGE = (
    "<html><head><title>Error 422 Unprocessable Entity</title></head><body>"
    "<h2>HTTP ERROR 422 Unprocessable Entity</h2><table>"
    "<tr><th>STATUS:</th><td>422</td></tr>"
    "<tr><th>MESSAGE:</th><td>Invalid schema &amp; data</td></tr></table></body></html>"
)


@pytest.mark.parametrize(
    ("body", "content_type", "reason"),
    [
        pytest.param("", "", "Invalid schema & data", id="until 4.0 in the reason phrase"),
        pytest.param(
            _PAGE, "text/html;charset=iso-8859-1", "Unprocessable Entity", id="since 4.2 in a page"
        ),
        pytest.param(
            '{"url": "/admin", "status": "422", "message": "Invalid schema &amp; data"}',
            "application/json",
            "Unprocessable Entity",
            id="since 4.2 in JSON",
        ),
    ],
)
def test_a_refusal_is_read_in_the_form_of_each_line(
    body: str, content_type: str, reason: str
) -> None:
    assert answer_text(body.encode(), content_type, reason) == "Invalid schema & data"
