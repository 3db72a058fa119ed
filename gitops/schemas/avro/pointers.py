"""Where the nodes of one definition stand, as RFC 6901 pointers.

Definitions share nodes, so that no node can tell: a field is found by its record, and a named
type by a walk over the definition, which only they pay for who ask.
"""

from __future__ import annotations

from typing import Final

from gitops.schemas.avro.schema import Array, Enum, Field, Fixed, Map, Named, Record, Schema, Union

_FEW: Final = 4

# Most who have places never ask for these two: nothing is made for them.
_NOWHERE: Final[dict[int, str]] = {}
_UNORDERED: Final[dict[int, dict[str, int]]] = {}


class Pointers:
    """Of the definition whose top is `schema`."""

    def __init__(self, schema: Schema) -> None:
        self._top = schema
        self._named = _NOWHERE
        self._order = _UNORDERED
        self._asked = 0

    def pointer(self, named: Named) -> str:
        """Where a named type of the definition is defined."""
        if named is self._top:
            return ""
        if self._named is _NOWHERE:
            self._named = {}
            self._collect(self._top, "")
        return self._named[id(named)]

    def field(self, record: Record, field: Field) -> str:
        """Where a field of a record of the definition stands."""
        return f"{self.pointer(record)}/fields/{self._index(record, field)}"

    def _index(self, record: Record, field: Field) -> int:
        """Most who ask ask for one or two: an order of all fields pays only after that."""
        self._asked += 1
        if self._asked <= _FEW:
            return [item is field for item in record.all_fields].index(True)  # `==` takes longer
        if self._order is _UNORDERED:
            self._order = {}
        order = self._order.get(id(record))
        if order is None:
            order = {item.name: index for index, item in enumerate(record.all_fields)}
            self._order[id(record)] = order
        return order[field.name]

    def path(self, record: Record, field: Field) -> str:
        """How a person names a field: dotted names, `[]` for items, `{}` for values."""
        value, node = "", self._top
        for step in _steps(self.field(record, field)):
            if isinstance(node, Record):
                inner = node.all_fields[int(step)]
                value, node = f"{value}.{inner.name}" if value else inner.name, inner.type
            elif isinstance(node, Array):
                value, node = f"{value}[]", node.items
            elif isinstance(node, Map):
                value, node = f"{value}{{}}", node.values
            elif isinstance(node, Union):
                node = node.branches[int(step)]
        return value

    def _collect(self, schema: Schema, at: str) -> None:
        """A name is defined where it is met first."""
        match schema:
            case Record() | Enum() | Fixed():
                self._define(schema, at)
            case Array():
                self._collect(schema.items, f"{at}/items")
            case Map():
                self._collect(schema.values, f"{at}/values")
            case Union():
                for index, branch in enumerate(schema.branches):
                    self._collect(branch, f"{at}/{index}")
            case _:
                pass

    def _define(self, named: Named, at: str) -> None:
        """By identity: aliases can give two records of a writer one name."""
        if id(named) in self._named:
            return
        self._named[id(named)] = at
        if isinstance(named, Record):
            for index, field in enumerate(named.all_fields):
                self._collect(field.type, f"{at}/fields/{index}/type")


def _steps(pointer: str) -> list[str]:
    """One for each node on the way; `fields` and `type` say nothing of their own."""
    return [step for step in pointer.split("/")[1:] if step not in ("fields", "type")]
