"""When a reader takes a writer's union branch by branch: Avro 1.11.4's Resolver.unionEquiv."""

from __future__ import annotations

from gitops.compatibility.avro.schema import (
    Array,
    Enum,
    Fixed,
    Map,
    Record,
    Schema,
    Union,
    short_name,
)


class Equivalences:
    """Which pairs of one resolution are equivalent; every pair is looked at once."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], bool] = {}
        self._assumed: dict[tuple[int, int], bool] = {}

    def hold(self, writer: Schema, reader: Schema) -> bool:
        """Same shape in the same order; named types by short name, defaults not looked at.

        What was only assumed on the way is known once all of it holds. A pair that does not hold
        never does, since no assumption speaks against one.
        """
        holds = self._over(writer, reader)
        self._known.update({pair: it for pair, it in self._assumed.items() if holds or not it})
        self._assumed.clear()
        return holds

    def _over(self, writer: Schema, reader: Schema) -> bool:
        if writer.kind != reader.kind:
            return False
        match writer, reader:
            case Record(), Record():
                return _same_name(writer, reader) and self._records(writer, reader)
            case Enum(), Enum():
                return _same_name(writer, reader) and writer.symbols == reader.symbols
            case Fixed(), Fixed():
                return _same_name(writer, reader) and writer.size == reader.size
            case Array(), Array():
                return self._over(writer.items, reader.items)
            case Map(), Map():
                return self._over(writer.values, reader.values)
            case Union(), Union():
                return len(writer.branches) == len(reader.branches) and all(
                    self._over(w, r) for w, r in zip(writer.branches, reader.branches, strict=True)
                )
            case _:
                return True

    def _records(self, writer: Record, reader: Record) -> bool:
        pair = (id(writer), id(reader))
        if pair in self._known:
            return self._known[pair]
        if pair not in self._assumed:
            self._assumed[pair] = True  # a pair in progress counts as equivalent
            self._assumed[pair] = len(writer.all_fields) == len(reader.all_fields) and all(
                w.name == r.name and self._over(w.type, r.type)
                for w, r in zip(writer.all_fields, reader.all_fields, strict=True)
            )
        return self._assumed[pair]


def _same_name(writer: Record | Enum | Fixed, reader: Record | Enum | Fixed) -> bool:
    return short_name(writer.name) == short_name(reader.name)
