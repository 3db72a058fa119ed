"""Pulsar's Java client and fields of each type: what it writes is read, what it refuses fails."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path
from random import Random
from typing import Final

import pyarrow
import pytest

from gitops.model.schema import SchemaInfo
from gitops.replay.kernel.protocol import READ, Reason, RowReader, Unreadable
from gitops.replay.kernel.schema_types import kernel_for, row_reader_for
from gitops.schemas.avro.schema import Array, Enum, Field, Map, Primitive, Record, Schema
from gitops.schemas.json.reading import Answer, compare_types
from tests.support.java_scenarios import Scenario, scenario, written_again
from tests.support.json_rows import Values, payload
from tests.support.json_texts import rows

pytestmark = pytest.mark.broker  # no broker is started, but its jars are needed

SOURCE: Final = Path(__file__).with_name("JsonScenario.java")
ROWS: Final = 60
NOTHING: Final = re.compile(r'"fields"\s*:\s*\[\s*\]')
"""In the definition of a class of which it says nothing."""

AS_DEFINED: Final = frozenset({"Instant_", "LocalTime_", "LocalDateTime_"})
"""Classes that do not take each whole number that their definition allows."""


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Scenario:
    """Compiled."""
    return scenario(SOURCE, tmp_path_factory.mktemp("classes"))


def test_what_the_client_writes_is_read_and_written_again(client: Scenario) -> None:
    written = [(name, one) for name, (_, all_) in client.written.items() for one in all_]
    again = written_again(client)
    as_read = client.read(written)
    assert len(again) > 200
    assert [row for row, said in zip(written, as_read, strict=True) if said == "no"] == []
    assert client.read(again) == as_read


def test_what_the_client_refuses_fails_in_a_column_and_alone(client: Scenario) -> None:
    _check(client, rows())


_VALUES: Final = {
    "null": ["null"],
    "boolean": ["true", "false"],
    "int": ["0", "1", "-5"],
    "long": ["1", "5000000000"],
    "double": ["5.0", "5.7", "1e300"],
    "string": ['""', '"abc"', '"5"', '"true"', '"null"'],
    "enum": ['"RED"'],
    "array": ["[]", "[1]", '["a"]'],
    "map": ["{}", '{"a":1}'],
    "record": ['{"product":"tea","price":2.5}'],
}
"""Of a field of each type, as JSON."""

_CLASSES: Final = {
    "boolean": ["OfBool", "Boolean_"],
    "int": ["OfInt", "Integer_"],
    "long": ["OfLong", "Long_"],
    "float": ["OfFloat", "Float_"],
    "double": ["OfDouble", "Double_"],
    "string": ["String_", "Chars"],
    "bytes": ["Bytes", "Buffer"],
    "enum": ["Enum_"],
    "array": ["Strings", "Collection_"],
    "map": ["ByString"],
    "record": ["Nested", "Record_"],
}


def test_answers_about_types_are_those_of_the_client(client: Scenario) -> None:
    """What fails for certain fails always, and what is read is read always."""
    rows = [
        (written, read, name, f'{{"value":{value}}}'.encode())
        for written, values in _VALUES.items()
        for value in values
        for read, names in _CLASSES.items()
        for name in names
    ]
    said = client.read([(name, payload) for _, _, name, payload in rows])
    answers: dict[tuple[str, str], set[bool]] = defaultdict(set)
    for (written, read, _, _), answer in zip(rows, said, strict=True):
        answers[written, read].add(answer != "no")
    compared = {pair: compare_types(*map(_type, pair)) for pair in answers}
    certain = {pair for pair, answer in compared.items() if answer is Answer.FAILS}
    reads = {pair for pair, answer in compared.items() if answer is Answer.READS}
    reads -= {("string", "bytes"), ("array", "array")}  # AVRO-W003; and items differ
    assert {pair: answers[pair] for pair in certain} == {pair: {False} for pair in certain}
    assert {pair: answers[pair] for pair in reads} == {pair: {True} for pair in reads}
    assert len(certain) > 30
    assert len(reads) > 10


def _type(kind: str) -> Schema:
    match kind:
        case "array":
            return Array(Primitive("long"))
        case "map":
            return Map(Primitive("long"))
        case "enum":
            return Enum("Color", ("RED", "GREEN"))
        case "record":
            line = Record("Line")
            line.set_fields((Field("product", Primitive("string")),))
            return line
        case _:
            return Primitive(kind)


def test_random_rows_that_the_client_refuses_fail(client: Scenario) -> None:
    random = Random(1)  # noqa: S311 - a test's rows, the same each time
    found: list[tuple[str, bytes]] = []
    for name, (info, _) in client.written.items():
        values = Values(random, json.loads(info.schema), odd=0.15)
        found += ((name, payload(random, values.value(), broken=0.2)) for _ in range(ROWS))
    _check(client, found)


def _check(client: Scenario, all_rows: list[tuple[str, bytes]]) -> None:
    """What is taken here is what the client takes, or as documented."""
    payloads: dict[str, list[bytes]] = defaultdict(list)
    for name, one in all_rows:
        payloads[name].append(one)
    taken = {
        (name, each)
        for name, its in payloads.items()
        for each in _taken(client.written[name].info, its)
    }
    said = client.read(all_rows)
    refused = {row for row, answer in zip(all_rows, said, strict=True) if answer == "no"}
    wrong = taken & refused
    assert [row for row in wrong if not _is_documented(client.written[row[0]].info, *row)] == []
    assert len(taken) > len(all_rows) // 10
    assert len(refused) > len(all_rows) // 10


def _is_documented(info: SchemaInfo, name: str, payload: bytes) -> bool:
    """Whether it is what the definition says, or that says nothing."""
    value = json.loads(payload.decode("utf-8-sig"))["value"]
    is_whole = name in AS_DEFINED and isinstance(value, int)
    is_base64 = name == "Decimal" and isinstance(value, str)
    return is_whole or is_base64 or NOTHING.search(info.schema) is not None


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
