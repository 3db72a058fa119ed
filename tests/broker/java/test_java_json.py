"""Pulsar's Java client and fields of each type: what it writes is read, what it refuses fails."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import Final

import pyarrow
import pytest

from gitops.model.schema import SchemaInfo
from gitops.replay.kernel.choose import kernel_for, row_reader_for, row_writer_for
from gitops.replay.kernel.walk import READ, Reason, RowReader, Unreadable
from tests.support.java_scenarios import Scenario, scenario
from tests.support.json_texts import rows

pytestmark = pytest.mark.broker  # no broker is started, but its jars are needed

SOURCE: Final = Path(__file__).with_name("JsonScenario.java")
WHOLE: Final = re.compile(rb'\{"value":-?[0-9]+\}')
AS_DEFINED: Final = frozenset({"Instant_", "LocalTime_", "LocalDateTime_"})
"""Classes that do not take each whole number that their definition allows."""


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Scenario:
    """Compiled."""
    return scenario(SOURCE, tmp_path_factory.mktemp("classes"))


def test_what_the_client_writes_is_read_and_written_again(client: Scenario) -> None:
    written = [(name, one) for name, (_, all_) in client.written.items() for one in all_]
    again: list[tuple[str, bytes]] = []
    for name, (info, payloads) in client.written.items():
        walk = kernel_for(info, info).walk(pyarrow.array(payloads, pyarrow.binary()))
        assert walk.verdicts.tolist() == [READ] * len(payloads), (name, walk.reasons)
        reader, writer = row_reader_for(info, info), row_writer_for(info)
        for one in payloads:
            value = reader.read(one)
            again.append((name, writer.write(value)))
            assert reader.read(again[-1][1]) == value
    as_read = client.read(written)
    assert len(again) > 200
    assert [row for row, said in zip(written, as_read, strict=True) if said == "no"] == []
    assert client.read(again) == as_read


def test_what_the_client_refuses_fails_in_a_column_and_alone(client: Scenario) -> None:
    payloads: dict[str, list[bytes]] = defaultdict(list)
    for name, payload in rows():
        payloads[name].append(payload)
    taken = {
        (name, one)
        for name, all_ in payloads.items()
        for one in _taken(client.written[name].info, all_)
    }
    said = client.read(rows())
    refused = {row for row, answer in zip(rows(), said, strict=True) if answer == "no"}
    assert {row for row in taken & refused if not _as_defined(*row)} == set()
    assert len(taken) > len(rows()) // 10


def _as_defined(name: str, payload: bytes) -> bool:
    return name in AS_DEFINED and WHOLE.fullmatch(payload) is not None


def _taken(info: SchemaInfo, payloads: list[bytes]) -> list[bytes]:
    """Those that are read."""
    reader = row_reader_for(info, info)
    walk = kernel_for(info, info).walk(pyarrow.array(payloads, pyarrow.binary()))
    reasons = [None, *walk.reasons]
    verdicts = walk.verdicts.tolist()
    alone = [_reason(reader, payload) for payload in payloads]
    assert [reasons[verdict] for verdict in verdicts] == alone
    return [one for one, verdict in zip(payloads, verdicts, strict=True) if verdict == READ]


def _reason(reader: RowReader, payload: bytes) -> Reason | None:
    try:
        reader.read(payload)
    except Unreadable as unreadable:
        return unreadable.reason
    return None
