"""JSON with comments as a tree of its own words, so that nothing is read and written anew."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

_TOKEN: Final = re.compile(
    r"""(?P<space>[ \t\r\n]+)|(?P<comment>/\*.*?\*/|//[^\r\n]*)|(?P<mark>[\[\]{},:])
    |(?P<word>"(?:[^"\\]|\\.)*"|[^ \t\r\n\[\]{},:"/]+)""",
    re.DOTALL | re.VERBOSE,
)
_CLOSING: Final = {"{": "}", "[": "]"}
_BLANK_LINE: Final = 2


@dataclass(slots=True, kw_only=True)
class Item:
    """A member of an object, or an element of an array.

    `above` are comments on lines of their own, "" is a blank line; `beside` is one behind it.
    """

    above: list[str] = field(default_factory=list)
    key: str = ""
    value: Value = ""
    beside: str = ""


@dataclass(slots=True, kw_only=True)
class Container:
    """An object or an array; `tail` are the comments before its end."""

    opening: str
    items: list[Item] = field(default_factory=list)
    tail: list[str] = field(default_factory=list)

    @property
    def closing(self) -> str:
        """The bracket that ends it."""
        return _CLOSING[self.opening]


Value = str | Container


def read_tree(text: str) -> Item:
    """The tree of a text that is JSON with comments; deep ones need Python's recursion limit."""
    return _Reader(text).root()


class _Reader:
    """Reads token after token; comments wait in `_notes` until it shows where they belong."""

    def __init__(self, text: str) -> None:
        self._tokens = list(_TOKEN.finditer(text))
        self._at = 0
        self._notes: list[str] = []

    def root(self) -> Item:
        item = Item()
        self._space()
        item.above, self._notes = self._notes, []
        item.value = self._value(item)
        return item

    def _value(self, item: Item) -> Value:
        """The value of an item, which gets the comments in front of it."""
        item.above += [note for note in self._notes if note]
        self._notes = []
        word = self._next()
        if word not in _CLOSING:
            return word
        container = Container(opening=word)
        self._space()
        while self._peek() != container.closing:
            container.items.append(self._item(of_object=word == "{"))
        self._next()
        container.tail, self._notes = self._notes, []
        return container

    def _item(self, *, of_object: bool) -> Item:
        item = Item(above=self._notes)
        self._notes = []
        if of_object:
            item.key = self._next()
            self._space()
            self._next()
            self._space()
        item.value = self._value(item)
        self._beside(item)
        self._space()
        if self._peek() == ",":
            item.above += [note for note in self._notes if note]
            self._notes = []
            self._next()
            self._beside(item)
            self._space()
        return item

    def _beside(self, item: Item) -> None:
        """Take a comment that stands behind the item and ends its line."""
        at = self._at + (self._kind(self._at) == "space" and "\n" not in self._tokens[self._at][0])
        if self._kind(at) != "comment" or item.beside:
            return
        comment = _comment(self._tokens[at][0])
        ends_line = self._kind(at + 1) == "space" and "\n" in self._tokens[at + 1][0]
        if ends_line and "\n" not in comment:
            item.beside = comment
            self._at = at + 1

    def _space(self) -> None:
        """Pass over white space; comments and blank lines are noted."""
        while self._kind(self._at) in ("space", "comment"):
            token = self._tokens[self._at]
            if token.lastgroup == "comment":
                self._notes.append(_comment(token[0]))
            elif _lines(token[0]) >= _BLANK_LINE:
                self._notes.append("")
            self._at += 1

    def _kind(self, at: int) -> str:
        return self._tokens[at].lastgroup or "" if at < len(self._tokens) else ""

    def _peek(self) -> str:
        return self._tokens[self._at][0]

    def _next(self) -> str:
        self._at += 1
        return self._tokens[self._at - 1][0]


def _comment(text: str) -> str:
    return "\n".join(line.rstrip() for line in _unix(text).split("\n"))


def _lines(space: str) -> int:
    return _unix(space).count("\n")


def _unix(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
