"""Compression; Java decompresses it in tests/broker/java/test_java_protocol.py."""

from __future__ import annotations

import zlib

import cramjam
from hypothesis import given
from hypothesis import strategies as st

from gitops.messaging.wire.compression import Compression


@given(st.binary(max_size=2000))
def test_every_kind_can_be_undone(payload: bytes) -> None:
    size = len(payload)
    assert Compression("NONE")(payload) == payload
    assert zlib.decompress(Compression("ZLIB")(payload)) == payload
    assert bytes(cramjam.zstd.decompress(Compression("ZSTD")(payload))) == payload
    assert bytes(cramjam.snappy.decompress_raw(Compression("SNAPPY")(payload))) == payload
    lz4 = Compression("LZ4")(payload)
    assert bytes(cramjam.lz4.decompress_block(lz4, output_len=size)) == payload
