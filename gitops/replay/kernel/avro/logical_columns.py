"""Whole columns of values as Java's classes take them: which are refused, and which are changed.

As `logical_values` decides of one value. Positions are in the bytes of a batch.
"""

from __future__ import annotations

import re
from typing import Final

import numpy
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from gitops.compatibility.java_text import java_text
from gitops.replay.kernel.avro.logical_values import Change, Check, Cut
from gitops.replay.kernel.avro.tallies import Positions

Bytes = NDArray[numpy.uint8]
Mask = NDArray[numpy.bool_]

_UUID_SIZE: Final = 36
_DASHES: Final = (8, 13, 18, 23)
_HEX: Final = numpy.zeros(256, numpy.uint8)
_HEX[list(b"0123456789abcdefABCDEF")] = 1
_HEX[ord("-")] = 2
_UUID_CLASSES: Final = numpy.ones(_UUID_SIZE, numpy.uint8)
_UUID_CLASSES[list(_DASHES)] = 2
"""What stands where in a UUID as it is written nearly always."""

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


def changed_numbers(change: Change, numbers: Positions) -> Mask:
    """Which numbers mean something else to the reader."""
    return numbers != 0 if change.zero_stays else numpy.ones(len(numbers), bool)


def cut_numbers(cut: Cut, numbers: Positions) -> Mask:
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
    usual = ends - starts == _UUID_SIZE
    if data.size < _UUID_SIZE or not usual.any():
        return numpy.zeros(len(starts), bool)
    at = numpy.where(usual, starts, 0)
    classes = _HEX[sliding_window_view(data, _UUID_SIZE)[at]]
    found: Mask = usual & (classes == _UUID_CLASSES).all(axis=1)
    return found


def _are_plain(form: str, data: Bytes, starts: Positions, ends: Positions) -> bool:
    """Whether all texts are numbers without an exponent; others may be numbers too."""
    plain = _PLAIN.get(form)
    if plain is None:
        return False
    whole = data.tobytes()
    bounds = zip(starts.tolist(), ends.tolist(), strict=True)
    joined = b"\n".join([*(whole[start:end] for start, end in bounds), b""])
    return plain.fullmatch(joined) is not None
