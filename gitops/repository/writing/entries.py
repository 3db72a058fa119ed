"""One more item in a list of a YAML file, whose other lines stay as they are."""

from __future__ import annotations

import re
from typing import Final

_ITEM: Final = re.compile(r"( *)- ")


def with_entry(text: str, line: int, entry: str) -> str | None:
    """The text with the lines of `entry` in front of the item in which line `line` (from 1) is.

    They are indented as that item. None where the list is not written with a dash for each item.
    """
    lines = [f"{each}\n" for each in text.split("\n")]
    for number in range(min(line, len(lines)) - 1, -1, -1):
        found = _ITEM.match(lines[number])
        if found and _is_above(found[1], lines[number + 1 : line]):
            added = [found[1] + each for each in entry.splitlines(keepends=True)]
            return "".join([*lines[:number], *added, *lines[number:]])[:-1]
        if lines[number].strip() and not lines[number].startswith((" ", "#")):
            return None
    return None


def _is_above(indent: str, below: list[str]) -> bool:
    """Whether these lines belong to an item of that indentation."""
    return all(each.startswith(f"{indent}  ") or not each.strip() for each in below)
