"""What somebody may write into a pull request to make a report say or do something else."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import Any, Final

from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

PIECES: Final = (
    "|",
    "\\|",
    "\\",
    "`",
    "``",
    "```\n",
    "~~~\n",
    "\n",
    "\n\n",
    "\r",
    "\u2028",
    "\x00",
    "\x1b[31m",
    "\u202e",
    "\u200b",
    "\ud800",
    "# heading\n",
    "- item\n",
    "1. item\n",
    "> quote\n",
    "+ ",
    "===\n",
    "---\n",
    "    code",
    "\t",
    "[link](http://evil.example)",
    "[ref]: http://evil.example\n",
    "![image](http://evil.example/x.png)",
    "<img src=x onerror=alert(1)>",
    "<http://evil.example>",
    "https://evil.example/a",
    "www.evil.example",
    "ftp://evil.example",
    "mailto:a@evil.example",
    "a@evil.example",
    "@octocat",
    "@acme/admins",
    "#123",
    "GH-12",
    "acme/shop#1",
    "</details>",
    "</summary>",
    "<details open>",
    "<!-- marker -->",
    "<!--",
    "<script>",
    "<br>",
    "&lt;b&gt;",
    "&#64;octocat",
    "[^1]",
    "[^1]: note\n",
    "[ ] ",
    "[!NOTE]",
    "**bold**",
    "_under_",
    "~~gone~~",
    "$x$",
    ":tada:",
    "'",
    '"',
    "a",
    " ",
    "::error::x",
    "::set-output name=verdict::good",
    "\n::stop-commands::pause\n",
    "##[set-output name=verdict;]good",
    "##[command]",
    "%0A::error::x",
    "%",
    ",",
    ":",
    "=",
)

TEXTS: Final = st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=8).map("".join)

OURS: Final = re.compile(r"</?(?:details|summary|b|br|sub|code)>|<details open>")
_LINKED: Final = re.compile(r"@\w|#\w|://|\bwww\.|\bGH-\d|:[a-z]\w+:", re.ASCII | re.IGNORECASE)
_NEVER: Final = frozenset({"link_open", "image", "blockquote_open", "hr", "s_open", "em_open"})


def renderer() -> MarkdownIt:
    """A renderer with tables, strikethrough, HTML and links of bare addresses, as GitHub has."""
    found = MarkdownIt("gfm-like", {"html": True})
    assert found.linkify is not None
    # `evil.example` without a scheme is no link for GitHub.
    found.linkify.set({"fuzzy_link": False, "fuzzy_email": True})
    return found


def tokens(text: str) -> list[Token]:
    """All tokens, those inside of paragraphs and cells too."""
    flat: list[Token] = []
    for token in renderer().parse(text):
        flat += [token, *(token.children or [])]
    return flat


def assert_inert(text: str) -> None:
    """Nothing in the document links, mentions, embeds or is HTML that is not ours."""
    for token in tokens(text):
        assert token.type not in _NEVER, token
        if token.type in ("html_block", "html_inline"):
            assert "<" not in OURS.sub("", token.content), token
            assert not _LINKED.search(html.unescape(OURS.sub(" ", token.content))), token
        elif token.type == "text":
            assert not _LINKED.search(token.content), token
    tags = "".join(token.content for token in tokens(text) if token.type == "html_block")
    opened = tags.count("<details>") + tags.count("<details open>")
    assert opened == tags.count("</details>") == tags.count("</summary>")
    assert_plain(text)


def assert_plain(text: str) -> None:
    """No character that nobody sees, none that a file does not take, no command of a runner."""
    assert not re.search(
        r"[\x00-\x09\x0b-\x1f\x7f\x85\u200b-\u200f\u2028-\u202e\u2060-\u2069\ud800-\udfff]", text
    )
    assert "##[" not in text
    assert not re.search(r"^\s*::[A-Za-z]", text, re.MULTILINE)


def poisoned(value: Any, texts: Iterator[str]) -> Any:  # noqa: ANN401 - any value of the model
    """The value with another text in the place of each of its texts; numbers and enums stay."""
    if isinstance(value, str):
        return next(texts)
    if isinstance(value, Enum):
        return value
    if isinstance(value, tuple):
        return tuple(poisoned(each, texts) for each in value)
    if isinstance(value, dict):
        return {poisoned(k, texts): poisoned(v, texts) for k, v in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        # A rule's id is the program's own.
        names = [f.name for f in fields(value) if f.name != "rule"]
        return replace(value, **{n: poisoned(getattr(value, n), texts) for n in names})
    return value
