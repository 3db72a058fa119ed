"""Words of files inside messages: none may break a line or colour a terminal."""

from __future__ import annotations


def one_line(text: str) -> str:
    """The text with every character that does not print written as an escape."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )
