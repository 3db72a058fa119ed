"""Fields that exchange names by aliases: replay and review take them as Avro for Java does."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any, Final

import pytest

from gitops.schemas.avro.aliases import data_aliases_for
from gitops.schemas.avro.field_matching import match
from gitops.schemas.avro.parser import AVRO_1_11
from gitops.schemas.avro.schema import Record
from tests.support.avro_kernels import reader_of
from tests.support.java_program import JavaProgram
from tests.support.pulsar_class_path import BrokerUnavailableError

pytestmark = pytest.mark.broker  # no broker is started, but its jars are needed

_SOURCE: Final = Path(__file__).parents[1] / "oracle" / "AvroReadings.java"


def _record(*fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "record", "name": "R", "fields": list(fields)}


def _field(name: str, *aliases: str, **more: int) -> dict[str, Any]:
    return {"name": name, "type": "int", "aliases": list(aliases), **more}


_WRITER: Final = _record(_field("a"), _field("b"), _field("c"))
_READERS: Final = {
    "swap beside a new field": _record(
        _field("a", "b"), _field("b", "a"), _field("c"), _field("d", default=9)
    ),
    "swap that leads to the reader": _record(_field("b", "a"), _field("a", "b"), _field("c")),
    "swap of equal schemas": _record(_field("a", "b"), _field("b", "a"), _field("c")),
    "circle beside a new field": _record(
        _field("a", "b"), _field("b", "c"), _field("c", "a"), _field("d", default=9)
    ),
    "chain": _record(_field("e", "d"), _field("d", "a", default=7), _field("c"), _field("b")),
}


@pytest.mark.parametrize("name", _READERS)
def test_java_takes_the_same_fields(name: str, program: JavaProgram) -> None:
    reader = _READERS[name]
    message = {"a": 1, "b": 2, "c": 3}
    words = map(json.dumps, (_WRITER, reader, message))

    (printed,) = program.run(
        lines=" ".join(base64.b64encode(word.encode()).decode() for word in words) + "\n"
    )

    by_java = dict(pair.split("=") for pair in printed.split("\t")[1].split())
    value: Any = reader_of(_WRITER, reader).read(b"\x02\x04\x06")
    assert {field: str(number) for field, number in value.items()} == by_java

    old, new = (AVRO_1_11.parse(json.dumps(side)) for side in (_WRITER, reader))
    assert isinstance(old, Record)
    assert isinstance(new, Record)
    matched = match(old, new, data_aliases_for(old, new).fields_of(old))
    numbers = {field: str(message[written.name]) for field, written in matched.items()}
    assert by_java == {field.name: str(field.default) for field in new.all_fields} | numbers


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> JavaProgram:
    try:
        return JavaProgram(_SOURCE, tmp_path_factory.mktemp("classes"))
    except BrokerUnavailableError as reason:
        pytest.skip(str(reason))
