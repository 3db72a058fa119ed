"""What a person may have meant by a word that nobody knows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Final

_MAX_LISTED: Final = 24
"""As many words are listed; there are not many more SchemaTypes than that."""

_MAX_COMPARED: Final = 200
_NEAR: Final = 0.7
_MIN_PART: Final = 4


def closest(word: str, known: Iterable[str], *, near: float = _NEAR) -> str | None:
    """The other known word that is most like this one, whatever the case; None if none is near.

    `near` is difflib's ratio, 0 to 1, below which a word is too far away. Letters in another
    order are near however short the word, and so is the one word that holds this one.
    """
    folded: dict[str, str] = {}
    for candidate in known:
        if candidate != word:
            folded.setdefault(_folded(candidate), candidate)
    given = _folded(word[:_MAX_COMPARED])
    found = get_close_matches(given, folded, n=1, cutoff=near)
    if not found:
        found = [each for each in folded if sorted(each) == sorted(given)]
    if not found and len(given) >= _MIN_PART:
        holding = [each for each in folded if given in each]
        found = holding if len(holding) == 1 else []
    return folded[found[0]] if found else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A question with the closest known word, empty if none is near."""
    near = closest(word, known)
    return f"did you mean {near}?" if near else ""


def did_you_mean_or_list(word: str, known: Sequence[str]) -> str:
    """A question with the closest known word, or the words to choose from if they are few."""
    if question := did_you_mean(word, known):
        return question
    return f"use one of {', '.join(known)}" if 0 < len(known) <= _MAX_LISTED else ""


def _folded(word: str) -> str:
    """Without case, and with one sign for all that people put between words."""
    return word.lower().replace("-", "_").replace(" ", "_")
