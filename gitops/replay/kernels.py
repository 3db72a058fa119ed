"""What reads and writes the payloads of a schema: the choice, as it travels to other processes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from gitops.model.replay import LogicalTypes
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.replay.kernel.protocol import Kernel, Reason, RowReader, RowWriter


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernels:
    """The choice by schema; functions of modules, so that they can be pickled.

    Each raises ValueError for a definition that cannot be used.
    """

    kernel: Callable[[SchemaInfo, SchemaInfo, LogicalTypes], Kernel]
    row_reader: Callable[[SchemaInfo, SchemaInfo, LogicalTypes], RowReader]
    row_writer: Callable[[SchemaInfo], RowWriter]

    def kernel_or_reason(
        self, writer: SchemaInfo, reader: SchemaInfo, logical_types: LogicalTypes
    ) -> Kernel | Reason:
        """The kernel, or why there is none: then nothing of the version can be read."""
        try:
            return self.kernel(writer, reader, logical_types)
        except ValueError as error:
            return Reason("", f"a schema cannot be used: {error}")


_Known = tuple[SchemaType, str, tuple[tuple[str, str], ...]]


def _known(info: SchemaInfo) -> _Known:
    return info.type, info.schema, tuple(sorted(info.properties.items()))


@lru_cache(maxsize=256)
def _made(what: str, schemas: tuple[_Known, ...], *how: LogicalTypes) -> Any:  # noqa: ANN401
    """As `choose` answers; workers read many parts with the same schemas."""
    from gitops.replay.kernel import schema_types

    infos = [SchemaInfo(type=kind, schema=text, properties=dict(p)) for kind, text, p in schemas]
    return getattr(schema_types, what)(*infos, *how)


def _kernel_for(writer: SchemaInfo, reader: SchemaInfo, logical_types: LogicalTypes) -> Kernel:
    made: Kernel = _made("kernel_for", (_known(writer), _known(reader)), logical_types)
    return made


def _row_reader_for(
    writer: SchemaInfo, reader: SchemaInfo, logical_types: LogicalTypes
) -> RowReader:
    made: RowReader = _made("row_reader_for", (_known(writer), _known(reader)), logical_types)
    return made


def _row_writer_for(schema: SchemaInfo) -> RowWriter:
    made: RowWriter = _made("row_writer_for", (_known(schema),))
    return made


CHOSEN: Final = Kernels(kernel=_kernel_for, row_reader=_row_reader_for, row_writer=_row_writer_for)
"""Those of this project, for every type of schema; their libraries load where they are used."""
