"""Changes of an Avro definition that readers take and then read wrongly, or not at all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gitops.schemas.avro import changed_defaults, review_types, review_unions
from gitops.schemas.avro.aliases import Aliases, data_aliases_for
from gitops.schemas.avro.equality import equal
from gitops.schemas.avro.field_matching import guess_renames, match, match_aliases
from gitops.schemas.avro.java_classes import java_class_remarks
from gitops.schemas.avro.pointers import Pointers
from gitops.schemas.avro.review_types import Change, Wire
from gitops.schemas.avro.schema import (
    Array,
    Enum,
    Field,
    Fixed,
    Map,
    Primitive,
    Record,
    Schema,
    Union,
)
from gitops.schemas.row import Remark

# The fields of a record: what looks like a rename, and what changed places.


def field_remarks(
    old: Record, new: Record, written: Mapping[str, Field], at: Change
) -> Iterator[Remark]:
    """About the record as a whole."""
    yield from _renamed(old, new, written, at)
    if at.wire is Wire.AVRO:
        yield from _moved(old, new, at)


def _renamed(
    old: Record, new: Record, written: Mapping[str, Field], at: Change
) -> Iterator[Remark]:
    if at.forward and at.wire is Wire.AVRO:
        for name, before in written.items():
            after = new.by_name[name]
            is_unknown = before.name not in new.by_name and name not in before.aliases
            if before.name != name and is_unknown:
                yield _unknown_to_old_readers((old, before), (new, after), at)
    kept = {id(field) for field in written.values()}
    ignores_aliases = at.wire is Wire.JSON or at.aliases.name(old.name) != new.name
    for before, after in match_aliases(old, new, written) if ignores_aliases else ():
        kept.add(id(before))
        written = {**written, after.name: before}
        yield _without_effect((old, before), (new, after), at)
    gone = [field for field in old.all_fields if id(field) not in kept]
    if not gone:
        return
    added = [field for field in new.all_fields if field.name not in written]
    for before, after in guess_renames((old, gone), (new, added)):
        if before.name != after.name:  # else another field has its name as alias: AVRO-R008
            yield _rename((old, before), (new, after), at)


def _rename(before: tuple[Record, Field], after: tuple[Record, Field], at: Change) -> Remark:
    (_, old), (_, new) = before, after
    by_alias = f'if it is a rename, add "aliases": ["{old.name}"] to \'{new.name}\''
    by_name = f"if it is a rename, keep the name '{old.name}': JSON has no aliases"
    hint = _by_both(old, new) if at.forward else by_alias
    return Remark(
        rule="AVRO-W006",
        message=f"'{old.name}' is gone and '{new.name}' of the same type is new: consumers with "
        f"the new schema do not find what messages contain as '{old.name}'",
        path=at.field_path(new.name),
        pointer=f"{at.new.field(*after)}/name",
        old_pointer=f"{at.old.field(*before)}/name",
        hint=hint if at.wire is Wire.AVRO else by_name,
    )


def _unknown_to_old_readers(
    before: tuple[Record, Field], after: tuple[Record, Field], at: Change
) -> Remark:
    """The alias serves readers of the new schema alone."""
    (_, old), (_, new) = before, after
    return Remark(
        rule="AVRO-W006",
        message=f"'{old.name}' is renamed to '{new.name}' by an alias, which consumers with the "
        f"old schema do not have: they get the default of '{old.name}' from new messages",
        path=at.field_path(new.name),
        pointer=f"{at.new.field(*after)}/name",
        old_pointer=f"{at.old.field(*before)}/name",
        hint=f"keep '{old.name}' beside '{new.name}' for a while, both with a default, or upgrade "
        "these consumers first",
    )


def _without_effect(
    before: tuple[Record, Field], after: tuple[Record, Field], at: Change
) -> Remark:
    """The author writes that it is a rename, so that losing the values is no guess."""
    (was, old), (now, new) = before, after
    if at.wire is Wire.JSON:
        why = "readers of JSON go by names alone"
        hint = f"keep the name '{old.name}': JSON has no aliases"
    else:
        why = f"record {was.name} has become {now.name}"
        hint = (
            f'add "aliases": ["{was.name}"] to record {now.name}: Avro looks for field aliases '
            "under the record's name"
        )
        hint = _by_both(old, new) if at.forward else hint
    return Remark(
        rule="AVRO-W006",
        message=f"the alias '{old.name}' of '{new.name}' is not used, because {why}: consumers "
        f"with the new schema do not find what messages contain as '{old.name}'",
        path=at.field_path(new.name),
        pointer=f"{at.new.field(*after)}/name",
        old_pointer=f"{at.old.field(*before)}/name",
        hint=hint,
        breaks_readers=True,
    )


def _by_both(old: Field, new: Field) -> str:
    return (
        f"if it is a rename, keep '{old.name}' beside '{new.name}' for a while, both with a "
        "default: consumers with the old schema have no alias"
    )


def _moved(old: Record, new: Record, at: Change) -> Iterator[Remark]:
    """Consumers that read by position take one for the other, where the types do not differ."""
    before = [field for field in old.all_fields if field.name in new.by_name]
    after = [field for field in new.all_fields if field.name in old.by_name]
    swapped = [
        (was, now)
        for was, now in zip(before, after, strict=True)
        if was.name != now.name and equal(was.type, now.type)
    ]
    if not swapped:
        return
    was, now = swapped[0]
    names = ", ".join(f"'{field.name}'" for _, field in swapped)
    yield Remark(
        rule="AVRO-W007",
        message=f"{names} changed places with fields of the same type: a reader by "
        "position, without the writer's schema, reads one as the other without any error",
        path=at.path,
        pointer=at.new.field(new, now),
        old_pointer=at.old.field(old, was),
        hint="keep the order of fields, and add new ones at the end",
    )


# Resolution (Avro 1.11.4, as Pulsar 4.0.7 runs it) looks at types and field names. It does not
# look at an enum's symbols, at logical types, at what a promotion loses, or at what people meant.


def avro_changes(
    old: Schema, new: Schema, *, wire: Wire, forward: bool = False
) -> tuple[Remark, ...]:
    """Every remark, in the order of the new definition.

    `forward`: consumers of the old schema are to read what the new one writes.
    """
    # Whoever reads JSON goes by names alone.
    aliases = data_aliases_for(old, new) if wire is Wire.AVRO else Aliases()
    start = Change(
        wire=wire, forward=forward, old=Pointers(old), new=Pointers(new), aliases=aliases
    )
    back = data_aliases_for(new, old) if forward and wire is Wire.AVRO else Aliases()
    return tuple(_Walk(aliases, back).remarks(old, new, start))


def used_defaults(writer: Schema, reader: Schema) -> frozenset[str]:
    """Pointers to the reader's defaults that stand in for what the writer's messages lack."""
    aliases, places = data_aliases_for(writer, reader), Pointers(reader)
    walk = _Walk(aliases, Aliases())
    start = Change(wire=Wire.AVRO, forward=False, old=Pointers(writer), new=places, aliases=aliases)
    for _ in walk.remarks(writer, reader, start):
        pass
    return frozenset(
        f"{places.field(*used)}/default"
        for lacking in walk.lacking
        for used in changed_defaults.used_fields(*lacking)
    )


class _Walk:
    """Over both definitions; a pair of named types is looked at once, so recursion ends.

    `lacking` are the fields of the new schema that messages of the old one do not have.
    """

    def __init__(self, by_new: Aliases, by_old: Aliases) -> None:
        self._by_new = review_unions.UnionReader(by_new, "new")
        self._by_old = review_unions.UnionReader(by_old, "old")
        self._seen: set[tuple[int, int]] = set()
        self.lacking: list[tuple[Record, Field]] = []

    def remarks(self, old: Schema, new: Schema, at: Change) -> Iterator[Remark]:
        match old, new:
            case (Union(), _) | (_, Union()):
                yield from self._unions(old, new, at)
            case Array(), Array():
                yield from java_class_remarks(old, new, at)
                yield from self.remarks(old.items, new.items, at.into("[]", "items"))
            case Map(), Map():
                yield from java_class_remarks(old, new, at)
                yield from self.remarks(old.values, new.values, at.into("{}", "values"))
            case ((Primitive() | Fixed()), (Primitive() | Fixed())):
                yield from review_types.scalar_remarks(old, new, at.at_definitions(old, new))
                yield from java_class_remarks(old, new, at)
            case (Record(), Record()) | (Enum(), Enum()) if self._is_first(old, new):
                yield from self._named(old, new, at.at_definitions(old, new))
            case _:
                pass

    def _is_first(self, old: Schema, new: Schema) -> bool:
        first = (id(old), id(new)) not in self._seen
        self._seen.add((id(old), id(new)))
        return first

    def _named(self, old: Schema, new: Schema, at: Change) -> Iterator[Remark]:
        if isinstance(old, Record) and isinstance(new, Record):
            yield from self._records(old, new, at)
        elif isinstance(old, Enum) and isinstance(new, Enum):
            yield from review_types.enum_remarks(old, new, at)

    def _unions(self, old: Schema, new: Schema, at: Change) -> Iterator[Remark]:
        branch_match = self._by_new.of(old, new)
        for index, (branch, read) in enumerate(
            zip(branch_match.written, branch_match.read, strict=True)
        ):
            if read is not None:
                inner = at.into_old_branch(index) if isinstance(old, Union) else at
                inner = inner.into_new_branch(read.branch) if isinstance(new, Union) else inner
                yield from self.remarks(branch, branch_match.readers[read.branch], inner)
        if at.wire is not Wire.AVRO:
            return
        yield from review_unions.new_reader_remarks(branch_match, self._by_new, at)
        if at.forward:
            back = self._by_old.of(new, old)
            yield from review_unions.old_reader_remarks(back, self._by_old, at)

    def _records(self, old: Record, new: Record, at: Change) -> Iterator[Remark]:
        written = match(old, new, at.aliases.fields_of(old))
        for field in new.all_fields:
            before = written.get(field.name)
            if before is None:
                self.lacking.append((new, field))
            # Versions share most fields: one that stands for itself has not changed.
            if before is not None and not (before is field and field.is_plain):
                inner = at.into_field((old, before), (new, field))
                yield from self.remarks(before.type, field.type, inner)
                if at.wire is Wire.AVRO:
                    yield from changed_defaults.default_remarks((old, before), (new, field), at)
        yield from field_remarks(old, new, written, at)
