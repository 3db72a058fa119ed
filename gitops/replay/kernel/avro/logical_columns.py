"""Whole columns of values as Java's classes take them: which are refused, and which are changed.

As `logical_types` decides of one value. Positions are in the bytes of a batch.
"""

from __future__ import annotations

import re
from typing import Final

import numpy
from numpy.typing import NDArray

from gitops.replay.kernel.avro.batch import Raw
from gitops.replay.kernel.avro.logical_types import Change, Check, NarrowClass
from gitops.replay.kernel.avro.row_counts import Positions
from gitops.schemas.java_text import java_text

Bytes = NDArray[numpy.uint8]
Mask = NDArray[numpy.bool_]

_CLASSES: Final = bytes(
    ord("x" if chr(code) in "0123456789abcdefABCDEF" else "-" if code == ord("-") else "?")
    for code in range(256)
)
_UUID: Final = b"xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"
"""What stands where in a UUID as it is written nearly always, each byte by its class."""

_UUID_SIZE: Final = len(_UUID)

_PLAIN: Final = {
    "number": re.compile(rb"(?:[+-]?[0-9]++(?:\.[0-9]*+)?+\n)*+"),
    "whole": re.compile(rb"(?:[+-]?[0-9]++\n)*+"),
}
"""Of many texts at once, each of which has an end of line behind it."""


def refused_numbers(check: Check, numbers: Positions) -> Mask:
    """Which numbers the check refuses."""
    refused: Mask = (numbers < 0) | (numbers >= (check.most or 0))
    return refused


def refused_texts(check: Check, data: Bytes, starts: Positions, ends: Positions) -> Mask:
    """Which texts, or bytes, the check refuses."""
    if not check.form:
        empty: Mask = starts == ends
        return empty
    doubted = ~_are_uuids(data, starts, ends) if check.form == "uuid" else None
    if doubted is None:
        doubted = numpy.full(len(starts), not _are_plain(check.form, data, starts, ends))
    for row in doubted.nonzero()[0].tolist():
        doubted[row] = check.refuses(java_text(data[starts[row] : ends[row]].tobytes()))
    return doubted


def changed_numbers(change: Change, raw: Raw) -> Mask:
    """Which numbers mean something else to the reader; a zigzag is 0 if its number is."""
    return raw != 0 if change.zero_stays else numpy.ones(len(raw), bool)


def cut_numbers(cut: NarrowClass, numbers: Positions) -> Mask:
    """Which numbers have more bits than Java's class."""
    lowest = -(1 << (cut.bits - 1)) if cut.signed else 0
    cut_off: Mask = (numbers < lowest) | (numbers >= lowest + (1 << cut.bits))
    return cut_off


def changed_bytes(change: Change, data: Bytes, starts: Positions, ends: Positions) -> Mask:
    """Which bytes mean something else to the reader; those of a zero are all zero."""
    if not change.zero_stays:
        return numpy.ones(len(starts), bool)
    changed = ends > starts
    changed &= data.take(ends - 1, mode="clip") != 0
    doubted = (ends - starts > 1) & ~changed
    for row in doubted.nonzero()[0].tolist():
        changed[row] = data[starts[row] : ends[row]].any()
    return changed


def _are_uuids(data: Bytes, starts: Positions, ends: Positions) -> Mask:
    """Which texts are of the usual form; others may be UUIDs too."""
    usual: Mask = ends - starts == _UUID_SIZE
    if data.size < _UUID_SIZE or not usual.any():
        return numpy.zeros(len(starts), bool)
    texts = numpy.ndarray(data.size - _UUID_SIZE + 1, f"S{_UUID_SIZE}", data, strides=(1,))
    classes = texts[numpy.where(usual, starts, 0)].tobytes().translate(_CLASSES)
    if classes == _UUID * len(starts):  # mostly; NumPy compares texts one by one
        return usual
    positions: Mask = usual & (numpy.frombuffer(classes, texts.dtype) == _UUID)
    return positions


def _are_plain(form: str, data: Bytes, starts: Positions, ends: Positions) -> bool:
    """Whether all texts are numbers without an exponent; others may be numbers too."""
    plain = _PLAIN.get(form)
    if plain is None:
        return False
    whole = data.tobytes()
    bounds = zip(starts.tolist(), ends.tolist(), strict=True)
    joined = b"\n".join([*(whole[start:end] for start, end in bounds), b""])
    return plain.fullmatch(joined) is not None
