"""What a person may have meant: a word, a URL; and file words that are safe in a message."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher, get_close_matches
from typing import Final
from urllib.parse import SplitResult, urlsplit

from gitops.model.errors import UsageError
from gitops.model.policy import SchemaCompatibilityStrategy

# What a person may have meant by a word that nobody knows.

_MAX_LISTED: Final = 24
"""As many words are listed; there are not many more SchemaTypes than that."""

_MAX_COMPARED: Final = 200
_NEAR: Final = 0.7
_MIN_PART: Final = 4
_MOST_EQUAL: Final = 10


def closest(word: str, known: Iterable[str], *, near: float = _NEAR) -> str | None:
    """The other known word that is most like this one, whatever the case; None if none is near.

    `near` is difflib's ratio, 0 to 1, below which a word is too far away. Letters in another
    order are near however short the word, and so is the one word that holds this one.
    """
    folded: dict[str, str] = {}
    for candidate in known:
        if candidate != word:
            folded.setdefault(_fold(candidate), candidate)
    given = _fold(word[:_MAX_COMPARED])
    close_matches = get_close_matches(given, folded, n=_MOST_EQUAL, cutoff=near)
    # Of equally near ones difflib prefers the last in the alphabet; the first is the usual rule.
    close_matches.sort(key=lambda text: (-SequenceMatcher(None, text, given).ratio(), text))
    if not close_matches:
        close_matches = [text for text in folded if sorted(text) == sorted(given)]
    if not close_matches and len(given) >= _MIN_PART:
        holding = [text for text in folded if given in text]
        close_matches = holding if len(holding) == 1 else []
    return folded[close_matches[0]] if close_matches else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A question with the closest known word, empty if none is near."""
    near = closest(word, known)
    return f"did you mean {near}?" if near else ""


def did_you_mean_or_list(word: str, known: Sequence[str]) -> str:
    """A question with the closest known word, or the words to choose from if they are few."""
    if question := did_you_mean(word, known):
        return question
    return f"use one of {', '.join(known)}" if 0 < len(known) <= _MAX_LISTED else ""


def _fold(word: str) -> str:
    """Without case, and with one sign for all that people put between words."""
    return word.lower().replace("-", "_").replace(" ", "_")


# Words of files inside messages: none may break a line or colour a terminal.


def one_line(text: str) -> str:
    """The text with every character that does not print written as an escape."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )


# URLs of an admin service, and what to write in place of a text that is none.


_EXAMPLE: Final = "write the cluster's web service URL, as http://broker.example:8080 or ${ENV_VAR}"
_BINARY: Final = {"pulsar": "http://{}:8080", "pulsar+ssl": "https://{}:8443"}
"""The schemes of Pulsar's binary protocol, and where such a broker serves admin REST."""

_HOST: Final = r"(?:[\w.-]+|\[[0-9A-Fa-f:.]+\])"
_HOST_AND_PORT: Final = re.compile(rf"({_HOST}:\d{{1,5}})/?", re.ASCII)


def split_url(text: str) -> SplitResult | None:
    """The parts of a URL; None where a part is none: a port beyond 65535, a blank in a name."""
    try:
        split = urlsplit(text)
        port = split.port
    except ValueError:
        return None
    return split if port != 0 and text.isprintable() and " " not in text else None


def admin_url_hint(text: str) -> str:
    """What to write instead; nothing is repeated of a text that could hold a secret."""
    if "@" in text:
        return _EXAMPLE
    if match := _HOST_AND_PORT.fullmatch(text):
        return f"write the scheme as well: http://{match[1]}"
    if "," in text:
        return "write the web service URL of one broker: each of them answers for the cluster"
    scheme, _, rest = text.partition("://")
    host = re.match(_HOST, rest, re.ASCII)
    if scheme in _BINARY and host:
        meant = _BINARY[scheme].format(host[0])
        return f"{scheme}:// is Pulsar's binary protocol; write the web service URL: {meant}"
    return _EXAMPLE


def parse_strategy(
    name: str, known: Iterable[SchemaCompatibilityStrategy] = SchemaCompatibilityStrategy
) -> SchemaCompatibilityStrategy:
    """The strategy of that name; raises UsageError, with a similar one that is `known`, or all."""
    try:
        return SchemaCompatibilityStrategy(name)
    except ValueError:
        hint = did_you_mean_or_list(name, [strategy.value for strategy in known])
        raise UsageError(f"'{name}' is not a strategy", hint=hint) from None
