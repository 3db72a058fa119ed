"""The message that a PROTOBUF or PROTOBUF_NATIVE definition describes."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from gitops.model.schema import SchemaInfo, SchemaType
from gitops.replay.kernel.avro.definition import schema_of
from gitops.replay.kernel.definition import DefinitionError
from gitops.schemas.payload import to_stored
from gitops.schemas.protobuf_native.descriptors import Label, Type
from gitops.schemas.protobuf_native.errors import InvalidEnvelopeError
from gitops.schemas.protobuf_native.parser import resolve
from gitops.schemas.protobuf_native.schema import Field, Message

PARSING_INFO: Final = "__PARSING_INFO__"
"""The property in which Pulsar's Java client keeps the numbers of a PROTOBUF message's fields."""

_OPAQUE: Final = frozenset({Type.MESSAGE, Type.GROUP, Type.ENUM})


class _Info(msgspec.Struct):
    number: int
    name: str
    type: str
    label: str


def message_of(info: SchemaInfo) -> Message:
    """The root message; raises DefinitionError.

    A PROTOBUF definition is an Avro schema, which has no field numbers. Its parsing info has
    those of the outermost message only: messages in it are known by their names alone, and
    enums by their numbers.
    """
    if info.type is SchemaType.PROTOBUF:
        return _message_of_parsing_info(info)
    try:
        return resolve(to_stored(info).data).root
    except (InvalidEnvelopeError, RecursionError) as error:
        raise DefinitionError(f"the PROTOBUF_NATIVE definition is not valid: {error}") from None


def _message_of_parsing_info(info: SchemaInfo) -> Message:
    name = getattr(schema_of(info), "name", "Message")
    try:
        parsed = msgspec.json.decode(info.properties.get(PARSING_INFO, ""), type=list[_Info])
        fields = tuple(_field(item, name) for item in parsed)
    except (msgspec.MsgspecError, KeyError, UnicodeError):
        raise DefinitionError(
            "the PROTOBUF definition does not contain the numbers of its fields: it needs the "
            f"property {PARSING_INFO}, as Pulsar's Java client writes it"
        ) from None
    return Message(full_name=name, fields=fields)


def _field(info: _Info, message: str) -> Field:
    kind, label = Type[info.type], Label[info.label.removeprefix("LABEL_")]
    return Field(
        name=info.name,
        number=info.number,
        label=label,
        type=kind,
        named=None,
        default=None,
        oneof=None,
        presence=kind in _OPAQUE - {Type.ENUM} and label is not Label.REPEATED,
        packed=False,
        pointer=f"/{message}/{info.name}",
    )


def is_opaque(field: Field) -> bool:
    """Whether it is a message of which only the name is known: its bytes are its value."""
    return field.type in {Type.MESSAGE, Type.GROUP} and field.message is None


def numbers_of(field: Field) -> dict[int, list[str]] | None:
    """The names of each number of an enum; None where the definition does not tell them."""
    if field.enum is None:
        return None
    names: dict[int, list[str]] = {}
    for value in field.enum.values:
        names.setdefault(value.number, []).append(value.name)
    return names


def default_of(field: Field) -> Any:  # noqa: ANN401 - a scalar
    """The value of an unset field that a reader cannot tell from a set one."""
    return None if field.presence else _ZEROS.get(field.type, 0)


_ZEROS: Final[dict[Type, Any]] = {
    Type.STRING: "",
    Type.BYTES: b"",
    Type.BOOL: False,
    Type.FLOAT: 0.0,
    Type.DOUBLE: 0.0,
}
