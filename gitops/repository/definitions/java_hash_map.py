"""The order in which Java's HashMap gives its keys back.

Java's client writes the files of a PROTOBUF_NATIVE envelope in that order, and Pulsar compares
envelopes byte for byte (Pulsar 4.0.7), so the same order makes the same schema.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

_FIRST_CAPACITY: Final = 16
_LOAD: Final = 0.75


def java_order(keys: Sequence[str]) -> list[str]:
    """Distinct keys, given in the order of insertion, as `HashMap.keySet()` lists them.

    Keys of one bucket keep their order; the trees that Java makes of eight or more such keys
    keep it too.
    """
    capacity = _FIRST_CAPACITY
    while len(keys) > capacity * _LOAD:
        capacity *= 2
    return sorted(keys, key=lambda key: _bucket(key, capacity))


def _bucket(key: str, capacity: int) -> int:
    code = 0
    units = key.encode("utf-16-be", "surrogatepass")
    for high, low in zip(units[::2], units[1::2], strict=True):
        code = (31 * code + high * 256 + low) & 0xFFFFFFFF
    return (code ^ (code >> 16)) & (capacity - 1)
