"""Unions: which branch reads what was written, and records that are taken for others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from gitops.schemas.avro import review_types
from gitops.schemas.avro.aliases import Aliases, apply_to
from gitops.schemas.avro.default_values import UnusableDefaultError
from gitops.schemas.avro.errors import AvroParseError
from gitops.schemas.avro.resolution import ReaderUnion, Resolver, TooManyBranchesError
from gitops.schemas.avro.review_types import Change
from gitops.schemas.avro.schema import Record, Schema, Union, branch_name, short_name
from gitops.schemas.row import Remark

_PAIRS: Final = 2_000
"""How many pairs of branches of two unions are tried: each is a resolution of its own."""


class BranchMatch(NamedTuple):
    """By which of a reader's branches a branch is read; `sure`: as Avro does it."""

    branch: int
    sure: bool


class Branches(NamedTuple):
    """The branches of both sides, and for each that is written the one that reads it, if any."""

    written: Sequence[Schema]
    readers: Sequence[Schema]
    read: Sequence[BranchMatch | None]


class UnionReader:
    """Of one walk over two definitions: pairs that were resolved are remembered.

    `aliases` are the reader's, `who` is what consumers have that read.
    """

    def __init__(self, aliases: Aliases, who: str) -> None:
        self.who = who
        self._aliases = aliases
        self._resolver = Resolver(whole=False)
        self._written: dict[int, tuple[Record, Schema]] = {}

    def of(self, written: Schema, reader: Schema) -> Branches:
        """How a union is read, or what is no union by one: that counts as one of one branch."""
        old, new = (
            side.branches if isinstance(side, Union) else (side,) for side in (written, reader)
        )
        names = {branch_name(branch): index for index, branch in enumerate(new)}
        kinds = {branch.kind: index for index, branch in reversed(list(enumerate(new)))}
        read = [self._namesake(schema, new, names) for schema in old]
        few = len(old) * len(new) <= _PAIRS
        for index, branch in enumerate(old):
            read[index] = read[index] or self._other(branch, new, kinds, few=few)
        return Branches(old, new, read)

    def is_called(self, written: Record, reader: Schema) -> bool:
        """Whether they have one name, but for the namespace."""
        return short_name(self._aliases.name(written.name)) == short_name(branch_name(reader))

    def fits(self, written: Record, reader: Record) -> bool:
        """Whether a record takes the fields of another one."""
        return self._structural(written, (reader,)) is not None

    def _namesake(
        self, written: Schema, new: Sequence[Schema], names: Mapping[str, int]
    ) -> BranchMatch | None:
        same = names.get(self._aliases.name(branch_name(written)))
        if same is None or new[same].kind != written.kind:
            return None
        return BranchMatch(same, sure=True)

    def _other(
        self, written: Schema, new: Sequence[Schema], kinds: Mapping[str, int], *, few: bool
    ) -> BranchMatch | None:
        structural = self._structural(written, new) if few else None
        if structural is not None:
            return BranchMatch(structural, sure=True)
        if written.kind in kinds:
            return BranchMatch(kinds[written.kind], sure=False)
        promoted = (i for i, schema in enumerate(new) if review_types.is_promotion(written, schema))
        index = next(promoted, None)
        return None if index is None else BranchMatch(index, sure=False)

    def _structural(self, written: Schema, new: Sequence[Schema]) -> int | None:
        """The record that is no namesake and takes the fields (Avro 1.11.4's ReaderUnion)."""
        if not isinstance(written, Record):
            return None
        try:
            action = self._resolver.resolve(self._renamed(written), Union(tuple(new)))
        except (UnusableDefaultError, TooManyBranchesError):
            return None
        return action.index if isinstance(action, ReaderUnion) else None

    def _renamed(self, written: Record) -> Schema:
        """As the reader's aliases call it; the record itself is kept, so that its identity is."""
        if id(written) not in self._written:
            try:
                self._written[id(written)] = (written, apply_to(written, self._aliases))
            except AvroParseError:
                self._written[id(written)] = (written, written)
        return self._written[id(written)][1]


class _MistakenRecords(NamedTuple):
    """Records that are read as one of another name, and what that leads to."""

    strays: Sequence[Record]
    reader: Record
    harm: str


def _mistaken_records(branches: Branches, reading: UnionReader) -> Iterator[_MistakenRecords]:
    """Where another record could have been meant, or more than one comes out as the same."""
    for index, reader in enumerate(branches.readers):
        taken = [
            written
            for written, read in zip(branches.written, branches.read, strict=True)
            if isinstance(written, Record) and read == BranchMatch(index, sure=True)
        ]
        strays = [written for written in taken if not reading.is_called(written, reader)]
        if not strays or not isinstance(reader, Record):
            continue
        if len(taken) > 1:
            harm = f"consumers with the {reading.who} schema cannot tell {_and(taken)} apart"
            yield _MistakenRecords(strays, reader, harm)
        elif rivals := _rivals(strays[0], reader, branches, reading):
            yield _MistakenRecords(strays, reader, f"{_and(rivals)} would do as well")


def _rivals(
    stray: Record, reader: Record, branches: Branches, reading: UnionReader
) -> list[Record]:
    """Readers that are nobody's namesake and could as well be what the record has become."""
    records = [schema for schema in branches.written if isinstance(schema, Record)]
    return [
        record
        for record in branches.readers
        if isinstance(record, Record)
        and record is not reader
        and not any(reading.is_called(item, record) for item in records)
        and reading.fits(stray, record)
    ]


def new_reader_remarks(branches: Branches, reading: UnionReader, at: Change) -> Iterator[Remark]:
    """What consumers with the new schema make of older messages."""
    for mistaken_record in _mistaken_records(branches, reading):
        keep = f"keep {_and(mistaken_record.strays)} in the union"
        has = "it has" if len(mistaken_record.strays) == 1 else "each has"
        yield Remark(
            rule="AVRO-W009",
            message=_message(mistaken_record),
            path=at.path,
            pointer=f"{at.new.pointer(mistaken_record.reader)}/name",
            old_pointer=f"{at.old.pointer(mistaken_record.strays[0])}/name",
            hint=keep if at.forward else f'{keep}, or name in "aliases" which record {has} become',
        )


def old_reader_remarks(branches: Branches, reading: UnionReader, at: Change) -> Iterator[Remark]:
    """What consumers with the old schema make of new messages."""
    for mistaken_record in _mistaken_records(branches, reading):
        yield Remark(
            rule="AVRO-W009",
            message=_message(mistaken_record),
            path=at.path,
            pointer=f"{at.new.pointer(mistaken_record.strays[0])}/name",
            old_pointer=f"{at.old.pointer(mistaken_record.reader)}/name",
            hint=f"upgrade every consumer before a producer writes {_and(mistaken_record.strays)}",
        )


def _message(mistaken_records: _MistakenRecords) -> str:
    strays, reader, harm = mistaken_records
    text = f"record {_and(strays)} is"
    verb = text if len(strays) == 1 else f"records {_and(strays)} are"
    lost = {field.name for stray in strays for field in stray.all_fields} - reader.by_name.keys()
    names = ", ".join(f"'{name}'" for name in sorted(lost))
    also = f", and what they contain as {names} is lost" if lost else ""
    return f"{verb} read as record {reader.name}, the first whose fields fit: {harm}{also}"


def _and(records: Sequence[Record]) -> str:
    return " and ".join(record.name for record in records)
