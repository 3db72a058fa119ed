"""Reader and writer: the rules by which Avro 1.11.4 pairs them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gitops.compatibility.avro.actions import (
    Action,
    Adjust,
    Branches,
    Chosen,
    Error,
    Items,
    Mismatch,
    Nothing,
    Skip,
    Walk,
)
from gitops.compatibility.avro.default_values import check_usable
from gitops.compatibility.avro.schema import (
    Array,
    Enum,
    Field,
    Fixed,
    Map,
    Primitive,
    Record,
    Schema,
    Union,
    short_name,
)
from gitops.compatibility.avro.unions import are_equivalent

PROMOTIONS: Final = {
    "int": ("long", "float", "double"),
    "long": ("float", "double"),
    "float": ("double",),
    "string": ("bytes",),
    "bytes": ("string",),
}
"""Writer's kind → reader's kinds that take it."""

_NOTHING: Final = Nothing()


class Resolver:
    """One pairing of a writer with a reader.

    Where it need not be `whole`, fields of one likeness are left out: a schema reads itself
    without an error, unless it recurses directly.
    """

    def __init__(self, *, whole: bool) -> None:
        self._whole = whole
        self._seen: dict[tuple[int, int], Adjust | Error] = {}

    def resolve(self, writer: Schema, reader: Schema) -> Action:
        """How `reader` takes what `writer` wrote; raises UnusableDefaultError."""
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
        match writer, reader:
            case Record(), Record():
                return self._record(writer, reader)
            case Array(), Array():
                return Items(step="[]", action=self.resolve(writer.items, reader.items))
            case Map(), Map():
                return Items(step="{}", action=self.resolve(writer.values, reader.values))
            case ((Enum() | Fixed()), (Enum() | Fixed())):
                return _enum_or_fixed(writer, reader)
            case _:
                return _NOTHING

    def _record(self, writer: Record, reader: Record) -> Action:
        """Names are not compared; a reader's field that was not written needs a default."""
        pair = (id(writer), id(reader))
        if found := self._seen.get(pair):
            return found
        adjust = Adjust()
        self._seen[pair] = adjust
        for written in self._different(writer, reader):
            read = reader.by_name.get(written.name)
            step: Action = (
                self.resolve(written.type, read.type) if read else Skip(writer=written.type)
            )
            adjust.fields.append((written, read, step))
        return self._defaults(writer, reader, adjust, pair)

    def _different(self, record: Record, other: Record) -> Sequence[Field]:
        """The fields of `record`, in order, that `other` does not have just so."""
        return record.all_fields if self._whole else record.differing(other)

    def _defaults(
        self, writer: Record, reader: Record, adjust: Adjust, pair: tuple[int, int]
    ) -> Action:
        for read in self._different(reader, writer):
            if read.name in writer.by_name:
                continue
            if not read.has_default:
                error = _without_default(writer, reader, adjust)
                self._seen[pair] = error
                return error
            check_usable(read)
            adjust.defaults.append(read)
        return adjust

    def _writer_union(self, writer: Union, reader: Schema) -> Action:
        if are_equivalent(writer, reader, {}):
            return Walk(schema=reader)
        return Branches(actions=tuple(self.resolve(branch, reader) for branch in writer.branches))

    def _reader_union(self, writer: Schema, reader: Union) -> Action:
        index = self._branch(writer, reader)
        if index is None:
            return Error(mismatch=Mismatch.NO_BRANCH, writer=writer, reader=reader)
        return Chosen(index=index, action=self.resolve(writer, reader.branches[index]))

    def _branch(self, writer: Schema, reader: Union) -> int | None:
        """The one branch that is tried: by name, else by structure, else by promotion."""
        structural: int | None = None
        for index, branch in enumerate(reader.branches):
            if branch.kind != writer.kind:
                continue
            match writer, branch:
                case ((Record() | Enum() | Fixed()), (Record() | Enum() | Fixed())):
                    if writer.name == branch.name:
                        return index
                    if self._fits(writer, branch) and (
                        structural is None or short_name(writer.name) == short_name(branch.name)
                    ):
                        structural = index
                case _:
                    return index
        return structural if structural is not None else _promoted(writer, reader)

    def _fits(self, writer: Schema, branch: Schema) -> bool:
        """A record whose own fields meet no error; errors deeper down are not seen."""
        if not (isinstance(writer, Record) and isinstance(branch, Record)):
            return False
        action = self._record(writer, branch)
        return isinstance(action, Adjust) and not any(
            isinstance(step, Error) for _, _, step in action.fields
        )


def _without_default(writer: Record, reader: Record, adjust: Adjust) -> Error:
    missing = tuple(
        field
        for field in reader.all_fields
        if field.name not in writer.by_name and not field.has_default
    )
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
