"""Words that are looked for in a repository, and the changed files that make them interesting."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import Enum
from typing import Final

_ESCAPE: Final = b"\\"
_MOST: Final = 500
"""With more words a pattern of all of them is slower than a second look at every file."""


class Kind(Enum):
    """What a word is: a type's simple name, a file's name, a topic's local name, a client's."""

    TYPE = "type"
    FILE = "file"
    TOPIC = "topic"
    CLIENT = "client"

    @property
    def endings(self) -> tuple[str, ...]:
        """Of the files in which such a word means something."""
        return _ENDINGS[self]


_ENDINGS: Final = {
    Kind.TYPE: (".avsc", ".json", ".yaml"),
    Kind.FILE: (".proto", ".yaml"),
    Kind.TOPIC: (".yaml",),
    Kind.CLIENT: (".yaml",),
}
_ANYWHERE: Final = rb"(?<![\w.-])"
_BEFORE: Final = {
    Kind.TYPE: rb"(?<![\w-])",
    Kind.FILE: _ANYWHERE,
    Kind.TOPIC: rb"\btopic[\"']?\s*:\s*\S{0,300}?(?<![\w.-])",
    Kind.CLIENT: rb"\bname[\"']?\s*:\s*[\"']?",
}


_SEPARATED: Final = re.compile(r"[\s']+")


def text_piece(word: str) -> str:
    """The longest part of a word that YAML writes as it is.

    Where it folds a line a blank is a line end, and between single quotes a `'` is two.
    """
    return max(_SEPARATED.split(word), key=len) or word


class TextSearch:
    """Each word with the changed files behind it; none where it is only needed by something."""

    def __init__(self) -> None:
        self._leads: dict[tuple[Kind, str], set[str]] = {}
        self._searched: set[tuple[Kind, str]] = set()
        self._pattern: re.Pattern[bytes] | None = None

    def add(self, kind: Kind, words: Iterable[str], leads: Iterable[str]) -> None:
        """Look for these words too."""
        for word in filter(str.strip, words):
            known = self._leads.get((kind, word))
            if known is None:
                self._pattern = None
            self._leads.setdefault((kind, word), set()).update(leads)

    def leads(self, kind: Kind, word: str) -> set[str]:
        """The changed files behind a word."""
        return self._leads.get((kind, word), set())

    def is_wanted(self, kind: Kind, word: str) -> bool:
        """Whether a word is looked for."""
        return (kind, word) in self._leads

    def fresh(self) -> dict[Kind, list[str]]:
        """What nobody has searched for yet, as `piece` has it; it counts as searched now."""
        found: dict[Kind, list[str]] = {}
        for kind, word in self._leads.keys() - self._searched:
            found.setdefault(kind, []).append(text_piece(word))
        self._searched.update(self._leads)
        return found

    def may_be_in(self, data: bytes) -> bool:
        """Whether a file is worth parsing; always where escapes may hide a word."""
        if _ESCAPE in data or len(self._leads) > _MOST:
            return True
        if self._pattern is None:
            self._pattern = re.compile(b"|".join(self._alternatives()))
        return self._pattern.search(data) is not None

    def _alternatives(self) -> Iterable[bytes]:
        for kind, before in _BEFORE.items():
            words = [word for each, word in self._leads if each is kind]
            whole = [word for word in words if text_piece(word) == word]
            parts = [text_piece(word) for word in words if text_piece(word) != word]
            for start, some in ((before, whole), (_ANYWHERE, parts)):
                if some:
                    any_of = b"|".join(re.escape(_bytes(word)) for word in some)
                    yield start + rb"(?:" + any_of + rb")(?![\w-])"


def _bytes(word: str) -> bytes:
    return word.encode("utf-8", "surrogatepass")
