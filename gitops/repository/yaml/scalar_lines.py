"""Where the characters of a scalar's value stand in the text of a YAML file."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import Final

from gitops.repository.positions import Span

_BLOCK: Final = re.compile(r"[|>][^\n]*\n")
_INDENT: Final = re.compile(r"^ *(?=[^ \n])", re.MULTILINE)
_QUOTES: Final = ("'", '"')


@dataclass(frozen=True, slots=True)
class Scalar:
    """The lines of a scalar: where each starts in its value, and in the file."""

    in_value: tuple[int, ...]
    in_file: tuple[int, ...]

    @classmethod
    def of(cls, text: str, span: Span | None, value: str) -> Scalar | None:
        """The lines of what stands at `span`; None where YAML changes more than an indentation.

        A folded scalar is as good as a literal one where each line end becomes one character.
        """
        if span is None:
            return None
        starts, lines = _lines(text[span.start : span.end], _indent(value))
        if not _is_same("\n".join(lines), value):
            return None
        in_value = [0]
        for line in lines[:-1]:
            in_value.append(in_value[-1] + len(line) + 1)
        return cls(tuple(in_value), tuple(span.start + start for start in starts))

    def offset(self, at: int) -> int:
        """The place in the file of a character of the value."""
        line = bisect_right(self.in_value, at) - 1
        return self.in_file[line] + at - self.in_value[line]


def _indent(text: str) -> int:
    """The blanks before the first line that is not blank."""
    found = _INDENT.search(text)
    return len(found[0]) if found else 0


def _lines(raw: str, kept: int) -> tuple[list[int], list[str]]:
    """Where each line's content starts, and the content; the first one's has `kept` blanks."""
    head = _BLOCK.match(raw)
    if head is None:
        quoted = raw.startswith(_QUOTES)
        return [int(quoted)], [raw[1:-1] if quoted else raw]
    body = raw[head.end() :]
    indent, starts, lines, at = _indent(body) - kept, [], [], head.end()
    for line in body.split("\n"):
        cut = min(indent, len(line) - len(line.lstrip(" ")))
        starts.append(at + cut)
        lines.append(line[cut:])
        at += len(line) + 1
    return starts, lines


def _is_same(lines: str, value: str) -> bool:
    """Whether they differ in the kind of white space only, and at the end."""
    return lines.rstrip().replace("\n", " ") == value.rstrip().replace("\n", " ")
