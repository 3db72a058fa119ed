"""Orders, many of them spoilt: read here, and by fastavro, which is laxer in known ways."""

from __future__ import annotations

import io
import json
import secrets
import struct
from typing import Any, Final

import fastavro
import pytest

from benchmarks.replay_data import WRITER, avro_payloads, reader
from gitops.replay.kernel.avro import row_counts
from gitops.replay.kernel.avro.kernel import AvroRowReader, avro_row_reader
from gitops.replay.kernel.protocol import CountKey, CountKind, Unreadable
from gitops.schemas.avro.parser import AVRO_1_11
from tests.oracle.random_source import Chance
from tests.replay.avro_payloads import AvroPayloads
from tests.replay.avro_peers import as_java_shows

parse = AVRO_1_11.parse

LAXER: Final = {
    *(row_counts.LEFT, row_counts.BOOLEAN, row_counts.INT, row_counts.LONG, row_counts.BLOCK),
    *(
        row_counts.SYMBOL,
        row_counts.BRANCH,
    ),  # it counts a negative index from the end, as Python does
}
"""What fastavro 1.13 does not look at."""


@pytest.fixture(scope="module")
def ours() -> AvroRowReader:
    return avro_row_reader(parse(json.dumps(WRITER)), parse(json.dumps(reader())))


def by_fastavro(payload: bytes) -> Any:  # noqa: ANN401 - any value
    """The value without logical types, None where fastavro refuses the payload."""
    writer, read = (
        fastavro.parse_schema(json.loads(json.dumps(one).replace("logicalType", "remark")))
        for one in (WRITER, reader())
    )
    try:
        return fastavro.schemaless_reader(io.BytesIO(payload), writer, read)
    except (fastavro.read.SchemaResolutionError, ArithmeticError, EOFError):
        return None
    except (IndexError, ValueError, struct.error):
        return None


@pytest.mark.slow
def test_orders_are_read_as_fastavro_reads_them(ours: AvroRowReader) -> None:
    seed, read = secrets.randbelow(10**6), 0
    chance, payloads = Chance(seed), avro_payloads(seed, 400)
    spoiler = AvroPayloads(chance)
    spoilt = [spoiler.spoilt(payload, lambda: payloads[0]) for payload in payloads]
    for payload in payloads + spoilt:
        place = f"seed {seed}: {payload.hex()}"
        try:
            value, counts = ours.counted(payload)
        except Unreadable as error:
            reason = error.reason
            if reason.reason != row_counts.COUNT and by_fastavro(payload) is not None:
                # It does not look at the length of a dropped field either, here the last.
                assert reason.reason in LAXER or reason.path == "legacy_code", f"{place}: {reason}"
            continue
        if not any(key.what is CountKind.CHANGED for key in counts):  # it refuses what is no UTF-8
            read += 1
            assert as_java_shows(by_fastavro(payload)) == as_java_shows(value), place
    assert read


def test_fastavro_reads_what_is_cut_or_left_over(ours: AvroRowReader) -> None:
    payload = next(one for one in avro_payloads(1, 9) if by_fastavro(one))

    for spoilt, reason in ((payload[:-3], row_counts.ENDS), (payload + b"\0", row_counts.LEFT)):
        assert by_fastavro(spoilt) is not None
        with pytest.raises(Unreadable) as found:
            ours.read(spoilt)
        assert found.value.reason.reason == reason


def test_fastavro_refuses_what_is_no_text(ours: AvroRowReader) -> None:
    payload = avro_payloads(1, 1)[0]
    spoilt = payload[:1] + b"\xff" + payload[2:]  # within the id

    assert by_fastavro(spoilt) is None
    assert ours.counted(spoilt)[1][CountKey("id", CountKind.CHANGED)] == 1
