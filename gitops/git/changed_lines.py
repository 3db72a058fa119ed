"""Which lines a change adds and removes, as git's own diff tells them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from gitops.git.checkout import Checkout

_DIFF: Final = (
    # What is larger is told as binary: samples, of which no line is anybody's cause.
    *("-c", "core.bigFileThreshold=1m", "diff", "--unified=0", "--no-color", "--no-ext-diff"),
    *("--no-textconv", "--no-relative", "--ignore-submodules=all", "--find-renames=50%", "-l1000"),
    *("--diff-algorithm=myers", "--src-prefix=a/", "--dst-prefix=b/"),
)
_HUNK: Final = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_ESCAPE: Final = re.compile(rb"\\([0-7]{3}|.)")
_ESCAPED: Final = {b"a": 7, b"b": 8, b"t": 9, b"n": 10, b"v": 11, b"f": 12, b"r": 13}


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunk:
    """Lines that are replaced: those of the base from `old` on, by those of the head from `new` on.

    Where nothing is added, `new` is the line in front of the gap (0: it is at the start).
    """

    old: int
    new: int
    removed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedText:
    """A file that both sides, or the head alone, have: its path in the base, and its hunks."""

    before: str | None
    hunks: tuple[Hunk, ...]


def changed_texts(checkout: Checkout, base: str, head: str) -> Mapping[str, ChangedText]:
    """By path in the head; an empty `head` is the folder, of which git knows no untracked file."""
    commits = [base, head] if head else [base]
    text = checkout.ask(*_DIFF, *commits, "--", *checkout.pathspec)
    lines = iter(text.decode("utf-8", "surrogateescape").split("\n"))
    found: dict[str, list[Hunk]] = {}
    olds: dict[str, str | None] = {}
    old = new = None
    for line in lines:
        if line.startswith("--- "):
            old = _path(line, checkout.prefix)
        elif line.startswith("+++ "):
            new = _path(line, checkout.prefix)
        elif new and (head_line := _HUNK.match(line)):
            olds[new] = old
            found.setdefault(new, []).append(_hunk(head_line, lines))
        elif head_line := _HUNK.match(line):
            _hunk(head_line, lines)
    return {
        path: ChangedText(before=olds[path], hunks=tuple(hunks)) for path, hunks in found.items()
    }


def _hunk(head: re.Match[str], lines: Iterator[str]) -> Hunk:
    """The hunk below its head, whose lines may look like anything."""
    left = {"-": int(head[2] or 1), "+": int(head[4] or 1)}
    texts: dict[str, list[str]] = {"-": [], "+": []}
    while any(left.values()):
        line = next(lines)
        if line[0] in left:  # else it says that there is no line end
            left[line[0]] -= 1
            texts[line[0]].append(line[1:])
    removed, added = map(tuple, texts.values())
    return Hunk(old=int(head[1]), new=int(head[3]), removed=removed, added=added)


def _path(line: str, prefix: str) -> str | None:
    """The path behind `--- ` or `+++ `, None where the file is not there."""
    name = line[4:].removesuffix("\t")
    if name == "/dev/null":
        return None
    if name.startswith('"'):
        quoted = name[1:-1].encode("utf-8", "surrogateescape")
        name = _ESCAPE.sub(_unescaped, quoted).decode("utf-8", "surrogateescape")
    return name[2:].removeprefix(prefix)


def _unescaped(found: re.Match[bytes]) -> bytes:
    one = found[1]
    return bytes([int(one, 8)]) if len(one) > 1 else bytes([_ESCAPED.get(one, one[0])])
