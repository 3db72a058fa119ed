"""A column of Protobuf messages: by the library where it can tell, one by one for the rest."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import pyarrow

from gitops.model.replay import LogicalTypes
from gitops.model.schema import SchemaInfo
from gitops.replay.kernel.payload_column import Column, Counts, bisect_messages, walk_in_parts
from gitops.replay.kernel.protobuf import columns
from gitops.replay.kernel.protobuf.columns import check_of, message_class
from gitops.replay.kernel.protobuf.definition import message_of
from gitops.replay.kernel.protobuf.numbers import read_numbers
from gitops.replay.kernel.protobuf.rows import ProtobufWriter, read
from gitops.replay.kernel.protobuf.schema_pair import Fields, pair
from gitops.replay.kernel.protocol import AddNumbers, Kernels, Unreadable, Walk
from gitops.replay.kernel.verdicts import Verdicts

if TYPE_CHECKING:
    from google.protobuf.message import Message


_TENTH_ZERO: Final = re.compile(rb"\x00(?<=[\x80-\xff]{9}\x00)")
"""A number's tenth byte, where Java has a bit that the library has not; any other is refused."""


class ProtobufKernel:
    """Reads Protobuf by a plan; `message` is the library's class of the reader's message."""

    def __init__(self, plan: Fields, message: type[Message] | None = None) -> None:
        self._plan = plan
        self._message = message
        self._needs_required = columns.needs_required(plan)
        self._forgets_numbers = columns.forgets_numbers(plan)
        self._check_text = None if message is None else check_of(plan)

    def walk(self, payloads: pyarrow.BinaryArray) -> Walk:
        """Verdicts and counts."""
        return walk_in_parts(payloads, self._part)

    def _part(self, column: Column) -> Walk:
        rows = column.payloads()
        messages, at, slowly = self._parsed(rows)

        def count(start: int, end: int) -> Counts:
            return columns.count(self._plan, messages[start:end])

        counts, doubted = bisect_messages(len(at), count)
        verdicts = Verdicts(len(rows))
        for row in sorted([*slowly, *(at[index] for index in doubted)]):
            try:
                counts.update(read(self._plan, rows[row])[1])
            except Unreadable as unreadable:
                verdicts.stop(row, unreadable.reason)
        return verdicts.walk(counts)

    def numbers(self, payloads: pyarrow.BinaryArray, add: AddNumbers) -> None:
        """As NumberReader has it."""
        read_numbers(self._plan, payloads.to_pylist(), add)

    def read(self, payload: bytes) -> Any:  # noqa: ANN401 - any value that a schema can say
        """The value as the reader sees it: fields by name; raises Unreadable."""
        return read(self._plan, payload)[0]

    def _parsed(self, rows: list[bytes]) -> tuple[list[Message], list[int], list[int]]:
        """Messages, their rows, and the rows that the library does not read."""
        if self._message is None:
            return [], [], list(range(len(rows)))
        parse, check_text = self._message.FromString, self._check_text
        messages: list[Message] = []
        at: list[int] = []
        slowly: list[int] = []
        for row, payload in enumerate(rows):
            try:
                message = parse(payload)
                if check_text is not None:
                    check_text(payload)
            except Exception:  # noqa: BLE001 - what it minds is found out one by one
                slowly.append(row)
                continue
            if self._is_doubtful(message, payload):
                slowly.append(row)
                continue
            messages.append(message)
            at.append(row)
        return messages, at, slowly

    def _is_doubtful(self, message: Message, payload: bytes) -> bool:
        if self._needs_required and not message.IsInitialized():
            return True
        if _TENTH_ZERO.search(payload):
            return True
        return self._forgets_numbers and message.SerializePartialToString() != payload


def _kernel(writer: SchemaInfo, reader: SchemaInfo, _logical_types: LogicalTypes) -> ProtobufKernel:
    plan = pair(message_of(writer), message_of(reader))
    return ProtobufKernel(plan, message_class(reader, plan))


def _row_writer(schema: SchemaInfo) -> ProtobufWriter:
    return ProtobufWriter(message_of(schema))


KERNELS: Final = Kernels(kernel=_kernel, row_reader=_kernel, row_writer=_row_writer)
