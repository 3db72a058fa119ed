"""The checklist of a comment: boxes that people ticked survive a new text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

_SECTION: Final = "#### Rollout"
_HEADING: Final = re.compile(r"#{1,6} |<sub>|<details")
_BOX: Final = re.compile(r"( *)- \[([ xX])\] (?:\d+\. )?(.*)")


class _Box(NamedTuple):
    """Line `line` of a text has a box; steps of the same text differ by `nth`."""

    line: int
    ticked: bool
    text: str
    nth: int


def keep_ticks(old: str, new: str) -> str:
    """The new text; a step of its rollout is ticked where the old text has the same step ticked.

    A step is the same where its words are: its number may change. Nothing else of the old text
    comes over, since people may have edited it.
    """
    ticked = {(box.text, box.nth) for box in _boxes(old) if box.ticked}
    lines = new.split("\n")
    for box in _boxes(new):
        if (box.text, box.nth) in ticked:
            lines[box.line] = lines[box.line].replace("[ ]", "[x]", 1)
    return "\n".join(lines)


def _boxes(text: str) -> Iterator[_Box]:
    """The boxes below the heading of the rollout; a fence of another section may look like one."""
    inside, counts = False, Counter[str]()
    for number, line in enumerate(text.split("\n")):
        if _HEADING.match(line):
            inside = line.startswith(_SECTION)
        elif inside and (match := _BOX.match(line)):
            step = match[3].rstrip().removesuffix("<br>")
            counts[step] += 1
            yield _Box(number, match[2] != " ", step, counts[step])
