"""Which branch of a reader's union takes what a writer wrote, found without trying each branch.

Avro for Java tries the branches in order, each record with a resolution of its own, until one has
the writer's name. The trials matter to the answer in two ways only: the default of a record that is
tried can be unusable, and a record that contains itself is seen half resolved. Where neither can
be, branches are looked up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import chain

from msgspec import Struct

from gitops.schemas.avro.default_values import UnusableDefaultError, check_usable
from gitops.schemas.avro.schema import (
    Array,
    Map,
    Primitive,
    Record,
    Schema,
    Union,
    branch_name,
    short_name,
)


class BranchIndex:
    """The branches of a union by what they are found by: each time the lowest index.

    `records` are the indexes of all records, `short_names` the same by short name.
    """

    def __init__(self, union: Union, reach: Reach) -> None:
        self.union = union
        self._reach = reach
        self.names: dict[tuple[str, str], int] = {}
        self.records: list[int] = []
        self.short_names: dict[str, list[int]] = {}
        for index, branch in enumerate(union.branches):
            self.names.setdefault((branch.kind, branch_name(branch)), index)
            if isinstance(branch, Record):
                self.records.append(index)
                self.short_names.setdefault(short_name(branch.name), []).append(index)

    @cached_property
    def has_usable_defaults(self) -> bool:
        """Whether every default in its branches can be used."""
        return self._reach.has_usable_defaults(self.union)

    @cached_property
    def is_acyclic(self) -> bool:
        """Whether no record in its branches contains itself."""
        return self._reach.is_acyclic(self.union)

    def find(self, writer: Schema) -> int | None:
        """The branch of the writer's kind, of named types also of its full name."""
        return self.names.get((writer.kind, branch_name(writer)))

    def find_fitting(self, writer: Record, fits: Callable[[Record, Schema], bool]) -> int | None:
        """The last record of the writer's short name that fits, else the first that does."""
        branches = self.union.branches
        namesakes: Sequence[int] = self.short_names.get(short_name(writer.name), ())
        candidates = chain(reversed(namesakes), self.records)
        return next((index for index in candidates if fits(writer, branches[index])), None)


class _Shape(Struct, eq=False):
    """`number` is that of all records with the same fields, `required` are those without default.

    Named types count by identity, so that no record is looked into.
    """

    number: int
    required: frozenset[str]


class Shapes:
    """The shapes of the records of one resolution."""

    def __init__(self) -> None:
        self._shapes: dict[int, _Shape] = {}
        self._numbers: dict[tuple[tuple[str, bool, str | int], ...], int] = {}
        self._fitting: dict[tuple[int, int], bool] = {}

    def fit(self, writer: Record, reader: Record, fits: Callable[[Record, Record], bool]) -> bool:
        """Whether they do, by `fits`, which is asked once for all records of these shapes."""
        written, read = self._shape(writer), self._shape(reader)
        if not read.required <= writer.by_name.keys():
            return False
        pair = (written.number, read.number)
        if pair not in self._fitting:
            self._fitting[pair] = fits(writer, reader)
        return self._fitting[pair]

    def _shape(self, record: Record) -> _Shape:
        shape = self._shapes.get(id(record))
        if shape is None:
            key = tuple(
                (
                    field.name,
                    field.has_default,
                    field.type.kind if isinstance(field.type, Primitive) else id(field.type),
                )
                for field in record.all_fields
            )
            required = frozenset(field.name for field in record.all_fields if not field.has_default)
            shape = _Shape(self._numbers.setdefault(key, len(self._numbers)), required)
            self._shapes[id(record)] = shape
        return shape


class Reach:
    """What can be reached from schemas; each record is looked at once."""

    def __init__(self) -> None:
        self._usable: set[int] = set()
        self._is_acyclic: dict[int, bool] = {}

    def has_usable_defaults(self, schema: Schema) -> bool:
        """Whether every default that can be reached can be used."""
        waiting = list(_records_in(schema))
        while waiting:
            record = waiting.pop()
            if id(record) in self._usable:
                continue
            try:
                for field in record.all_fields:
                    if field.has_default:
                        check_usable(record, field)
            except UnusableDefaultError:
                return False
            self._usable.add(id(record))
            waiting += _records_in(*(field.type for field in record.all_fields))
        return True

    def is_acyclic(self, schema: Schema) -> bool:
        """Whether no record that can be reached can reach itself."""
        path: list[tuple[int, Iterator[Record]]] = [(0, _records_in(schema))]
        on_path: dict[int, bool] = {}
        while path:
            number, inner = path[-1]
            record = next(inner, None)
            if record is None:
                path.pop()
                on_path.pop(number, None)
                self._is_acyclic[number] = True
            elif id(record) in on_path or self._is_acyclic.get(id(record)) is False:
                self._is_acyclic |= on_path
                return False
            elif id(record) not in self._is_acyclic:
                on_path[id(record)] = False
                inside = _records_in(*(field.type for field in record.all_fields))
                path.append((id(record), inside))
        return True


def _records_in(*schemas: Schema) -> Iterator[Record]:
    """The records that these are made of, not what is in their fields."""
    waiting = list(schemas)
    while waiting:
        match waiting.pop():
            case Record() as record:
                yield record
            case Array() as array:
                waiting.append(array.items)
            case Map() as mapping:
                waiting.append(mapping.values)
            case Union() as union:
                waiting += union.branches
            case _:
                pass
