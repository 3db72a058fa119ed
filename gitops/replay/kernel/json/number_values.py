"""The numbers, dates and times in payloads of JSON that can be read."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any, Final

import numpy
import pyarrow

from gitops.replay.kernel.json.parser import parse
from gitops.replay.kernel.json.rows import branch_of
from gitops.replay.kernel.json.scalars import Scalar
from gitops.replay.kernel.json.schema_pair import (
    Entries,
    Items,
    Leaf,
    Members,
    Node,
    OneOf,
    Recursion,
)
from gitops.replay.kernel.protocol import INTEGER, NUMBER, PER_MILLISECOND, AddNumbers

_MOST: Final = 65_536
"""Payloads whose numbers wait to be added."""

_MILLISECOND: Final = datetime.timedelta(milliseconds=1)
_NOT_A_NUMBER: Final = float("nan")
"""Stands for what is no number of its unit, such as a date that is written as a list."""

_Found = dict[tuple[str, str], list[Any]]


def read_numbers(plan: Node, payloads: pyarrow.BinaryArray, add: AddNumbers) -> None:
    """Add those of payloads all of which can be read."""
    for first in range(0, len(payloads), _MOST):
        grouped: _Found = {}
        for payload in payloads[first : first + _MOST]:
            _take(plan, parse(payload.as_py()), grouped)
        for (path, unit), numbers in grouped.items():
            kind = numpy.int64 if unit == INTEGER else numpy.float64
            add(path, unit, numpy.array(numbers, kind))


def _take(node: Node, value: Any, grouped: _Found) -> None:  # noqa: ANN401 - JSON
    if isinstance(node, Leaf):
        if value is not None:
            _leaf(node.path, node.scalar, value, grouped)
        return
    for inner, part in _parts(node, value):
        _take(inner, part, grouped)


def _parts(node: Node, value: Any) -> Iterable[tuple[Node, Any]]:  # noqa: ANN401 - JSON
    match node:
        case OneOf():
            branch = branch_of(node, value)
            return [] if branch is None else [(branch[0], value)]
        case Items():
            return [(node.item, item) for item in value]
        case Entries():
            return [(node.value, item) for item in value.values()]
        case Members(members=members) | Recursion(record=Members(members=members)):
            return [(members[name].node, value[name]) for name in value if name in members]
        case _:
            return []


def _leaf(path: str, scalar: Scalar, value: Any, grouped: _Found) -> None:  # noqa: ANN401 - JSON
    time, _, part = scalar.form.rpartition("-")
    unit = time if part in {"millis", *PER_MILLISECOND} else part
    if unit in _MOMENTS:
        number = _MOMENTS[unit](value, PER_MILLISECOND.get(part, 1))
    elif scalar.kind in {"int", "long"} and not scalar.form:
        unit, number = INTEGER, value
    elif scalar.kind in {"float", "double"} or scalar.form == "decimal":
        unit, number = NUMBER, _double(value, scalar.kind)
    else:
        return
    grouped.setdefault((path, unit), []).append(number)


def _double(value: Any, kind: str) -> float:  # noqa: ANN401 - JSON
    """A decimal may also be base64; what no double holds is infinite."""
    try:
        return float(numpy.float32(value)) if kind == "float" else float(value)
    except OverflowError:
        return float("inf")
    except ValueError:
        return _NOT_A_NUMBER


def _date(value: Any, _factor: int) -> float:  # noqa: ANN401 - JSON
    if isinstance(value, str):
        return _moment(value) // 86_400_000
    return value if isinstance(value, int) else _NOT_A_NUMBER


def _time(value: Any, factor: int) -> float:  # noqa: ANN401 - JSON
    if isinstance(value, str):
        return _moment(f"1970-01-01T{value}")
    return value // factor if isinstance(value, int) else _NOT_A_NUMBER


def _timestamp(value: Any, factor: int) -> float:  # noqa: ANN401 - JSON
    """A whole number is of the unit, a fraction is seconds, as Jackson writes it."""
    if isinstance(value, str):
        return _moment(value)
    if isinstance(value, int):
        return value // factor
    if isinstance(value, float | Decimal):
        return math.floor(_double(value, "double") * 1_000)
    return _NOT_A_NUMBER


def _moment(text: str) -> float:
    """Milliseconds since 1970; not a number for a year that Python has not."""
    try:
        result = datetime.datetime.fromisoformat(text)
        return (result.replace(tzinfo=result.tzinfo or datetime.UTC) - _EPOCH) // _MILLISECOND
    except (ValueError, OverflowError):
        return _NOT_A_NUMBER


_EPOCH: Final = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_MOMENTS: Final[Mapping[str, Callable[[Any, int], float]]] = {
    "date": _date,
    "time": _time,
    "timestamp": _timestamp,
    "local-timestamp": _timestamp,
}
