"""Comparing definitions takes steps in proportion to their size, whatever is changed in them.

Calls are counted, and no time is taken: a pull request must not be able to stop a check.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, Final

import pytest

from gitops.usecases.compat import compare_files

_SIZES: Final = (150, 300)
_MOST: Final = 2.6
"""More steps than this for twice the size are more than linear."""

_Json = Any
_FieldType = Callable[[str, int], _Json]


def _record(side: str, number: int) -> _Json:
    field = {"name": "x", "type": "int"}
    return {"type": "record", "name": f"{side}{number}", "fields": [field]}


def _same_record(side: str, number: int) -> _Json:
    field = {"name": f"x{side}", "type": "int", "default": 0}
    return {"type": "record", "name": f"R{number}", "fields": [field]}


def _enum(side: str, number: int) -> _Json:
    return {"type": "enum", "name": f"E{side}{number}", "symbols": [f"{side}A", "B"]}


_TYPES: Final[dict[str, _FieldType]] = {
    "text": lambda _side, _number: "string",
    "nullable text": lambda _side, _number: ["null", "string"],
    "nullable records": lambda side, number: ["null", _record(side, number)],
    "nullable records of one name": lambda side, number: ["null", _same_record(side, number)],
    "nullable enums": lambda side, number: ["null", _enum(side, number)],
    "lists of records": lambda side, number: {"type": "array", "items": _record(side, number)},
    "maps of nullable records": lambda side, number: {
        "type": "map",
        "values": ["null", _record(side, number)],
    },
    "fixed": lambda side, number: {"type": "fixed", "name": f"F{side}{number}", "size": 4},
    "decimals": lambda side, number: {
        "type": "bytes",
        "logicalType": "decimal",
        "precision": number + 2,
        "scale": int(side == "n"),
    },
    "own properties": lambda side, number: {"type": "string", "note": f"{side}{number}"},
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[pytest.mark.slow] * ("text" in kind)) for kind in _TYPES]
)
def test_fields_that_are_all_replaced_take_linear_steps(kind: str, tmp_path: Path) -> None:
    def definition(side: str, size: int) -> str:
        fields = []
        for number in range(size):
            type_of_field = _TYPES[kind](side, number)
            default = _default(type_of_field)
            fields.append({"name": f"{side}{number}", "type": type_of_field, "default": default})
        return json.dumps({"type": "record", "name": "T", "fields": fields})

    _assert_linear(definition, tmp_path, "AVRO", ".avsc")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["nullable records", "nullable enums", "text"])
def test_changed_fields_of_one_name_take_linear_steps(kind: str, tmp_path: Path) -> None:
    def definition(side: str, size: int) -> str:
        fields = [
            {"name": f"f{number}", "type": _TYPES[kind](side, number) if side == "n" else "int"}
            for number in range(size)
        ]
        return json.dumps({"type": "record", "name": "T", "fields": fields})

    _assert_linear(definition, tmp_path, "AVRO", ".avsc")


@pytest.mark.slow
@pytest.mark.parametrize("side", ["o", "n"])
def test_many_symbols_take_linear_steps(side: str, tmp_path: Path) -> None:
    def definition(which: str, size: int) -> str:
        count = size * 4 if which == side else size * 2
        enum = {"type": "enum", "name": "E", "symbols": [f"S{n}" for n in range(count)]}
        fields = [{"name": "e", "type": enum}]
        return json.dumps({"type": "record", "name": "T", "fields": fields})

    _assert_linear(definition, tmp_path, "AVRO", ".avsc")


@pytest.mark.slow
def test_both_halves_of_a_key_value_take_linear_steps(tmp_path: Path) -> None:
    def definition(side: str, size: int) -> str:
        halves = {
            half: {
                "type": "record",
                "name": half,
                "fields": [
                    {"name": f"{side}{number}", "type": _TYPES["nullable records"](side, number)}
                    for number in range(size)
                ],
            }
            for half in ("key", "value")
        }
        properties = {"key.schema.type": "AVRO", "value.schema.type": "JSON"}
        return json.dumps(
            {"type": "KEY_VALUE", "schema": json.dumps(halves), "properties": properties}
        )

    _assert_linear(definition, tmp_path, None, ".json")


@pytest.mark.slow
def test_messages_of_protobuf_take_linear_steps(tmp_path: Path) -> None:
    def definition(side: str, size: int) -> str:
        inner = "".join(f"message M{side}{n} {{ int32 x = 1; }}\n" for n in range(size))
        fields = "".join(f"  M{side}{n} f{side}{n} = {n + 1};\n" for n in range(size))
        values = "".join(f"  V{side}{n} = {n};\n" for n in range(size))
        return (
            f'syntax = "proto3";\n{inner}enum E {{\n{values}}}\n'
            f"message T {{\n{fields}  E e = {size + 1};\n}}\n"
        )

    _assert_linear(definition, tmp_path, "PROTOBUF_NATIVE", ".proto", message="T")


def _default(kind: _Json) -> _Json:
    if isinstance(kind, list):
        return None
    named = kind["type"] if isinstance(kind, dict) else kind
    return {"array": [], "map": {}, "fixed": "abcd"}.get(named, "")


def _assert_linear(
    definition: Callable[[str, int], str],
    folder: Path,
    schema_type: str | None,
    suffix: str,
    message: str | None = None,
) -> None:
    steps = []
    for size in (10, *_SIZES):  # the first one loads modules
        files = []
        for side in ("o", "n"):
            files.append(folder / f"{side}{size}{suffix}")
            files[-1].write_text(definition(side, size), "utf-8")
        steps.append(_steps(files, schema_type, message))
    assert steps[2] / steps[1] < _MOST, steps


def _steps(files: list[Path], schema_type: str | None, message: str | None) -> int:
    """How many calls a comparison makes."""
    count = 0

    def profile(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        compare_files(files, "ALWAYS_COMPATIBLE", schema_type, [message] if message else [])
    finally:
        sys.setprofile(before)
    return count
