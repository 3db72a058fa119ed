"""To which partition a message goes, as Java's client sends it (Pulsar 4.0.7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Literal

HashingScheme = Literal["JavaStringHash", "Murmur3_32Hash"]
_MAX_INT: Final = 0x7FFF_FFFF
_INT: Final = 0xFFFF_FFFF


def java_string_hash(key: str) -> int:
    """Java's String.hashCode without its sign: over UTF-16 units, which differ beyond U+FFFF."""
    units = memoryview(key.encode("utf-16-le", "surrogatepass")).cast("H")
    value = 0
    for unit in units:
        value = (31 * value + unit) & _INT
    return value & _MAX_INT


def murmur3_32_hash(key: str) -> int:
    """Murmur3 of the key in UTF-8 with seed 0, without its sign."""
    data = key.encode("utf-8", "replace")
    end = len(data) & ~3
    value = 0
    for at in range(0, end, 4):
        value ^= _mix(int.from_bytes(data[at : at + 4], "little"))
        value = (_rotate(value, 13) * 5 + 0xE654_6B64) & _INT
    if rest := data[end:]:
        value ^= _mix(int.from_bytes(rest, "little"))
    return _finish(value ^ len(data)) & _MAX_INT


def _mix(block: int) -> int:
    return _rotate(block * 0xCC9E_2D51 & _INT, 15) * 0x1B87_3593 & _INT


def _finish(value: int) -> int:
    value = (value ^ value >> 16) * 0x85EB_CA6B & _INT
    value = (value ^ value >> 13) * 0xC2B2_AE35 & _INT
    return value ^ value >> 16


def _rotate(value: int, bits: int) -> int:
    return (value << bits | value >> (32 - bits)) & _INT


HASHES: Final[Mapping[HashingScheme, Callable[[str], int]]] = {
    "JavaStringHash": java_string_hash,
    "Murmur3_32Hash": murmur3_32_hash,
}
