"""Messages of Pulsar's own Java client are read here, and what it cannot read fails here."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from random import Random
from typing import Final

import pyarrow
import pytest

from gitops.model.schema import SchemaType
from gitops.replay.kernel.primitive import FORMS, Part
from gitops.replay.kernel.protocol import READ, CountKey, CountKind
from gitops.replay.kernel.schema_types import kernel_for, row_reader_for
from tests.support.java_scenarios import Scenario, scenario, written_again
from tests.support.json_rows import Values, payload
from tests.support.proto_rows import broken, fill, message_class

pytestmark = pytest.mark.broker  # no broker is started, but its jars are needed

SOURCE: Final = Path(__file__).with_name("PayloadScenario.java")
ROWS: Final = 2000


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Scenario:
    """Compiled."""
    return scenario(SOURCE, tmp_path_factory.mktemp("classes"))


def reads(client: Scenario, *rows: tuple[str, bytes]) -> list[bool]:
    """Whether the client reads each payload with its schema of that name."""
    return [said == "ok" for said in client.read(rows)]


def test_what_the_client_writes_is_read_and_written_again(client: Scenario) -> None:
    again = written_again(client)
    assert reads(client, *again) == [True] * len(again)


def test_a_protobuf_schema_of_the_client_has_its_parsing_info(client: Scenario) -> None:
    native, protobuf = (client.written[name] for name in ("native", "protobuf"))
    walk = kernel_for(protobuf.info, native.info).walk(pyarrow.array(native.payloads))
    assert walk.counts[CountKey("value[].number", CountKind.READ)] == 1
    value = row_reader_for(protobuf.info, protobuf.info).read(native.payloads[0])
    assert value["name"] == "E"
    assert value["value"] == [b"\x0a\x01V\x10" + b"\xfb" + b"\xff" * 8 + b"\x01"]


def test_json_that_the_client_cannot_read_fails(client: Scenario) -> None:
    info = client.written["json"].info
    random = Random(1)  # noqa: S311 - a test's rows, the same each time
    values = Values(random, json.loads(info.schema), odd=0.02)
    payloads = [payload(random, values.value(), broken=0.2) for _ in range(ROWS)]
    walk = kernel_for(info, info).walk(pyarrow.array(payloads, pyarrow.binary()))
    read = reads(client, *(("json", one) for one in payloads))
    rows = zip(payloads, walk.verdicts.tolist(), read, strict=True)
    assert [one for one, verdict, readable in rows if verdict == READ and not readable] == []
    assert 0 < int((walk.verdicts == READ).sum()) < sum(read) < ROWS


def test_protobuf_is_read_if_the_client_reads_it(client: Scenario) -> None:
    info = client.written["native"].info
    random = Random(2)  # noqa: S311 - as above
    message = message_class(info)
    payloads = [
        broken(fill(message(), random).SerializePartialToString(), random) for _ in range(ROWS)
    ]
    walk = kernel_for(info, info).walk(pyarrow.array(payloads, pyarrow.binary()))
    read = reads(client, *(("native", one) for one in payloads))
    rows = zip(payloads, walk.verdicts.tolist(), read, strict=True)
    wrong = [
        (one.hex(), walk.reasons[verdict - 1] if verdict else None)
        for one, verdict, readable in rows
        if (verdict == READ) is not readable
    ]
    assert wrong == []


def test_primitives_are_read_if_the_client_reads_them(client: Scenario) -> None:
    rows: list[tuple[str, bytes]] = []
    verdicts: list[bool] = []
    for kind in [*FORMS, SchemaType.STRING, SchemaType.BYTES]:
        info, written = client.written[kind.value]
        payloads = [*_near(written), *_edges(FORMS.get(kind, ()))]
        walk = kernel_for(info, info).walk(pyarrow.array(payloads, pyarrow.binary()))
        rows += [(kind.value, one) for one in payloads]
        verdicts += (walk.verdicts == READ).tolist()
    found = [(*row, read) for row, read in zip(rows, verdicts, strict=True)]
    read = reads(client, *rows)
    assert found == [(*row, readable) for row, readable in zip(rows, read, strict=True)]


def _near(written: Sequence[bytes]) -> list[bytes]:
    """Random bytes of the right size and too few of them; what was written and what is beside."""
    random = Random(3)  # noqa: S311 - a test's rows, the same each time
    size = len(written[0])
    found = [random.randbytes(size) for _ in range(50)] + [bytes(less) for less in range(size)]
    small = [bytes(2) + random.randbytes(max(size - 2, 0)) for _ in range(50)]
    flipped = [one[:-1] + bytes([one[-1] ^ bit]) for one in written for bit in (1, 128) if one]
    return [*found, *(one for one in small if len(one) == size), *written, *flipped]


def _edges(parts: Sequence[Part]) -> list[bytes]:
    """Every edge of each number with every edge of the others."""
    form = struct.Struct(">" + "".join(part.code for part in parts))
    return [form.pack(*numbers) for numbers in product(*map(_edges_of, parts))] if parts else []


def _edges_of(part: Part) -> list[float]:
    if part.code in "fd":
        return [0.0, -0.0, 1.5, float("nan"), float("inf"), float("-inf"), 5e-324]
    half = 2 ** (8 * struct.calcsize(f">{part.code}") - 1)
    around = {
        -half,
        half - 1,
        0,
        *(sign * times * 10**9 for sign in (1, -1) for times in (1, 2, 3)),
    }
    if part.within is not None:
        around |= {part.within.start, part.within.stop}
    near = {number + by for number in around for by in range(-4, 5)}
    return sorted(number for number in near if -half <= number < half)
