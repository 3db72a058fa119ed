"""A record of `gitops.builder` has the text that Pulsar's own builder makes."""

from __future__ import annotations

import base64
import json
import os
import secrets
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from gitops.builder import RecordBuilder, record
from tests.support.java_program import JavaProgram
from tests.support.pulsar_class_path import BrokerUnavailableError

pytestmark = pytest.mark.broker  # no broker is started, but its jars are needed

RECORDS: Final = int(os.environ.get("EXTRACTED_CLASSES", "60"))
TYPES: Final = {
    "string": "STRING", "bytes": "BYTES", "boolean": "BOOLEAN", "int": "INT32", "long": "INT64",
    "float": "FLOAT", "double": "DOUBLE", "date": "DATE", "time": "TIME",
    "timestamp": "TIMESTAMP",
}  # fmt: skip
DEFAULTS: Final[dict[str, list[Any]]] = {
    "string": ["", "x", 'ä"'], "boolean": [True, False], "int": [0, -5], "long": [2**40],
    "float": [0.5], "double": [-2.25, 3.0],
}  # fmt: skip


def test_random_records_have_the_text_of_pulsars_builder(tmp_path: Path) -> None:
    seed = secrets.randbelow(10**9)
    random = Random(seed)  # noqa: S311 - a test's records
    cases = [
        {"type": random.choice(["AVRO", "JSON"]), **_record(random, "R", 2)} for _ in range(RECORDS)
    ]
    try:
        program = JavaProgram(Path(__file__).with_name("BuilderScenario.java"), tmp_path)
    except BrokerUnavailableError as error:
        pytest.skip(str(error))
    answers = program.run(lines="".join(f"{json.dumps(each)}\n" for each in cases))
    for case, answer in zip(cases, answers, strict=True):
        ours = _built(case).build(case["type"])
        assert ours.schema == base64.b64decode(answer).decode(), f"seed {seed}: {case}"


def _record(random: Random, name: str, depth: int) -> dict[str, Any]:
    space = random.choice(["", "", "acme.", "com.acme."])
    made: dict[str, Any] = {"name": f"{space}{name}"}
    if random.random() < 0.3:
        made["doc"] = "about it"
    count = random.randint(1, 6)
    return made | {"fields": [_field(random, f"{name}{each}", depth) for each in range(count)]}


def _field(random: Random, name: str, depth: int) -> dict[str, Any]:
    made: dict[str, Any] = {"name": name.lower()}
    kind = random.choice([*TYPES, "record"]) if depth else random.choice([*TYPES])
    made |= (
        {"record": _record(random, name, depth - 1)} if kind == "record" else {"type": TYPES[kind]}
    )
    if random.random() < 0.5:
        made["optional"] = True
    if random.random() < 0.3:
        made["doc"] = "of it"
    if kind in DEFAULTS and random.random() < 0.4:
        made["default"] = random.choice(DEFAULTS[kind])
    if random.random() < 0.2:
        keys = random.sample(["owner", "unit", "b", "a", "zz"], 3)
        made["properties"] = {key: key.upper() for key in keys}
    return made


def _built(case: dict[str, Any]) -> RecordBuilder:
    builder = record(case["name"], case.get("doc"))
    names = {theirs: ours for ours, theirs in TYPES.items()}
    for each in case["fields"]:
        kind: Any = _built(each["record"]) if "record" in each else names[each["type"]]
        add = builder.optional if "optional" in each else builder.field
        more = {key: each[key] for key in ("default", "doc", "properties") if key in each}
        add(each["name"], kind, **more)
    return builder
