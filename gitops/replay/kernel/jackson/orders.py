"""How a producer writes its objects: in which order the members, and with which blanks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from gitops.replay.kernel.jackson.parsing import Pairs, parse
from gitops.replay.kernel.jackson.plan import Items, Members, Node, OneOf
from gitops.replay.kernel.walk import Unreadable

_LONGEST: Final = 64 * 1024
_MOST_ITEMS: Final = 4


@dataclass(slots=True)
class Orders:
    """By the id of a record's node: the names of its members, as they were met.

    `comma` and `colon` hold the blank that may follow.
    """

    comma: bytes = b","
    colon: bytes = b":"
    names: dict[int, list[str]] = field(default_factory=dict)

    def learn(self, node: Node, payloads: Iterable[bytes]) -> None:
        """Look at some messages; what cannot be read teaches nothing."""
        for payload in payloads:
            if len(payload) > _LONGEST:
                continue
            try:
                value = parse(payload)
            except Unreadable:
                continue
            if b'": ' in payload:
                self.comma, self.colon = b", ", b": "
            self._note(node, value)

    def _note(self, node: Node, value: Any) -> None:  # noqa: ANN401 - JSON
        match node:
            case OneOf() if node.optional is not None:
                self._note(node.optional, value)
            case Items() if isinstance(value, list):
                for item in value[:_MOST_ITEMS]:
                    self._note(node.item, item)
            case Members() if isinstance(value, Pairs):
                _merge(self.names.setdefault(id(node), []), list(value))
                for name, member in node.members.items():
                    if name in value:
                        self._note(member.node, value[name])


def _merge(known: list[str], names: list[str]) -> None:
    """Put in those that are new, each behind the one that it stands behind."""
    at = 0
    for name in names:
        if name in known:
            at = known.index(name) + 1
        else:
            known.insert(at, name)
            at += 1
