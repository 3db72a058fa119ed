"""What reads and writes the payloads of each SchemaType, and what its definitions describe.

One row a type. The libraries of a row load where they are used: `validate` looks into definitions
without numpy and pyarrow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from gitops.model.replay import LogicalTypes
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.replay.kernel.avro import definition as avro_definition
from gitops.replay.kernel.definition import DefinitionError
from gitops.replay.kernel.definition_nodes import (
    Members,
    Nodes,
    OpaqueNode,
    protobuf_nodes,
    schema_nodes,
)
from gitops.replay.kernel.json import definition as json_definition
from gitops.replay.kernel.key_value.definition import halves_of
from gitops.replay.kernel.protobuf.definition import message_of
from gitops.replay.kernel.protocol import Kernel, Kernels, RowReader, RowWriter
from gitops.schemas.key_value.parser import HALVES
from gitops.schemas.protobuf_native.schema import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class PayloadType:
    """A row of the table.

    `reads` are the other types whose payloads a reader of this one accepts. `nodes` are what a
    message is by its definition; nothing for one that is a single value. `message` is the Protobuf
    message of a definition: it describes a payload whatever the reader's type. `decimals` puts a
    Decimal for the bytes of each into a value that was read. `carries_names`: payloads hold the
    names of fields.
    """

    kernels: Callable[[], Kernels]
    reads: frozenset[SchemaType] = frozenset()
    nodes: Callable[[SchemaInfo], Nodes] = lambda _: ()
    message: Callable[[SchemaInfo], Message] | None = None
    decimals: Callable[[Any, SchemaInfo], Any] = lambda value, _: value
    carries_names: bool = False


def _avro() -> Kernels:
    from gitops.replay.kernel.avro.kernel import KERNELS

    return KERNELS


def _json() -> Kernels:
    from gitops.replay.kernel.json.kernel import KERNELS

    return KERNELS


def _protobuf() -> Kernels:
    from gitops.replay.kernel.protobuf.kernel import KERNELS

    return KERNELS


def _key_value() -> Kernels:
    from gitops.replay.kernel.key_value.kernel import pair_kernels

    return pair_kernels(_UNCACHED)


def _primitive() -> Kernels:
    from gitops.replay.kernel.primitive import KERNELS

    return KERNELS


def _pair_nodes(schema: SchemaInfo) -> Nodes:
    """A half that is one value is hidden only where a name begins with that half."""
    halves = zip(HALVES, halves_of(schema), strict=True)
    return (Members({name: _nodes(half) or (OpaqueNode.ANYTHING,) for name, half in halves}),)


def _avro_decimals(value: Any, schema: SchemaInfo) -> Any:  # noqa: ANN401 - as the schema says
    from gitops.replay.kernel.avro.logical_types import replace_decimals

    return replace_decimals(avro_definition.schema_of(schema), value)


def _pair_decimals(value: Any, schema: SchemaInfo) -> Any:  # noqa: ANN401 - as the schema says
    if not isinstance(value, dict):
        return value
    halves = zip(value.items(), halves_of(schema), strict=True)
    return {name: replace_decimals(item, half) for (name, item), half in halves}


OPAQUE: Final = frozenset({SchemaType.NONE, SchemaType.BYTES})
"""Types whose value is the payload as it is: they read every type, and every type reads them.

That of EXTERNAL is, too, but only clients with its schema know what to do with it.
"""

_MILLISECONDS: Final = frozenset(
    {SchemaType.INT64, SchemaType.DATE, SchemaType.TIME, SchemaType.TIMESTAMP}
)
"""Types that write the same 8 bytes for the same number, so that each reads the others."""

PAYLOAD_TYPES: Final[dict[SchemaType, PayloadType]] = {
    SchemaType.AVRO: PayloadType(
        kernels=_avro,
        nodes=lambda schema: schema_nodes(avro_definition.schema_of(schema)),
        decimals=_avro_decimals,
    ),
    SchemaType.JSON: PayloadType(
        kernels=_json,
        reads=frozenset({SchemaType.STRING}),
        nodes=lambda schema: schema_nodes(json_definition.schema_of(schema)),
        carries_names=True,
    ),
    SchemaType.PROTOBUF: PayloadType(
        kernels=_protobuf,
        reads=frozenset({SchemaType.PROTOBUF_NATIVE}),
        nodes=protobuf_nodes,
        message=message_of,
    ),
    SchemaType.PROTOBUF_NATIVE: PayloadType(
        kernels=_protobuf,
        reads=frozenset({SchemaType.PROTOBUF}),
        nodes=lambda schema: (message_of(schema),),
        message=message_of,
    ),
    # Payloads of messages whose encoding is SEPARATED are those that `wire_format.join` makes of
    # message keys and payloads.
    SchemaType.KEY_VALUE: PayloadType(
        kernels=_key_value, nodes=_pair_nodes, decimals=_pair_decimals
    ),
    SchemaType.STRING: PayloadType(kernels=_primitive, reads=frozenset({SchemaType.JSON})),
    **dict.fromkeys(OPAQUE, PayloadType(kernels=_primitive, reads=frozenset(SchemaType))),
    **dict.fromkeys(_MILLISECONDS, PayloadType(kernels=_primitive, reads=_MILLISECONDS)),
    **dict.fromkeys(
        (
            SchemaType.BOOLEAN,
            SchemaType.INT8,
            SchemaType.INT16,
            SchemaType.INT32,
            SchemaType.FLOAT,
            SchemaType.DOUBLE,
            SchemaType.INSTANT,
            SchemaType.LOCAL_DATE,
            SchemaType.LOCAL_TIME,
            SchemaType.LOCAL_DATE_TIME,
            SchemaType.EXTERNAL,
        ),
        PayloadType(kernels=_primitive),
    ),
}


# The choice for a writer and a reader.


def kernel_for(
    writer: SchemaInfo, reader: SchemaInfo, logical_types: LogicalTypes = "java"
) -> Kernel:
    """What reads the messages of `writer` with `reader`; raises DefinitionError."""
    return _kernels(writer, reader).kernel(_described(writer, reader), reader, logical_types)


def row_reader_for(
    writer: SchemaInfo, reader: SchemaInfo, logical_types: LogicalTypes = "java"
) -> RowReader:
    """What reads one message, slowly, and answers what it holds; raises DefinitionError."""
    return _kernels(writer, reader).row_reader(_described(writer, reader), reader, logical_types)


def row_writer_for(schema: SchemaInfo) -> RowWriter:
    """What writes a value that a RowReader with `schema` as reader answered.

    Raises DefinitionError.
    """
    return _row(schema.type).kernels().row_writer(schema)


def _kernels(writer: SchemaInfo, reader: SchemaInfo) -> Kernels:
    """Those of the reader's type; of types that do not fit those that read nothing."""
    row = PAYLOAD_TYPES.get(reader.type)
    fits = writer.type is reader.type or writer.type in OPAQUE
    if fits or (row is not None and writer.type in row.reads):
        return _row(reader.type).kernels()
    from gitops.replay.kernel.verdicts import Mismatch

    mismatch = Mismatch(
        f"the reader expects {reader.type.value}, and the message is {writer.type.value}"
    )
    return Kernels(
        kernel=lambda *_: mismatch, row_reader=lambda *_: mismatch, row_writer=row_writer_for
    )


def _row(kind: SchemaType) -> PayloadType:
    row = PAYLOAD_TYPES.get(kind)
    if row is None:
        raise DefinitionError(f"no message is read or written as {kind.value}")
    return row


def _described(writer: SchemaInfo, reader: SchemaInfo) -> SchemaInfo:
    """The schema that describes the messages: the reader's where the writer's does not."""
    row = PAYLOAD_TYPES.get(writer.type)
    describes = row is not None and row.message is not None
    return writer if describes or writer.type is reader.type else reader


# The choice as it travels to other processes: functions of a module, which can be pickled.


_Key = tuple[SchemaType, str, tuple[tuple[str, str], ...]]

_UNCACHED: Final = Kernels(kernel=kernel_for, row_reader=row_reader_for, row_writer=row_writer_for)


def _key(info: SchemaInfo) -> _Key:
    return info.type, info.schema, tuple(sorted(info.properties.items()))


@lru_cache(maxsize=256)
def _cached(chapter: str, schemas: tuple[_Key, ...], *logical_types: LogicalTypes) -> Any:  # noqa: ANN401
    """Workers read many parts with the same schemas."""
    infos = [SchemaInfo(type=kind, schema=text, properties=dict(p)) for kind, text, p in schemas]
    return getattr(_UNCACHED, chapter)(*infos, *logical_types)


def _cached_kernel(writer: SchemaInfo, reader: SchemaInfo, logical_types: LogicalTypes) -> Kernel:
    kernel: Kernel = _cached("kernel", (_key(writer), _key(reader)), logical_types)
    return kernel


def _cached_row_reader(
    writer: SchemaInfo, reader: SchemaInfo, logical_types: LogicalTypes
) -> RowReader:
    reader_: RowReader = _cached("row_reader", (_key(writer), _key(reader)), logical_types)
    return reader_


def _cached_row_writer(schema: SchemaInfo) -> RowWriter:
    writer: RowWriter = _cached("row_writer", (_key(schema),))
    return writer


CHOSEN: Final = Kernels(
    kernel=_cached_kernel, row_reader=_cached_row_reader, row_writer=_cached_row_writer
)
"""Those of this project, for every type of schema."""


# What definitions describe.


def nodes_of(schema: SchemaInfo) -> Nodes:
    """What a message of it is; nothing where the definition cannot be parsed."""
    try:
        return _nodes(schema) or (OpaqueNode.OPAQUE,)
    except DefinitionError:
        return ()


def _nodes(schema: SchemaInfo) -> Nodes:
    row = PAYLOAD_TYPES.get(schema.type)
    return row.nodes(schema) if row else ()


def described_message(schema: SchemaInfo) -> Message | None:
    """The Protobuf message of a definition; None where there is none, or it cannot be parsed."""
    row = PAYLOAD_TYPES.get(schema.type)
    try:
        return row.message(schema) if row and row.message else None
    except DefinitionError:
        return None


# What a person is shown of a value.


def replace_decimals(value: Any, schema: SchemaInfo) -> Any:  # noqa: ANN401 - as the schema says
    """The value of a message as `schema` reads it, with a Decimal for the bytes of each.

    Raises DefinitionError, and RecursionError for a value that is too deep.
    """
    row = PAYLOAD_TYPES.get(schema.type)
    return row.decimals(value, schema) if row and "decimal" in schema.schema else value


def carries_names(schema: SchemaInfo) -> bool:
    """Whether a part of a message tells of which fields it is."""
    row = PAYLOAD_TYPES.get(schema.type)
    return row is not None and row.carries_names
