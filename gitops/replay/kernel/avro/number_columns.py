"""The numbers, dates and times in payloads that can be read, as the reader has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy
import pyarrow
from numpy.typing import NDArray

from gitops.replay.kernel.avro.batch import Batch, Frame, read_varints, zigzag
from gitops.replay.kernel.avro.columns import Columns
from gitops.replay.kernel.avro.logical_types import Meaning
from gitops.replay.kernel.avro.row_counts import Positions
from gitops.replay.kernel.avro.rows import Row
from gitops.replay.kernel.avro.steps import FixedSize, Number, Plan, Step, Text
from gitops.replay.kernel.payload_column import as_doubles
from gitops.replay.kernel.protocol import INTEGER, NUMBER, PER_MILLISECOND, AddNumbers

_NUMBERS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("int", "long"), INTEGER),
    **dict.fromkeys(("float", "double", "decimal"), NUMBER),
}
"""The units by what a type is, or stands for."""

_FRACTIONS: Final = frozenset({"float", "double"})


def read_numbers(
    data: pyarrow.Buffer, bounds: Positions, plan: Plan, few: int, add: AddNumbers
) -> None:
    """Add the numbers of a piece of a column, all of whose rows can be read."""
    batch = Batch(data, bounds, NumberRow)
    NumberColumns(batch, few, add).group(batch.everything(), plan.top)
    grouped: dict[Number | FixedSize | Text, list[Any]] = {}
    for row in batch.single_rows():
        if isinstance(row, NumberRow):
            for step, value in row.found:
                grouped.setdefault(step, []).append(value)
    for step, values in grouped.items():
        _add(step, _of_values(step, values), add)


class NumberRow(Row):
    """A row that keeps the numbers that it meets."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.found: list[tuple[Number | FixedSize | Text, Any]] = []

    def step(self, step: Step) -> Any:  # noqa: ANN401 - any value that a schema can say
        """As a Row, and kept."""
        value = super().step(step)
        if isinstance(step, Number | FixedSize | Text) and _unit(step.meaning):
            self.found.append((step, value))
        return value


class NumberColumns(Columns):
    """Columns that hand over the numbers that they meet."""

    skips_blocks = False

    def __init__(self, batch: Batch, few: int, add: AddNumbers) -> None:
        super().__init__(batch, few)
        self._add = add

    def step(self, frame: Frame, step: Step) -> None:
        """As Columns, and handed over."""
        if not isinstance(step, Number | FixedSize | Text) or not _unit(step.meaning):
            super().step(frame, step)
        elif len(frame):
            _add(step, self._values(frame, step), self._add)

    def _values(self, frame: Frame, step: Number | FixedSize | Text) -> NDArray[Any]:
        batch = self.batch
        if isinstance(step, Number):
            bits = 32 if step.kind == "int" else 64
            return _whole(step, zigzag(read_varints(batch, frame, step.path, bits)))
        if isinstance(step, FixedSize) and step.kind in _FRACTIONS:
            start = frame.at
            frame.at = start + step.size
            raw = batch.data[start[:, None] + numpy.arange(step.size)]
            return as_doubles(raw.view(f"<f{step.size}").ravel())
        start = frame.at
        if isinstance(step, FixedSize):
            frame.at = start + step.size
        else:
            start = self.chunk(frame, step.path, checks_text=False)
        ends = zip(start.tolist(), frame.at.tolist(), strict=True)
        return _of_values(step, [batch.data[at:end].tobytes() for at, end in ends])


def _unit(meaning: Meaning | None) -> str:
    """The unit of a type's numbers; empty where they are none."""
    if meaning is None:
        return ""
    if meaning.logical in _NUMBERS:
        return _NUMBERS[meaning.logical]
    if not meaning.logical:
        return _NUMBERS.get(meaning.kind, "")
    return meaning.quantity if meaning.quantity in _TIMES else ""


_TIMES: Final = frozenset({"date", "time", "timestamp", "local-timestamp"})


def _whole(step: Number, numbers: NDArray[Any]) -> NDArray[Any]:
    """What the reader's type, or its Java class, makes of whole numbers."""
    cut = step.sense.cut if step.sense else None
    if cut is not None:
        return numpy.array([cut.apply(value) for value in numbers.tolist()], numpy.int64)
    if step.reads == "float":
        return numbers.astype(numpy.float32).astype(numpy.float64)
    return numbers.astype(numpy.float64) if step.reads == "double" else numbers


def _of_values(step: Number | FixedSize | Text, values: list[Any]) -> NDArray[Any]:
    """The same of values of which each was made."""
    meaning = step.meaning
    if meaning is not None and meaning.logical == "decimal":
        return numpy.array([_decimal(value, meaning.scale) for value in values], numpy.float64)
    whole = isinstance(step, Number) and step.reads not in _FRACTIONS
    return numpy.array(values, numpy.int64 if whole else numpy.float64)


def _decimal(data: bytes, scale: int) -> float:
    """The nearest double; what is beyond all is infinite."""
    try:
        result: float = int.from_bytes(data, "big", signed=True) / 10**scale
    except OverflowError:
        return float("inf")
    return result


def _add(step: Number | FixedSize | Text, numbers: NDArray[Any], add: AddNumbers) -> None:
    unit = _unit(step.meaning)
    part = step.meaning.logical.rpartition("-")[2] if step.meaning else ""
    factor = PER_MILLISECOND.get(part, 1)
    add(step.path, unit, numbers if factor == 1 else numbers // factor)
