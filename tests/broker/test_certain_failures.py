"""Which changes are called certain failures, beside what Avro for Java makes of messages."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from gitops.model.findings import Severity
from gitops.usecases.compat import compare_files
from tests.support.java_program import JavaProgram
from tests.support.pulsar_class_path import BrokerUnavailableError

pytestmark = pytest.mark.broker  # no broker is started, but its jars are needed

_SOURCE: Final = Path(__file__).parents[1] / "oracle" / "AvroReadings.java"


def _enum(*symbols: str, **more: str) -> dict[str, object]:
    return {"type": "enum", "name": "E", "symbols": list(symbols), **more}


def _logical(kind: str, name: str, **more: int) -> dict[str, object]:
    return {"type": kind, "logicalType": name, **more}


def _decimal(precision: int, scale: int) -> dict[str, object]:
    return _logical("bytes", "decimal", precision=precision, scale=scale)


class _Change(NamedTuple):
    """The types of a field before and after, and a message of the old schema.

    `certain`: a reader with the new schema fails, or gets another value.
    """

    name: str
    old: object
    new: object
    value: Any
    certain: bool


_CHANGES: Final = (
    _Change("symbol removed", _enum("A", "B"), _enum("A"), "B", certain=True),
    _Change(
        "symbol removed, default", _enum("A", "B"), _enum("A", default="A"), "B", certain=False
    ),
    _Change("symbol added", _enum("A"), _enum("A", "B"), "A", certain=False),
    _Change("scale", _decimal(9, 2), _decimal(9, 3), "\u0004\u00d2", certain=True),
    _Change("precision", _decimal(9, 2), _decimal(5, 2), "\u0004\u00d2", certain=False),
    _Change(
        "millis to micros",
        _logical("long", "timestamp-millis"),
        _logical("long", "timestamp-micros"),
        1_777_629_600_000,
        certain=True,
    ),
    _Change(
        "local micros to millis",
        _logical("long", "local-timestamp-micros"),
        _logical("long", "local-timestamp-millis"),
        1_777_629_600_000,
        certain=True,
    ),
    _Change(
        "date to time",
        _logical("int", "date"),
        _logical("int", "time-millis"),
        20_000,
        certain=True,
    ),
    _Change(
        "date to timestamp",
        _logical("int", "date"),
        _logical("long", "timestamp-millis"),
        20_000,
        certain=True,
    ),
    _Change("decimal to bytes", _decimal(9, 2), "bytes", "\u0004\u00d2", certain=True),
    _Change("plain to plain", "int", "long", 5, certain=False),
)


class _Reading(NamedTuple):
    by_writer: str
    by_reader: str


@pytest.fixture(scope="module")
def readings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, _Reading]:
    """By the name of the change."""
    lines = ""
    for change in _CHANGES:
        message = json.dumps({"v": change.value})
        words = (_record(change.old), _record(change.new), message)
        lines += " ".join(base64.b64encode(word.encode()).decode() for word in words) + "\n"
    try:
        program = JavaProgram(_SOURCE, tmp_path_factory.mktemp("classes"))
    except BrokerUnavailableError as reason:
        pytest.skip(str(reason))
    printed = program.run(lines=lines)
    return {
        change.name: _Reading(*line.split("\t"))
        for change, line in zip(_CHANGES, printed, strict=True)
    }


def _record(kind: object) -> str:
    return json.dumps({"type": "record", "name": "Order", "fields": [{"name": "v", "type": kind}]})


@pytest.mark.parametrize("change", _CHANGES, ids=lambda change: change.name)
def test_java_fails_or_reads_another_value(change: _Change, readings: dict[str, _Reading]) -> None:
    by_writer, by_reader = readings[change.name]

    if "default" in change.name:  # which the author chose for such messages
        assert by_reader == "v=A"
    else:
        assert (by_writer != by_reader) == change.certain


@pytest.mark.parametrize("change", _CHANGES, ids=lambda change: change.name)
@pytest.mark.parametrize(
    ("strategy", "is_promised"),
    [
        ("BACKWARD", True),
        ("BACKWARD_TRANSITIVE", True),
        ("FULL", True),
        ("ALWAYS_COMPATIBLE", False),
    ],
)
def test_it_is_an_error_where_the_strategy_promises_to_read(
    change: _Change, tmp_path: Path, strategy: str, *, is_promised: bool
) -> None:
    old, new = tmp_path / "old.avsc", tmp_path / "new.avsc"
    old.write_text(_record(change.old))
    new.write_text(_record(change.new))

    compared = compare_files([old, new], strategy, None)

    if strategy == "FULL" and (change.name in {"plain to plain", "date to timestamp"}):
        assert not compared.decision.accepted  # an int does not read a long
        return
    assert compared.decision.accepted
    errors = [one for one in compared.findings if one.severity is Severity.ERROR]
    is_broken = change.certain or (strategy == "FULL" and change.name == "symbol added")
    assert bool(errors) == (is_broken and is_promised)
    if change.certain:
        assert compared.findings
