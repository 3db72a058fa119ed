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

Pairs = dict[tuple[int, int], bool]


def are_equivalent(writer: Schema, reader: Schema, seen: Pairs) -> bool:
    """Same shape in the same order; named types by short name, defaults not looked at."""
    if writer.kind != reader.kind:
        return False
    match writer, reader:
        case Record(), Record():
            return _same_name(writer, reader) and _records(writer, reader, seen)
        case Enum(), Enum():
            return _same_name(writer, reader) and writer.symbols == reader.symbols
        case Fixed(), Fixed():
            return _same_name(writer, reader) and writer.size == reader.size
        case Array(), Array():
            return are_equivalent(writer.items, reader.items, seen)
        case Map(), Map():
            return are_equivalent(writer.values, reader.values, seen)
        case Union(), Union():
            return len(writer.branches) == len(reader.branches) and all(
                are_equivalent(w, r, seen)
                for w, r in zip(writer.branches, reader.branches, strict=True)
            )
        case _:
            return True


def _same_name(writer: Record | Enum | Fixed, reader: Record | Enum | Fixed) -> bool:
    return short_name(writer.name) == short_name(reader.name)


def _records(writer: Record, reader: Record, seen: Pairs) -> bool:
    pair = (id(writer), id(reader))
    if pair not in seen:
        seen[pair] = True  # a pair in progress counts as equivalent
        seen[pair] = len(writer.all_fields) == len(reader.all_fields) and all(
            w.name == r.name and are_equivalent(w.type, r.type, seen)
            for w, r in zip(writer.all_fields, reader.all_fields, strict=True)
        )
    return seen[pair]
