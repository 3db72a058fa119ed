"""Why one step of a rollout comes before another: when, who fails, at what, and the mismatch."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

_VERSION: Final = re.compile(r"v\d+")
_AT: Final = re.compile(r"at '(?P<path>[^']+)': (?P<text>.+)", re.DOTALL)
_TYPES: Final = re.compile(r"a reader of (?P<reader>.+) cannot read (?P<writer>.+)", re.DOTALL)
_NO_DEFAULT: Final = re.compile(
    r"reader field '(?P<name>[^']+)' \((?P<type>.+)\) has no default, and .+", re.DOTALL
)


_SPARE: Final = 2


def name_list(names: Sequence[str], most: int | None = None) -> str:
    """`a`, `a and b`, `a, b and c`; of more than `most` names the first, and how many are left.

    One or two more names are named: they take no more room than their number.
    """
    if most is not None and len(names) > most + _SPARE:
        return f"{', '.join(names[:most])} and {len(names) - most:,} more"
    if len(names) <= 1:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """What stands between a client and a schema: a checker's words, and the place in the schema.

    `writer` names whose messages cannot be read; empty where that is no reader's mismatch.
    """

    text: str
    path: str = ""
    writer: str = ""

    def clause(self, *, many: bool = False) -> str:
        """About the client that fails: `it reads int, v1 writes long (quantity)`."""
        they, s = ("they", "") if many else ("it", "s")
        if self.writer and (match := _TYPES.fullmatch(self.text)):
            place = f" ({self.path})" if self.path else ""
            written = f"{self.writer} writes {match['writer']}{place}"
            return f"{they} read{s} {match['reader']}, {written}"
        if self.writer and (match := _NO_DEFAULT.fullmatch(self.text)):
            field = f"'{self.path or match['name']}' ({match['type']}, without a default)"
            verb = "contain" if _VERSION.fullmatch(self.writer) else "write"
            return f"{they} need{s} {field}, {self.writer} does not {verb} it"
        text = f"{self.text} ({self.path})" if self.path else self.text
        return text.replace("its schema", "their schema") if many else text


def last_name(path: str) -> str:
    """The field at the end of a path: `quantity` of `lines[].quantity`."""
    return path.rpartition(".")[2].rstrip("[]{}")


def cause_of(text: str, writer: str = "") -> Cause:
    """From a checker's sentence, which may begin with its place: `at 'a.b': …`."""
    match = _AT.fullmatch(text)
    if match:
        return Cause(text=match["text"], path=match["path"], writer=writer)
    return Cause(text=text, writer=writer)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """What would happen if a step came earlier: one clause with its clients and its moment.

    `state` is which of a client's two versions fails: current or new. `verb` is in the plural.
    """

    verb: str
    clients: tuple[str, ...] = ()
    moment: str = ""
    state: str = ""
    rest: str = ""
    cause: Cause | None = None

    def sentence(self, most: int | None = None) -> str:
        """`Once v1 of t is registered, billing and crm cannot reconnect: they read int, …`."""
        many = len(self.clients) > 1
        verb = self.verb if many or self.verb.startswith("cannot") else f"{self.verb}s"
        words = (f"the {self.state}" if self.state else "", name_list(self.clients, most), verb)
        text = " ".join(word for word in (*words, self.rest) if word)
        if self.moment:
            text = f"{self.moment}, {text}"
        elif self.state:
            text = f"T{text[1:]}"
        return f"{text}: {self.cause.clause(many=many)}" if self.cause else text


def merged(reasons: Iterable[Reason]) -> tuple[Reason, ...]:
    """Equal reasons of several clients as one, in the order of the first of each."""
    clients: dict[Reason, dict[str, None]] = {}
    for reason in reasons:
        clients.setdefault(replace(reason, clients=()), {}).update(dict.fromkeys(reason.clients))
    return tuple(replace(item, clients=tuple(names)) for item, names in clients.items())
