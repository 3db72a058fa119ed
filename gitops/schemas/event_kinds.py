"""Topics with several kinds of event: under ALWAYS_COMPATIBLE each kind is looked at by itself.

The strategy lets schemas of any kind stand in one history, and the broker compares nothing
(Pulsar 4.0.7). A kind is told by the record's name; of PROTOBUF_NATIVE by the root message's. Its
namespace or package does not count: Avro for Java does not compare it, Protobuf no name at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from gitops.model.decision import StoredSchema
from gitops.schemas.key_value.parser import add_half_prefix
from gitops.schemas.row import DefinitionForm, Reason, Remark
from gitops.schemas.types import SchemaTypes

_RULE: Final = "CLIENT-R007"


def kind_of(types: SchemaTypes, schema: StoredSchema) -> str:
    """The short name of the record or message, else the type."""
    return _names(types, schema)[0]


def is_of_kind(types: SchemaTypes, old: StoredSchema, new: StoredSchema) -> bool:
    """Whether `new` is a later version of what `old` is: an alias is an earlier name."""
    return old.type is new.type and kind_of(types, old) in _names(types, new)


def _names(types: SchemaTypes, schema: StoredSchema) -> tuple[str, ...]:
    names = types.row_of(schema.type).names(schema) or (schema.type.value,)
    return tuple(name.rpartition(".")[2] for name in names)


def new_kind(
    types: SchemaTypes, versions: Sequence[tuple[int, StoredSchema]], new: StoredSchema
) -> Iterator[tuple[int, Remark]]:
    """That the new schema is of a kind that no version is of, and so is compared with none.

    `versions` are oldest first. A type that no version has is reported elsewhere.
    """
    same_type = [(version, old) for version, old in versions if old.type is new.type]
    if not same_type or any(is_of_kind(types, old, new) for _, old in same_type):
        return
    version, old = same_type[-1]
    before, after = kind_of(types, old), kind_of(types, new)
    hint = f"if it is '{before}' under another name, keep the name"
    if types.row_of(new.type).form is DefinitionForm.AVRO:
        full_name = (*types.row_of(old.type).names(old), before)[0]
        hint += f' or add "aliases": ["{full_name}"], and it is compared'
    yield (
        version,
        Remark(
            rule=_RULE,
            message=f"'{after}' is a new kind of event beside '{before}' (v{version}): it is "
            "compared with no version, and consumers of one kind may fail on messages of another",
            hint=hint,
        ),
    )


def broken_readers(
    types: SchemaTypes, version: int, old: StoredSchema, new: StoredSchema, *, forward: bool
) -> Iterator[Remark]:
    """Which side of one kind could not read the other; consumers of `old` only with `forward`."""
    for half, before, after in changed_parts(types, old, new):
        for backward in (True, False) if forward else (True,):
            writer, reader = (before, after) if backward else (after, before)
            for reason in types.row_of(after.type).resolve(writer, reader):
                yield _remark(f"v{version}", reason, half, backward=backward)


def have_common_reader(types: SchemaTypes, left: StoredSchema, right: StoredSchema) -> bool:
    """Whether a reader of both may exist: no field has two types of which neither reads the other.

    A reader with a union of both types is not thought of: few strategies accept it.
    """
    if left.type is not right.type:
        return False
    for _, before, after in changed_parts(types, left, right):
        resolve = types.row_of(after.type).resolve
        backward, forward = (
            {reason.path for reason in reasons if reason.rule == "AVRO-R001" and reason.is_certain}
            for reasons in (resolve(before, after), resolve(after, before))
        )
        if backward & forward:
            return False
    return True


def changed_parts(
    types: SchemaTypes, old: StoredSchema, new: StoredSchema
) -> Iterator[tuple[str, StoredSchema, StoredSchema]]:
    """What differs: the schemas, or the halves of both; the name of the half is first."""
    for name, before, after in types.row_of(new.type).parts(old, new):
        if name:
            yield from ((name, b, a) for _, b, a in changed_parts(types, before, after))
        elif before.type is after.type and before.data != after.data:
            yield "", before, after


def _remark(version: str, reason: Reason, half: str, *, backward: bool) -> Remark:
    cannot = "cannot read" if reason.is_certain else "may fail on or misread"
    if backward:
        message = f"consumers with the new schema {cannot} messages of {version}"
        text, other, hint = reason.reader_pointer, reason.writer_pointer, reason.hint
    else:
        message = f"consumers with {version} {cannot} messages of the new schema"
        text, other, hint = reason.writer_pointer, reason.reader_pointer, reason.writer_hint
    remark = Remark(
        rule=_RULE,
        message=f"{message}: {reason.message}",
        path=reason.path,
        pointer=text,
        old_pointer=other,
        hint=hint,
    )
    return add_half_prefix(remark, half) if half else remark
