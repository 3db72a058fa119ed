"""A document in sections, cut to a size: what matters least goes first, and it says so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

COMMENT_LIMIT: Final = 65_000
"""Bytes. GitHub takes 65,536 characters in a pull request's body and more in a comment; bytes are
never fewer than characters. The rest is room for what a workflow adds, such as a marker."""

SUMMARY_LIMIT: Final = 1024 * 1024 - 1024
"""Bytes. GitHub drops a step's summary of more than 1 MiB as a whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Blocks of one kind, the most important first; each is whole Markdown with its line end.

    `cut` orders the sections: the highest is cut first, and one of 0 never is. `noun` names the
    blocks where some are left out. `head` and `tail` stand around them.
    """

    blocks: tuple[str, ...]
    head: str = ""
    tail: str = ""
    cut: int = 0
    noun: str = ""


_SINGULAR: Final = {
    "differences": "difference",
    "findings": "finding",
    "policies": "policy",
    "registries": "registry",
    "steps": "step",
    "topics": "topic",
}
"""The nouns of sections; details of topics stay many."""


def fit(sections: Sequence[Section], limit: int, everything: str) -> str:
    """The document in at most `limit` bytes; `everything` says, as Markdown, what shows all."""
    kept = [len(section.blocks) for section in sections]
    over = _size("".join(_all(section) for section in sections)) - limit
    order = sorted(range(len(sections)), key=lambda number: -sections[number].cut)
    for number in order:
        section = sections[number]
        if over <= 0 or not section.cut:
            break
        before = _size(_render(section, kept[number], everything))
        kept[number] = _fitting(section, before - over, everything)
        over -= before - _size(_render(section, kept[number], everything))
    parts = (_render(s, k, everything) for s, k in zip(sections, kept, strict=True))
    return "".join(parts)


def _fitting(section: Section, room: int, everything: str) -> int:
    """How many blocks fit into so many bytes, with the note that says that there are more."""
    room -= _size(section.head) + _size(section.tail) + _size(_note(section, 0, everything))
    for number, each in enumerate(section.blocks):
        room -= _size(each)
        if room < 0:
            return number
    return len(section.blocks) - 1


def _render(section: Section, kept: int, everything: str) -> str:
    if kept == len(section.blocks):
        return _all(section)
    note = _note(section, kept, everything)
    if not kept:
        return note
    return f"{section.head}{''.join(section.blocks[:kept])}{section.tail}{note}"


def _all(section: Section) -> str:
    return f"{section.head}{''.join(section.blocks)}{section.tail}" if section.blocks else ""


def _note(section: Section, kept: int, everything: str) -> str:
    left = len(section.blocks) - kept
    noun = section.noun if left != 1 else _SINGULAR.get(section.noun, section.noun)
    return f"\n_… and {left:,} more {noun}, left out for GitHub's limit: {everything}_\n\n"


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
