"""Reader and writer: the rules by which Avro 1.11.4 pairs them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
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
    differing,
    short_name,
)
from gitops.compatibility.avro.unions import Equivalences

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

    Where it need not be `whole`, fields that both share are left out, since a schema reads itself
    without an error unless it recurses directly, and so are fields that are only skipped.
    """

    def __init__(self, *, whole: bool) -> None:
        self._whole = whole
        self._seen: dict[tuple[int, int], Adjust | Error] = {}
        self._equivalences: Equivalences | None = None

    def resolve(self, writer: Schema, reader: Schema) -> Action:
        """How `reader` takes what `writer` wrote; raises UnusableDefaultError."""
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
        return differing(writer, reader)

    def _written(self, field: Field, read: Field | None, adjust: Adjust) -> None:
        if read is not None:
            step = self.resolve(field.type, read.type)
            if step is not _NOTHING:
                adjust.fields.append((field, read, step))
        elif self._whole:
            adjust.fields.append((field, None, Skip(writer=field.type)))

    def _writer_union(self, writer: Union, reader: Schema) -> Action:
        if self._equivalences is None:  # most pairs have no union that differs
            self._equivalences = Equivalences()
        if self._equivalences.hold(writer, reader):
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
