"""Records that contain themselves with no union, array or map between.

Avro for Java 1.11.4 lays such a record out without end and runs out of stack; a Pulsar 4.0.7
broker answers 500. It can be stored as a first schema and never evolve.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping

from gitops.schemas.avro.schema import (
    Array,
    Field,
    Map,
    Record,
    Schema,
    Union,
    facts_of,
    named_types,
)


def recurses_directly(schema: Schema) -> bool:
    """Whether walking over `schema` meets such a record anywhere."""
    facts = facts_of(schema)
    if not facts.refers_back:
        return False
    if facts.recurses is None:
        facts.recurses = _has_loop(schema)
    return facts.recurses


def _has_loop(schema: Schema) -> bool:
    edges: dict[Hashable, list[Hashable]] = {}
    collect_edges(schema, edges)
    return has_cycle(edges)


def collect_edges(schema: Schema, edges: dict[Hashable, list[Hashable]]) -> None:
    """Add, for every record in `schema`, the records that its fields hold directly."""
    waiting = [schema]
    while waiting:
        record = waiting.pop()
        match record:
            case Record() if id(record) not in edges:
                kinds = [field.type for field in record.all_fields]
                edges[id(record)] = [id(kind) for kind in kinds if isinstance(kind, Record)]
                waiting.extend(kinds)
            case Array():
                waiting.append(record.items)
            case Map():
                waiting.append(record.values)
            case Union():
                waiting.extend(record.branches)
            case _:
                pass


def has_cycle(edges: Mapping[Hashable, Iterable[Hashable]]) -> bool:
    """Whether one can come back to a node by following edges."""
    done: set[Hashable] = set()
    for start in edges:
        path: list[tuple[Hashable, list[Hashable]]] = [(start, list(edges[start]))]
        on_path = {start}
        while path:
            node, hashables = path[-1]
            if not hashables:
                path.pop()
                on_path.discard(node)
                done.add(node)
                continue
            following = hashables.pop()
            if following in on_path:
                return True
            if following not in done:
                path.append((following, list(edges.get(following, ()))))
                on_path.add(following)
    return False


def first_loop(schema: Schema) -> tuple[Record, Field] | None:
    """The first record that holds itself with nothing between, and its field that leads back."""
    records = [named_type for named_type in named_types(schema) if isinstance(named_type, Record)]
    steps = ((record, field) for record in records for field in record.all_fields)
    return next(((record, field) for record, field in steps if _leads_back(field, record)), None)


def _leads_back(field: Field, owner: Record) -> bool:
    """Whether the field is of `owner`, or leads to it through fields of record types alone."""
    waiting, seen = ([field.type] if isinstance(field.type, Record) else []), set[int]()
    while waiting:
        record = waiting.pop()
        if record is owner:
            return True
        if id(record) not in seen:
            seen.add(id(record))
            waiting.extend(f.type for f in record.all_fields if isinstance(f.type, Record))
    return False
