"""Small edits of a definition's text that leave the rest of it as it was laid out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from difflib import unified_diff
from io import StringIO
from typing import Final, NamedTuple, Protocol

from gitops.repository.definitions.json_positions import JsonPositions
from gitops.repository.positions import Lines, Span

_NULL: Final = '"null"'


class _Places(Protocol):
    def span(self, pointer: str) -> Span | None: ...


class Definition:
    """The text of one definition file, and edits of it: each gives a whole new text.

    An edit gives None where the text has no such place.
    """

    def __init__(self, file: str, text: str, places: _Places | None = None) -> None:
        self.file = file
        self.text = text
        self._places = places or JsonPositions(file, text)

    def with_text(self, text: str) -> Definition:
        """The same definition after an edit."""
        return Definition(self.file, text)

    def patch(self, edited: str) -> str:
        """A unified diff from the text to `edited`, as `git apply` takes it."""
        # Python splits lines in more places than git.
        before, after = (list(StringIO(text, newline="\n")) for text in (self.text, edited))
        name = self.file.lstrip("/")
        diff = unified_diff(before, after, fromfile=f"a/{name}", tofile=f"b/{name}")
        return "".join(line if line.endswith("\n") else f"{line}\n{_NO_END}" for line in diff)

    def at(self, pointer: str) -> str | None:
        """The text of a value."""
        span = self._places.span(pointer)
        return self.text[span.start : span.end] if span else None

    def replace(self, pointer: str, value: str) -> str | None:
        """Another value at a place."""
        span = self._places.span(pointer)
        return self.text[: span.start] + value + self.text[span.end :] if span else None

    def add_member(self, beside: str, name: str, value: str) -> str | None:
        """A member behind the member at the pointer `beside`, on the same line."""
        return self._insert_behind(beside, f", {json.dumps(name)}: {value}")

    def append(self, array: str, values: Sequence[str]) -> str | None:
        """More items at the end of an array that has some."""
        items = self.items(array)
        if not items:
            return None
        added = "".join(f", {value}" for value in values)
        return self._insert_behind(f"{array}/{len(items) - 1}", added)

    def insert_item(self, array: str, index: int, value: str) -> str | None:
        """An item into an array, laid out like the item in front of it."""
        items = self.items(array)
        if not items:
            return self.replace(array, f"[{value}]") if self.at(array) == "[]" else None
        if index > len(items):
            return None
        if index == 0:
            gap = self._gap(array, 0, 1) if len(items) > 1 else " "
            return self._insert_before(f"{array}/0", f"{value},{gap}")
        gap = self._gap(array, index - 2, index - 1) if index > 1 else self._indent(array)
        return self._insert_behind(f"{array}/{index - 1}", f",{gap}{value}")

    def nullable(self, field: str) -> str | None:
        """A field that may be null, and is where a message does not contain it."""
        kind = self.at(f"{field}/type")
        if kind is None or self.at(f"{field}/default") is not None:
            return None
        union = with_null(kind, self.items(f"{field}/type"))
        return self.replace(f"{field}/type", f'{union}, "default": null')

    def items(self, array: str) -> list[str]:
        """The texts of an array's items."""
        texts: list[str] = []
        while (item := self.at(f"{array}/{len(texts)}")) is not None:
            texts.append(item)
        return texts

    def _gap(self, array: str, first: int, second: int) -> str:
        """The blanks between the comma behind one item and the next item."""
        spans = [self._places.span(f"{array}/{index}") for index in (first, second)]
        if spans[0] is None or spans[1] is None:
            return " "
        between = self.text[spans[0].end : spans[1].start]
        return between.partition(",")[2] if "," in between else " "

    def _indent(self, array: str) -> str:
        """The blanks in front of the first item."""
        outer, first = self._places.span(array), self._places.span(f"{array}/0")
        return self.text[outer.start + 1 : first.start] if outer and first else " "

    def _insert_behind(self, pointer: str, text: str) -> str | None:
        span = self._places.span(pointer)
        return self.text[: span.end] + text + self.text[span.end :] if span else None

    def _insert_before(self, pointer: str, text: str) -> str | None:
        span = self._places.span(pointer)
        return self.text[: span.start] + text + self.text[span.start :] if span else None


_NO_END: Final = "\\ No newline at end of file\n"


def with_null(kind: str, branches: Sequence[str]) -> str:
    """A type with null as its first branch; `branches` are those that it has."""
    if not kind.startswith("["):
        return f"[{_NULL}, {kind}]"
    if _NULL not in branches and branches:
        return f"[{_NULL}, {kind[1:].lstrip()}"
    others = [branch for branch in branches if branch != _NULL]
    return f"[{', '.join([_NULL, *others])}]"


# Several edits of one text.


class Change(NamedTuple):
    """What one edit puts in place of some characters."""

    start: int
    end: int
    text: str


def change_of(before: str, after: str) -> Change:
    """The smallest part that differs, from its first to its last character."""
    start = _same(before, after)
    rest = min(len(before), len(after)) - start
    end = min(rest, _same(before[::-1], after[::-1]))
    return Change(start, len(before) - end, after[start : len(after) - end])


def _same(left: str, right: str) -> int:
    """How many characters both begin with."""
    same, most = 0, min(len(left), len(right))
    while same < most:
        middle = (same + most + 1) // 2
        if left[same:middle] == right[same:middle]:
            same = middle
        else:
            most = middle - 1
    return same


def is_apart(change: Change, other_changes: Iterable[Change]) -> bool:
    """Whether a change is at another place than each of the others."""
    return all(
        change.end < other_change.start or other_change.end < change.start
        for other_change in other_changes
    )


def with_changes(text: str, changes: Iterable[Change]) -> str:
    """The text after changes that are apart."""
    for change in sorted(changes, reverse=True):
        text = text[: change.start] + change.text + text[change.end :]
    return text


def by_lines(text: str, changes: Iterable[Change]) -> list[list[Change]]:
    """Those that have a line in common together, in the order of their first ones."""
    lines, groups = Lines(text), dict[int, list[Change]]()
    for change in changes:
        first, last = (lines.position(at)[0] for at in (change.start, change.end))
        members = range(first, last + 1)
        group = next((groups[line] for line in members if line in groups), [])
        group.append(change)
        groups |= {line: group for line in members if line not in groups}
    return list({id(group): group for group in groups.values()}.values())
