"""Gives every comment and blank line of a YAML text to the entry that it is about."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import Final, NamedTuple

from gitops.repository.formatting.yaml_tree import Block, Entry, Leaf, Tree

_COMMENT: Final = re.compile(r"#[^\n]*")
_INDENT: Final = re.compile(r"[ \t]*")


class Comment(NamedTuple):
    """A comment, where it starts, and whether it has the line for itself."""

    text: str
    start: int
    column: int
    own_line: bool


def comments(text: str, tree: Tree) -> Iterator[Comment]:
    """The comments of a text behind its `---`: only white space and they stand between words."""
    before = tree.start
    for start, end in [*tree.words, (len(text), len(text))]:
        for match in _COMMENT.finditer(text, before, max(start, before)):
            line = text.rfind("\n", 0, match.start()) + 1
            own_line = not text[line : match.start()].strip()
            column = match.start() - line
            yield Comment(match[0].rstrip(), match.start(), column, own_line)
        before = max(end, before)


def attach(text: str, tree: Tree) -> None:
    """Put the comments and the blank lines of a text into its tree."""
    _Attacher(text, tree).attach()


class _Attacher:
    """Goes through comments and entries in the order of the text."""

    def __init__(self, text: str, tree: Tree) -> None:
        self._text = text
        self._tree = tree
        self._starts = [entry.start for entry in tree.entries]
        self._lines = [0, *(match.end() for match in re.finditer("\n", text))]
        self._keeping = [
            (leaf.start, leaf.end)
            for leaf in (entry.value for entry in tree.entries)
            if isinstance(leaf, Leaf) and leaf.keeps_end
        ]
        self._gap = -1
        self._column = 0

    def attach(self) -> None:
        items = list(comments(self._text, self._tree))
        events = [(comment.start, comment) for comment in items] + [
            (entry.start, entry) for entry in self._tree.entries
        ]
        for _, event in sorted(events, key=lambda entries: entries[0]):
            if isinstance(event, Comment):
                self._comment(event)
            elif self._begins_line(event.start) and self._is_below_blank(event.start):
                event.above.append("")

    def _comment(self, comment: Comment) -> None:
        at = bisect_left(self._starts, comment.start)
        last = self._tree.entries[at - 1] if at else None
        following = self._tree.entries[at] if at < len(self._starts) else None
        for block in _flows_around(last, comment.start):
            block.commented = True
        if last is not None and not comment.own_line:
            self._beside(comment, _outside_closed_flow(last, comment.start))
            return
        home = self._home(comment, last, following, at)
        if self._is_below_blank(comment.start) and (not home or home[-1]):
            home.append("")
        home.append(comment.text)

    @staticmethod
    def _beside(comment: Comment, entry: Entry) -> None:
        if entry.beside or (isinstance(entry.value, Leaf) and entry.value.is_block):
            entry.above.append(comment.text)
        else:
            entry.beside = comment.text

    def _home(
        self, comment: Comment, last: Entry | None, following: Entry | None, gap: int
    ) -> list[str]:
        """The list that a comment on a line of its own goes to."""
        if last is None:
            return self._tree.root.entries[0].above if following else self._tree.root.tail
        flow = next(iter(_flows_around(last, comment.start)), None)
        if flow is not None:
            if following is not None and following.start < flow.end:
                return following.above
            empty = not flow.entries and flow.owner is not None
            return flow.owner.above if empty and flow.owner else flow.tail
        if _starts_behind(last.value, comment.start):
            return last.above
        if gap != self._gap:
            self._gap, self._column = gap, comment.column
        # Behind a comment that is about an outer block, none goes to an inner one.
        self._column = min(self._column, comment.column)
        fitting = [
            block
            for block in _blocks_around(last, following)
            if block.column <= self._column
            and (following is None or block.column > following.parent.column)
        ]
        if fitting:
            return max(reversed(fitting), key=lambda block: block.column).tail
        return following.above if following is not None else self._tree.root.tail

    def _begins_line(self, at: int) -> bool:
        line = self._lines[bisect_right(self._lines, at) - 1]
        indent = _INDENT.match(self._text, line)
        return indent is not None and indent.end() == at

    def _is_below_blank(self, at: int) -> bool:
        """Whether the line before is blank, and no part of a literal text that keeps its end."""
        line = bisect_right(self._lines, at) - 1
        if not line or self._lines[line - 1] < self._tree.start:
            return False
        above = self._lines[line - 1]
        if self._text[above : self._lines[line]].strip():
            return False
        nearest = bisect_left(self._keeping, (above, 0)) - 1
        return nearest < 0 or above >= self._keeping[nearest][1]


def _starts_behind(value: Leaf | Block | None, at: int) -> bool:
    """Whether a value that gets no lines of its own starts behind a comment."""
    if isinstance(value, Block) and not value.flow:
        return False
    return value is not None and value.start > at


def _flows_around(entry: Entry | None, at: int) -> Iterator[Block]:
    """The flow collections that a place is in, from the inside."""
    block = entry.value if entry and isinstance(entry.value, Block) else None
    if block is None or not block.flow:
        block = entry.parent if entry else None
    while block is not None and block.flow:
        if block.start < at < block.end:
            yield block
        block = block.owner.parent if block.owner else None


def _outside_closed_flow(entry: Entry, at: int) -> Entry:
    """The entry itself, or the one around it whose flow collection has ended before `at`."""
    while entry.parent.flow and entry.parent.end <= at and entry.parent.owner is not None:
        entry = entry.parent.owner
    return entry


def _blocks_around(last: Entry, following: Entry | None) -> Iterator[Block]:
    """The blocks that end between two entries, from the inside; all that are open at the end."""
    ends = following.parent if following is not None else None
    block: Block | None = last.parent
    if ends is not None and ends.owner is last:
        return
    while block is not None and block is not ends:
        if not block.flow:
            yield block
        block = block.owner.parent if block.owner else None
