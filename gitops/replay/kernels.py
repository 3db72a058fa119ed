"""What reads and writes the payloads of a schema: the choice, as it travels to other processes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from gitops.model.schema import SchemaInfo
from gitops.replay.kernel.walk import Kernel, Reason, RowReader, RowWriter


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernels:
    """The choice by schema; functions of modules, so that they can be pickled.

    Each raises ValueError for a definition that cannot be used.
    """

    kernel: Callable[[SchemaInfo, SchemaInfo], Kernel]
    row_reader: Callable[[SchemaInfo, SchemaInfo], RowReader]
    row_writer: Callable[[SchemaInfo], RowWriter]

    def kernel_or_reason(self, writer: SchemaInfo, reader: SchemaInfo) -> Kernel | Reason:
        """The kernel, or why there is none: then nothing of the version can be read."""
        try:
            return self.kernel(writer, reader)
        except ValueError as error:
            return Reason("", f"a schema cannot be used: {error}")


def _kernel_for(writer: SchemaInfo, reader: SchemaInfo) -> Kernel:
    from gitops.replay.kernel import choose

    return choose.kernel_for(writer, reader)


def _row_reader_for(writer: SchemaInfo, reader: SchemaInfo) -> RowReader:
    from gitops.replay.kernel import choose

    return choose.row_reader_for(writer, reader)


def _row_writer_for(schema: SchemaInfo) -> RowWriter:
    from gitops.replay.kernel import choose

    return choose.row_writer_for(schema)


CHOSEN: Final = Kernels(kernel=_kernel_for, row_reader=_row_reader_for, row_writer=_row_writer_for)
"""Those of this project, for every type of schema; their libraries load where they are used."""
