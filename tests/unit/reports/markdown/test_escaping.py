"""Whatever a text holds, Markdown shows it and does nothing else."""

from __future__ import annotations

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops.reports.markdown.escaping import block, code, message, prose
from tests.support.hostile_texts import PIECES, TEXTS, assert_inert, renderer, tokens


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("reader field has no default", "reader field has no default"),
        ("a|b", "a&#124;b"),
        ("[x](http://y)", "&#91;x&#93;(http:&#8203;//y)"),
        ("@acme/admins, see #12 and GH-3", "@&#8203;acme/admins, see #&#8203;12 and GH&#8203;-3"),
        ("<!-- x -->", "&#60;!-- x --&#62;"),
        ("- item", "&#45; item"),
        ("12. item", "12&#46; item"),
        ("2026-11-20", "2026-11-20"),
        ("\u202egnp.exe", "&#92;u202egnp.exe"),
        ("", ""),
    ],
)
def test_prose_is_written_as_it_should(text: str, shown: str) -> None:
    assert prose(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("shop/orders", "`shop/orders`"),
        ("a`b", "``a`b``"),
        ("`a`", "`` `a` ``"),
        ("a|b", "`a\\x7cb`"),
        ("a\\|b", "`a\\\\x7cb`"),
        ("a\nb", "`a\\nb`"),
        (" ", "–"),
        ("", "–"),
    ],
)
def test_code_is_written_as_it_should(text: str, shown: str) -> None:
    assert code(text) == shown


def test_what_a_message_has_in_backticks_is_code() -> None:
    assert message("`plan --prune` deletes 'it', ` not") == (
        "`plan --prune` deletes `it`, &#96; not"
    )


def test_what_a_message_quotes_is_code() -> None:
    assert message("the topic's field 'a|b' has no [default]") == (
        "the topic's field `a\\x7cb` has no &#91;default&#93;"
    )


def test_a_block_is_fenced_with_more_than_its_lines_have() -> None:
    assert block(["+ ````", "- b"], "diff") == "`````diff\n+ ````\n- b\n`````\n"
    assert block([]) == "```\n```\n"
    assert "\n… 40 more lines\n" in block(["x"] * 100)


@pytest.mark.parametrize("piece", PIECES)
def test_no_piece_does_anything(piece: str) -> None:
    for text in (piece, f"a {piece}", f"{piece}{piece}", f"x{piece} y"):
        _check(text)


@pytest.mark.slow
@given(TEXTS)
def test_no_text_does_anything(text: str) -> None:
    _check(text)


def _check(text: str) -> None:
    assert_inert(f"{prose(text)}\n")
    assert_inert(f"- {code(text)} {message(text)}\n")
    assert_inert(f"<details><summary>{prose(text)}</summary>\n\n{code(text)}\n\n</details>\n")
    kinds = [token.type for token in tokens(f"{block(text.split(chr(10)), 'diff')}\nend\n")]
    assert kinds == ["fence", "paragraph_open", "inline", "text", "paragraph_close"]
    table = f"| a | b | c |\n|---|---|---|\n| {code(text)} | {prose(text)} | {message(text)} |\n"
    assert_inert(table)
    found = tokens(table)
    assert [token.type for token in found].count("td_open") == 3
    assert [token.type for token in found].count("tr_open") == 2
    assert not any(token.type.startswith(("heading", "list", "bullet")) for token in found)


@pytest.mark.slow
@given(st.text(st.characters(categories=["L", "N", "P", "S"], exclude_characters="|"), max_size=50))
def test_a_reader_sees_the_text_itself(text: str) -> None:
    shown = html.unescape(renderer().renderInline(code(text)))
    if not text.strip():
        assert shown == "–"
    elif "##[" not in text and "::" not in text:
        assert shown == f"<code>{text}</code>"
