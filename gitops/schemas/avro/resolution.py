"""Reader and writer: the rules by which Avro 1.11.4's Resolver pairs them, step by step."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from enum import Enum as PythonEnum
from typing import Final

import msgspec
from msgspec import Struct

from gitops.schemas.avro.default_values import check_usable
from gitops.schemas.avro.schema import (
    MISSING,
    Array,
    Enum,
    Field,
    Fixed,
    Map,
    Primitive,
    Record,
    Schema,
    Union,
    differing_fields,
    short_name,
)
from gitops.schemas.avro.union_search import BranchIndex, Reach, Shapes

# How a reader takes in what a writer wrote, step by step: Avro 1.11.4's Resolver.
#
# The broker refuses a pair if an error can be reached in this graph; it does not use Avro's
# SchemaCompatibility, whose rules differ.


class Mismatch(PythonEnum):
    """What stands against it."""

    TYPES = "types"
    NAMES = "names"
    SIZES = "sizes"
    NO_DEFAULT = "no default"
    NO_BRANCH = "no branch"


class DoNothing(Struct, eq=False):
    """The reader takes it as it is, or promoted."""


class Error(Struct, eq=False):
    """The reader cannot take it.

    Of a record, `missing` are the reader's fields that are not written and have no default, and
    `adjust` what became of the fields that are written: it explains and decides nothing.
    """

    mismatch: Mismatch
    writer: Schema
    reader: Schema
    missing: tuple[Field, ...] = ()
    adjust: Adjust | None = None


class Skip(Struct, eq=False):
    """The reader has no such field; the writer's bytes are still walked over."""

    writer: Schema


class Items(Struct, eq=False):
    """An array's items or a map's values; `step` is how the path is written."""

    step: str
    action: Action


class ReaderUnion(Struct, eq=False):
    """The reader's branch `index`."""

    index: int
    action: Action


class Branches(Struct, eq=False):
    """One action for each of the writer's branches."""

    actions: tuple[Action, ...]


class Walk(Struct, eq=False):
    """A schema that is walked over by its own plan (an equivalent union)."""

    schema: Schema


class Adjust(Struct, eq=False):
    """A record: the writer's fields, then the reader's fields that take their default.

    `fields` leaves out those that need nothing; it grows while the pair is being resolved, and a
    recursive pair sees it half done.
    """

    writer: Record
    reader: Record
    fields: list[tuple[Field, Field | None, Action]] = msgspec.field(default_factory=list)
    defaults: list[Field] = msgspec.field(default_factory=list)


Action = DoNothing | Error | Skip | Items | ReaderUnion | Branches | Walk | Adjust


# When a reader takes a writer's union branch by branch: Avro 1.11.4's Resolver.unionEquiv.


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


PROMOTIONS: Final = {
    "int": ("long", "float", "double"),
    "long": ("float", "double"),
    "float": ("double",),
    "string": ("bytes",),
    "bytes": ("string",),
}
"""Writer's kind → reader's kinds that take it."""

_NOTHING: Final = DoNothing()

_FEW: Final = 8
"""Branches of a union that are tried one after the other: an index would cost more."""

_MOST_STEPS: Final = 2_000_000
_TRIAL: Final = 16
"""Steps that the trial of a pair of records counts for; to look at one again is a single step."""


class TooManyBranchesError(ValueError):
    """Unions of so many records of other names that no broker compares them in time."""


class _OrderMattersError(Exception):
    """A branch was looked up, and trying the branches in order may have another answer."""


class Resolver:
    """One pairing of a writer with a reader.

    Where it need not be `whole`, fields that both share are left out, since a schema reads itself
    without an error unless it recurses directly, and so are fields that are only skipped.
    """

    def __init__(self, *, whole: bool) -> None:
        self._whole = whole
        self._seen: dict[tuple[int, int], Adjust | Error] = {}
        self._equivalences: Equivalences | None = None
        self._steps = 0
        self._in_order = False
        self._indexes: dict[int, BranchIndex] = {}
        self._shapes = Shapes()
        self._reach = Reach()
        self._has_skipped = self._has_tried = False

    def resolve(self, writer: Schema, reader: Schema) -> Action:
        """How `reader` takes what `writer` wrote; raises UnusableDefaultError.

        Raises TooManyBranchesError, too.
        """
        try:
            return self._resolve(writer, reader)
        except _OrderMattersError:
            self._in_order = True
            self._seen.clear()
            return self._resolve(writer, reader)

    def _resolve(self, writer: Schema, reader: Schema) -> Action:
        if isinstance(writer, Record) and isinstance(reader, Record):
            return self._record(writer, reader)
        if isinstance(writer, Union):
            return self._writer_union(writer, reader)
        if writer.kind == reader.kind:
            return self._same_kind(writer, reader)
        if isinstance(reader, Union):
            return self._reader_union(writer, reader)
        if reader.kind in PROMOTIONS.get(writer.kind, ()):
            return _NOTHING
        return Error(mismatch=Mismatch.TYPES, writer=writer, reader=reader)

    def _same_kind(self, writer: Schema, reader: Schema) -> Action:
        if isinstance(writer, Primitive):
            return _NOTHING
        match writer, reader:
            case Array(), Array():
                return Items(step="[]", action=self._resolve(writer.items, reader.items))
            case Map(), Map():
                return Items(step="{}", action=self._resolve(writer.values, reader.values))
            case ((Enum() | Fixed()), (Enum() | Fixed())):
                return _enum_or_fixed(writer, reader)
            case _:
                return _NOTHING

    def _record(self, writer: Record, reader: Record) -> Action:
        """Names are not compared; a reader's field that was not written needs a default."""
        pair = (id(writer), id(reader))
        if result := self._seen.get(pair):
            return result
        adjust = Adjust(writer, reader)
        self._seen[pair] = adjust
        written, read = self._different(writer, reader)
        # What one side has and the other has not just so, the other has here or not at all.
        readers = {field.name: field for field in read}
        for field in written:
            self._written(field, readers.pop(field.name, None), adjust)
        for field in readers.values():
            if field.default is MISSING:
                error = _without_default(writer, reader, readers.values(), adjust)
                self._seen[pair] = error
                return error
            check_usable(reader, field)
            adjust.defaults.append(field)
        return adjust

    def _different(
        self, writer: Record, reader: Record
    ) -> tuple[Collection[Field], Collection[Field]]:
        """The fields of each, in order, that the other does not have just so."""
        if self._whole:
            return writer.all_fields, reader.all_fields
        return differing_fields(writer, reader)

    def _written(self, field: Field, read: Field | None, adjust: Adjust) -> None:
        if read is not None:
            step = self._resolve(field.type, read.type)
            if step is not _NOTHING:
                adjust.fields.append((field, read, step))
        elif self._whole:
            adjust.fields.append((field, None, Skip(writer=field.type)))

    def _writer_union(self, writer: Union, reader: Schema) -> Action:
        if self._equivalences is None:  # most pairs have no union that differs
            self._equivalences = Equivalences()
        if self._equivalences.hold(writer, reader):
            return Walk(schema=reader)
        return Branches(actions=tuple(self._resolve(branch, reader) for branch in writer.branches))

    def _reader_union(self, writer: Schema, reader: Union) -> Action:
        index = self._branch(writer, reader)
        if index is None:
            return Error(mismatch=Mismatch.NO_BRANCH, writer=writer, reader=reader)
        return ReaderUnion(index=index, action=self._resolve(writer, reader.branches[index]))

    def _branch(self, writer: Schema, reader: Union) -> int | None:
        """The one branch that is tried: by name, else by structure, else by promotion."""
        if self._in_order or len(reader.branches) <= _FEW:
            index = self._first_branch(writer, reader)
        else:
            index = self._indexed_branch(writer, reader)
        return _promoted(writer, reader) if index is None else index

    def _first_branch(self, writer: Schema, reader: Union) -> int | None:
        """As Java finds it: each branch in its order, records with a trial of their fields."""
        structural: int | None = None
        has_tried = False
        for index, branch in enumerate(reader.branches):
            if branch.kind != writer.kind:
                continue
            match writer, branch:
                case ((Record() | Enum() | Fixed()), (Record() | Enum() | Fixed())):
                    if writer.name == branch.name:
                        return index
                    has_tried = has_tried or isinstance(writer, Record)
                    if self._fits(writer, branch) and (
                        structural is None or short_name(writer.name) == short_name(branch.name)
                    ):
                        structural = index
                case _:
                    return index
        if has_tried and not self._in_order and not self._reach.is_acyclic(reader):
            self._note(has_tried=True)
        return structural

    def _indexed_branch(self, writer: Schema, reader: Union) -> int | None:
        """The same without a trial of all branches before it."""
        branches = self._indexes.get(id(reader))
        if branches is None:
            branches = self._indexes[id(reader)] = BranchIndex(reader, self._reach)
        index = branches.find(writer)
        if not isinstance(writer, Record) or not branches.records:
            return index
        if index == branches.records[0]:
            return index
        if not branches.has_usable_defaults:
            raise _OrderMattersError
        if index is not None:
            if not branches.is_acyclic:
                self._note(has_skipped=True)
            return index
        if not branches.is_acyclic:
            raise _OrderMattersError
        return branches.find_fitting(writer, self._has_fitting_shape)

    def _note(self, *, has_skipped: bool = False, has_tried: bool = False) -> None:
        """Among records that contain themselves a trial may depend on one that was left out."""
        self._has_skipped |= has_skipped
        self._has_tried |= has_tried
        if self._has_skipped and self._has_tried:
            raise _OrderMattersError

    def _has_fitting_shape(self, writer: Record, branch: Schema) -> bool:
        self._count(1)
        return isinstance(branch, Record) and self._shapes.fit(writer, branch, self._fits)

    def _count(self, steps: int) -> None:
        self._steps += steps
        if self._steps > _MOST_STEPS:
            raise TooManyBranchesError("the unions have too many records of other names")

    def _fits(self, writer: Schema, branch: Schema) -> bool:
        """A record whose own fields meet no error; errors deeper down are not seen."""
        if not (isinstance(writer, Record) and isinstance(branch, Record)):
            return False
        self._count(1 if (id(writer), id(branch)) in self._seen else _TRIAL)
        action = self._record(writer, branch)
        return isinstance(action, Adjust) and not any(
            isinstance(step, Error) for _, _, step in action.fields
        )


def _without_default(
    writer: Record, reader: Record, unwritten: Iterable[Field], adjust: Adjust
) -> Error:
    missing = tuple([field for field in unwritten if field.default is MISSING])
    return Error(
        mismatch=Mismatch.NO_DEFAULT, writer=writer, reader=reader, missing=missing, adjust=adjust
    )


def _enum_or_fixed(writer: Enum | Fixed, reader: Enum | Fixed) -> Action:
    """Short names and sizes; symbols are not looked at, only reading a missing one fails."""
    if short_name(writer.name) != short_name(reader.name):
        return Error(mismatch=Mismatch.NAMES, writer=writer, reader=reader)
    if isinstance(writer, Fixed) and isinstance(reader, Fixed) and writer.size != reader.size:
        return Error(mismatch=Mismatch.SIZES, writer=writer, reader=reader)
    return _NOTHING


def _promoted(writer: Schema, reader: Union) -> int | None:
    kinds = PROMOTIONS.get(writer.kind, ())
    for index, branch in enumerate(reader.branches):
        if isinstance(branch, Primitive) and branch.kind in kinds:
            return index
    return None
