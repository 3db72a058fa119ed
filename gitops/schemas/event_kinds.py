"""Topics with several kinds of event: under ALWAYS_COMPATIBLE each kind is looked at by itself.

The strategy lets schemas of any kind stand in one history, and the broker compares nothing
(Pulsar 4.0.7). A kind is told by the record's name; of PROTOBUF_NATIVE by the root message's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gitops.model.decision import StoredSchema
from gitops.model.schema import AVRO_DEFINED, SchemaType
from gitops.schemas.avro.compatibility import Reason, can_read
from gitops.schemas.avro.errors import AvroParseError
from gitops.schemas.avro.parser import parse_data
from gitops.schemas.avro.schema import Record, Schema
from gitops.schemas.key_value import parser
from gitops.schemas.protobuf_native.envelope import read_envelope
from gitops.schemas.protobuf_native.errors import InvalidEnvelopeError
from gitops.schemas.remark import Remark

_RULE: Final = "CLIENT-R007"
_RESOLVED: Final = (SchemaType.AVRO, SchemaType.JSON)


def kind_of(schema: StoredSchema) -> str:
    """The name of the record or message, else the type."""
    if schema.type is SchemaType.PROTOBUF_NATIVE:
        try:
            named = read_envelope(schema.data).root_message_type_name
        except InvalidEnvelopeError:
            named = None
        return named or schema.type.value
    top = _parsed(schema) if schema.type in AVRO_DEFINED else None
    return str(top.name) if isinstance(top, Record) else schema.type.value


def is_of_kind(old: StoredSchema, new: StoredSchema) -> bool:
    """Whether `new` is a later version of what `old` is: an alias is an earlier name."""
    if old.type is not new.type:
        return False
    known = kind_of(old)
    top = _parsed(new) if new.type in AVRO_DEFINED else None
    if not isinstance(top, Record):
        return known == kind_of(new)
    namespace = top.name.rpartition(".")[0]
    qualified = (f"{namespace}.{one}" if namespace else one for one in top.aliases)
    return known in (top.name, *top.aliases, *qualified)


def broken_readers(
    version: int, old: StoredSchema, new: StoredSchema, *, forward: bool
) -> Iterator[Remark]:
    """Which side of one kind could not read the other; consumers of `old` only with `forward`."""
    for half, before, after in _parts(old, new):
        for backward in (True, False) if forward else (True,):
            writer, reader = (before, after) if backward else (after, before)
            for reason in can_read(writer, reader).reasons:
                yield _remark(f"v{version}", reason, half, backward=backward)


def _parts(old: StoredSchema, new: StoredSchema) -> Iterator[tuple[str, Schema, Schema]]:
    """What Avro resolves: the schemas, or the halves of both; the name of the half is first."""
    if new.type is SchemaType.KEY_VALUE:
        try:
            halves = list(zip(parser.split(old), parser.split(new), strict=True))
        except parser.UndecodableError:
            return
        for name, (before, after) in zip(("key", "value"), halves, strict=True):
            yield from ((name, b, a) for _, b, a in _parts(before, after))
    elif new.type in _RESOLVED and old.type is new.type and old.data != new.data:
        before_after = _parsed(old), _parsed(new)
        if before_after[0] is not None and before_after[1] is not None:
            yield "", before_after[0], before_after[1]


def _remark(version: str, reason: Reason, half: str, *, backward: bool) -> Remark:
    prefix = f"/{half}" if half else ""
    path = ".".join(filter(None, (half, reason.path)))
    if backward:
        message = f"consumers with the new schema cannot read what {version} wrote"
        mine, other, hint = reason.reader_pointer, reason.writer_pointer, reason.hint
    else:
        message = f"consumers with {version} cannot read what the new schema writes"
        mine, other, hint = reason.writer_pointer, reason.reader_pointer, reason.writer_hint
    return Remark(
        rule=_RULE,
        message=f"{message}: {reason.message}",
        path=path,
        pointer=f"{prefix}{mine}",
        old_pointer=f"{prefix}{other}",
        hint=hint,
    )


def _parsed(schema: StoredSchema) -> Schema | None:
    try:
        return parse_data(schema.data)
    except AvroParseError:
        return None
