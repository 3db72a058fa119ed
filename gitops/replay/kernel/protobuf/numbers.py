"""The numbers in Protobuf messages, for histograms: one message at a time, as `rows` reads them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import numpy

from gitops.replay.kernel.protobuf.rows import is_unwritten
from gitops.replay.kernel.protobuf.schema_pair import FIXED32S, FIXED64S, VARINTS, Fields, Slot
from gitops.replay.kernel.protobuf.wire_format import RawMessage, decode, raw_of, value_of
from gitops.replay.kernel.protocol import AddNumbers
from gitops.schemas.protobuf_native.descriptors import Type

_REALS: Final = frozenset({Type.FLOAT, Type.DOUBLE})
_NUMBERS: Final = (VARINTS | FIXED32S | FIXED64S) - {Type.BOOL, Type.ENUM}
_KEY: Final = 1
"""The number of the key in a map's entry."""
_BEYOND: Final = 1 << 63
"""What a whole number of 64 bits with a sign cannot be."""

_Found = dict[tuple[str, bool], list[int | float]]
"""By path, and whether they are whole."""


def read_numbers(plan: Fields, payloads: Iterable[bytes], add: AddNumbers) -> None:
    """Add the numbers of payloads that can be read; an `uint64` may be beyond a long."""
    grouped: _Found = {}
    for payload in payloads:
        _message(plan, decode(plan, payload), grouped)
    for (path, is_whole), numbers in grouped.items():
        fits = is_whole and max(numbers) < _BEYOND
        kind = numpy.int64 if fits else numpy.float64
        add(path, "integer" if is_whole else "number", numpy.array(numbers, kind))


def _message(plan: Fields, raw: RawMessage, grouped: _Found) -> None:
    for number, slot in plan.slots.items():
        if plan.entry and number == _KEY:
            continue
        for value in _values(slot, raw.values.get(number)):
            if isinstance(value, RawMessage):
                if slot.inner is not None:
                    _message(slot.inner, value, grouped)
            elif slot.field.type in _NUMBERS:
                known = grouped.setdefault((slot.item, slot.field.type not in _REALS), [])
                known.append(value_of(slot.field.type, value))


def _values(slot: Slot, value: Any) -> Iterator[Any]:  # noqa: ANN401 - raw
    """Those that the writer wrote: also the zero that it left out, and no other default."""
    if value is None:
        is_left_out = not (slot.field.presence or slot.field.repeated)
        if slot.written is not None and is_left_out and slot.field.type in _NUMBERS:
            yield raw_of(slot.field.type, 0)
    elif is_unwritten(slot, value):
        return
    elif slot.field.entry is not None:
        yield from value.values()
    elif slot.field.repeated:
        yield from value
    else:
        yield value
