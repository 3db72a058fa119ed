"""Values that Java's POJOs do not take fail here, and pass where readers of generic records do."""

from __future__ import annotations

import io
import json
from pathlib import Path
from random import Random
from typing import Any, Final

import fastavro
import pyarrow
import pytest

from gitops.model.replay import LogicalTypes
from gitops.model.schema import SchemaInfo
from gitops.replay.kernel.protocol import READ, Reason, Walk
from gitops.replay.kernel.schema_types import kernel_for
from tests.support.java_scenarios import Scenario, scenario

pytestmark = pytest.mark.broker  # no broker is started, but its jars are needed

SOURCE: Final = Path(__file__).with_name("LogicalTypesScenario.java")
ROWS: Final = 1500
VALUES: Final[dict[str, list[Any]]] = {
    "id": [
        "f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
        "F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6",
        "1-1-1-1-1",
        "not-a-uuid",
        "",
        "f81d4fae7dec11d0a76500a0c91e6bf6",
        "f81d4fae-7dec-11d0-a765-00a0c91e6bfg",
        " f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
    ],
    "time": [0, -1, 86_399_999, 86_400_000, 2**31 - 1, -(2**31)],
    "price": [b"", b"\0", b"\x04\xd2", b"\xff", b"\x7f" * 200],
    "whole": ["12", "-12", "+0", "", "1.5", "1e5", " 1"],
    "link": ["http://host/a?b#c", "urn:x:y", "a b", "", "%", "http://host:port/"],
    "small": [0, -1, 2**15, -(2**15) - 1, 2**31 - 1],
    "at": [0, -1, 1_777_629_600_000, 2**63 - 1, -(2**63)],
    "day": [0, -1, 20_000, 2**31 - 1, -(2**31)],
}
"""Of each field, in the form in which `plain` has it."""


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Scenario:
    """Compiled."""
    return scenario(SOURCE, tmp_path_factory.mktemp("classes"))


@pytest.fixture(scope="module")
def payloads(client: Scenario) -> list[bytes]:
    """Each value alone beside nulls, and random ones together."""
    random = Random(1)  # noqa: S311 - a test's rows, the same each time
    rows = [{name: value} for name, values in VALUES.items() for value in values]
    rows += [
        {name: random.choice(values) for name, values in VALUES.items() if random.random() < 0.3}
        for _ in range(ROWS)
    ]
    return [_payload(client.written["plain"].info, row) for row in rows]


@pytest.mark.parametrize(("reader", "how"), [("typed", "java"), ("generic", "none")])
def test_what_the_reader_takes_is_read(
    client: Scenario, payloads: list[bytes], reader: str, how: LogicalTypes
) -> None:
    walk = _walk(client, payloads, how)
    said = client.read((reader, payload) for payload in payloads)
    rows = zip(payloads, walk.verdicts.tolist(), said, strict=True)
    wrong = [
        (payload.hex(), walk.reasons[verdict - 1] if verdict else None, theirs)
        for payload, verdict, theirs in rows
        if (verdict == READ) is not (theirs == "ok")
    ]
    assert wrong == []


def test_each_value_that_fails_has_its_reason(client: Scenario, payloads: list[bytes]) -> None:
    assert set(_walk(client, payloads, "java").reasons) == {
        Reason("id", "the text is not a UUID"),
        Reason("time", "a time that is not within a day"),
        Reason("price", "a decimal of no bytes"),
        Reason("whole", "the text is not a whole number"),
        Reason("link", "the text is not a URI"),
    }
    assert _walk(client, payloads, "none").reasons == ()


def _walk(client: Scenario, payloads: list[bytes], how: LogicalTypes) -> Walk:
    plain, typed = (client.written[name].info for name in ("plain", "typed"))
    return kernel_for(plain, typed, how).walk(pyarrow.array(payloads, pyarrow.binary()))


def _payload(plain: SchemaInfo, row: dict[str, Any]) -> bytes:
    schema = json.loads(plain.schema)
    out = io.BytesIO()
    nulls = {field["name"]: None for field in schema["fields"]}
    fastavro.schemaless_writer(out, schema, {**nulls, **row})
    return out.getvalue()
