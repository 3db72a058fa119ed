"""What a person may have meant by a word that nobody knows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Final

_MAX_LISTED: Final = 12
_MAX_COMPARED: Final = 200


def closest(word: str, known: Iterable[str]) -> str | None:
    """The known word that is most like this one, whatever the case; None if none is near."""
    folded: dict[str, str] = {}
    for candidate in known:
        folded.setdefault(candidate.lower(), candidate)
    near = get_close_matches(word[:_MAX_COMPARED].lower(), folded, n=1, cutoff=0.6)
    return folded[near[0]] if near else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A question with the closest known word, empty if none is near."""
    near = closest(word, known)
    return f"did you mean {near}?" if near else ""


def did_you_mean_or_list(word: str, known: Sequence[str]) -> str:
    """A question with the closest known word, or the words to choose from if they are few."""
    if question := did_you_mean(word, known):
        return question
    return f"use one of {', '.join(known)}" if 0 < len(known) <= _MAX_LISTED else ""
