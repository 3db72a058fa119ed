"""Members that an object of a definition has twice: Jackson takes the last one, without a word."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from gitops.compatibility.avro.depth import deep_enough
from gitops.compatibility.avro.json_text import blank_comments
from gitops.model.findings import Finding
from gitops.model.rules import finding
from gitops.repository.definitions.text import DefinitionText
from gitops.repository.wording import one_line

_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]', re.DOTALL)


class Repeated(NamedTuple):
    """The name, and the character where it stands again."""

    name: str
    offset: int


def findings_of_repeated(given: DefinitionText, subject: str) -> Iterator[Finding]:
    """A warning at each of them."""
    for each in repeated_members(given.text):
        yield finding(
            "AVRO-W022",
            one_line(f"'{each.name}' is given twice: only the last one counts"),
            location=given.places.at_offset(each.offset),
            subject=subject,
            hint="keep one of them",
        )


def repeated_members(text: str) -> tuple[Repeated, ...]:
    """Every such member, each time that it stands again; none in what is no JSON."""
    blanked = blank_comments(text) if "/" in text else text
    end = _end_if_any(blanked)
    return tuple(_repeated(blanked[:end])) if end else ()


def _end_if_any(text: str) -> int:
    """Where the value at the start of the text ends; 0 where no member is repeated in it."""
    repeated = False

    def look(members: list[tuple[str, Any]]) -> None:
        nonlocal repeated
        repeated = repeated or len({name for name, _ in members}) < len(members)

    decoder = json.JSONDecoder(object_pairs_hook=look, parse_int=len, parse_float=len)
    try:
        with deep_enough(text):
            _, end = decoder.raw_decode(text, len(text) - len(text.lstrip(" \t\r\n")))
    except (ValueError, RecursionError):
        return 0
    return end if repeated else 0


def _repeated(text: str) -> Iterator[Repeated]:
    """Those of a text that is JSON without comments."""
    names: list[set[str]] = []  # of the objects around; arrays have none
    before, at = "", 0
    for found in _TOKEN.finditer(text):
        word = found[0]
        if word in ("{", "["):
            names.append(set())
        elif word in ("}", "]"):
            names.pop()
        elif word == ":":
            name = json.loads(before)
            if name in names[-1]:
                yield Repeated(name, at)
            names[-1].add(name)
        before, at = word, found.start()
