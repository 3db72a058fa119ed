"""Our bytes are those of Pulsar's own classes: commands, metadata, frames, hashes, compression."""

from __future__ import annotations

import base64
import random
from pathlib import Path
from typing import Final

import pytest
from google.protobuf.message import Message

from gitops.messaging.routing import java_string_hash, murmur3_32_hash
from gitops.messaging.wire import pulsar_api_pb2 as api
from gitops.messaging.wire.compression import Compression
from gitops.messaging.wire.frames import send_frame
from tests.support.java_program import JavaProgram
from tests.support.protocol_messages import fill, random_commands
from tests.support.pulsar_class_path import BrokerUnavailableError

pytestmark = pytest.mark.broker

KEYS: Final = ["", "a", "order-1", "é", "𝄞", "ключ", "a" * 1000, "=" * 5, "aw=="]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> JavaProgram:
    """The compiled scenario; skips where there is no Java or no Maven."""
    try:
        source = Path(__file__).with_name("ProtocolScenario.java")
        return JavaProgram(source, tmp_path_factory.mktemp("classes"))
    except BrokerUnavailableError as error:
        pytest.skip(str(error))


def test_commands_and_metadata_are_written_as_java_writes_them(program: JavaProgram) -> None:
    random_one = random.Random(7)  # noqa: S311 - no secret
    messages: list[Message] = list(random_commands(3, 30))
    for kind in (api.MessageMetadata, api.SingleMessageMetadata):
        for _ in range(200):
            message = kind()
            fill(message, random_one)
            messages.append(message)
    texts = [encoded(message.SerializeToString()) for message in messages]
    names = [type(message).__name__ for message in messages]
    lines = "".join(f"{name} {text}\n" for name, text in zip(names, texts, strict=True))
    assert program.run(lines=lines) == texts


def test_frames_have_the_checksum_that_java_computes(program: JavaProgram) -> None:
    random_one = random.Random(8)  # noqa: S311 - no secret
    payloads = [random_one.randbytes(size) for size in (0, 1, 7, 100, 70_000)]
    frames = []
    for payload in payloads:
        metadata = api.MessageMetadata()
        fill(metadata, random_one)
        frames.append(send_frame(api.CommandSend(producer_id=1, sequence_id=2), metadata, payload))
    lines = "".join(f"frame {encoded(frame)}\n" for frame in frames)
    assert program.run(lines=lines) == [encoded(payload) for payload in payloads]


def test_keys_are_hashed_as_java_hashes_them(program: JavaProgram) -> None:
    random_one = random.Random(9)  # noqa: S311 - no secret
    alphabet = "abcxyz0189-_:/é漢𝄞"
    keys = KEYS + ["".join(random_one.choices(alphabet, k=n % 40)) for n in range(500)]
    lines = "".join(f"hash {encoded(key.encode())}\n" for key in keys)
    ours = [f"{java_string_hash(key)} {murmur3_32_hash(key)}" for key in keys]
    assert program.run(lines=lines) == ours


@pytest.mark.parametrize("name", ["NONE", "LZ4", "ZLIB", "ZSTD", "SNAPPY"])
def test_java_decompresses_what_we_compress(program: JavaProgram, name: str) -> None:
    random_one = random.Random(10)  # noqa: S311 - no secret
    payloads = [b"", b"a", b"ab" * 40_000, random_one.randbytes(5000)]
    compress = Compression(name)  # type: ignore[arg-type]  # one of the names
    lines = "".join(f"{name} {len(one)} {encoded(compress(one))}\n" for one in payloads)
    assert program.run(lines=lines) == [encoded(one) for one in payloads]


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()
