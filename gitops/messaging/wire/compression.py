"""Payloads as producers compress them, each in the form that Pulsar's clients read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Literal

CompressionName = Literal["NONE", "LZ4", "ZLIB", "ZSTD", "SNAPPY"]
Compress = Callable[[bytes], bytes]


def _lz4(data: bytes) -> bytes:
    """A block without its size, which the metadata has."""
    import cramjam

    return bytes(cramjam.lz4.compress_block(data, store_size=False))


def _zlib(data: bytes) -> bytes:
    import cramjam

    return bytes(cramjam.zlib.compress(data))


def _zstd(data: bytes) -> bytes:
    import cramjam

    return bytes(cramjam.zstd.compress(data))


def _snappy(data: bytes) -> bytes:
    import cramjam

    return bytes(cramjam.snappy.compress_raw(data))


_COMPRESS: Final[Mapping[CompressionName, Compress]] = {
    "LZ4": _lz4,
    "ZLIB": _zlib,
    "ZSTD": _zstd,
    "SNAPPY": _snappy,
}


class Compression:
    """One kind of compression by its name in the protocol."""

    def __init__(self, name: CompressionName) -> None:
        self.name: Final = name
        self._compress = _COMPRESS.get(name)

    def __call__(self, payload: bytes) -> bytes:
        """The payload as it is sent."""
        return self._compress(payload) if self._compress else payload


def decompress(name: str, data: bytes, size: int) -> bytes:
    """What was compressed to `data`, of `size` bytes; raises ValueError where it is none."""
    import cramjam

    if name == "NONE":
        return data
    into = {
        "LZ4": cramjam.lz4.decompress_block_into,
        "ZLIB": cramjam.zlib.decompress_into,
        "ZSTD": cramjam.zstd.decompress_into,
        "SNAPPY": cramjam.snappy.decompress_raw_into,
    }[name]
    result = bytearray(size)
    try:
        written = into(data, result)
    except cramjam.DecompressionError as error:
        raise ValueError(str(error)) from None
    if written != size:
        raise ValueError(f"{written} bytes in place of {size}")
    return bytes(result)
