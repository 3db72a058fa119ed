"""Parquet, captures and ORC: which columns, of which types."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.orc
import pyarrow.parquet
import pytest

from tests.unit.replay.sources.opened import payloads, rows, whole

Write = Callable[[pyarrow.Table, Path], None]

WRITERS: list[tuple[Any, Write]] = [
    ("parquet", lambda table, path: pyarrow.parquet.write_table(table, path, row_group_size=2)),
    ("orc", lambda table, path: pyarrow.orc.write_table(table, str(path))),
]


@pytest.mark.parametrize(("kind", "write"), WRITERS, ids=["parquet", "orc"])
def test_columns_are_topic_version_and_payload(tmp_path: Path, kind: Any, write: Write) -> None:  # noqa: ANN401
    path = tmp_path / "a"
    table = pyarrow.table(
        {
            "topic": ["a/b/c", None, "a/b/d"],
            "schema_version": pyarrow.array([3, None, 1], pyarrow.int32()),
            "payload": [b"x", None, b""],
            "other": [1.5, 2.5, 3.5],
        }
    )
    write(table, path)
    assert rows(whole(path, kind)) == (
        [
            {"topic": "a/b/c", "version": 3, "key": None, "payload": b"x", "file": "a", "row": 1},
            {"topic": None, "version": None, "key": None, "payload": None, "file": "a", "row": 2},
            {"topic": "a/b/d", "version": 1, "key": None, "payload": b"", "file": "a", "row": 3},
        ],
        "",
    )


def of_columns(tmp_path: Path, columns: dict[str, Any], **names: str) -> tuple[list[Any], str]:
    path = tmp_path / "a"
    pyarrow.parquet.write_table(pyarrow.table(columns), path)
    return rows(whole(path, "parquet", **names))


def test_columns_may_have_other_names(tmp_path: Path) -> None:
    columns = {"value": [b"x"], "v": [2], "payload": [b"not this one"]}
    found, _ = of_columns(tmp_path, columns, payload="value", schema_version="v")
    assert [(row["payload"], row["version"]) for row in found] == [(b"x", 2)]


@pytest.mark.parametrize(
    ("columns", "names", "problem"),
    [
        ({"value": [b""]}, {}, "a has no column 'payload', only value"),
        ({"payload": [b""]}, {"topic": "t"}, "a has no column 't', only payload"),
        ({"payload": [1]}, {}, "the column 'payload' of a holds int64, not bytes"),
        (
            {"payload": [[b""]]},
            {},
            "the column 'payload' of a holds list<element: binary>, not bytes",
        ),
    ],
)
def test_columns_that_are_not_there_or_hold_something_else_are_told(
    tmp_path: Path, columns: dict[str, Any], names: dict[str, str], problem: str
) -> None:
    assert of_columns(tmp_path, columns, **names) == ([], problem)


@pytest.mark.parametrize(
    "payload",
    [
        pyarrow.array(["x", None]),
        pyarrow.array(["x", None], pyarrow.large_string()),
        pyarrow.array([b"x", None], pyarrow.large_binary()),
        pyarrow.array([b"x", None], pyarrow.binary(1)),
        pyarrow.array(["x", None]).dictionary_encode(),
    ],
    ids=lambda array: str(array.type),
)
def test_a_payload_is_bytes_or_text_of_any_kind(tmp_path: Path, payload: Any) -> None:  # noqa: ANN401
    found, _ = of_columns(tmp_path, {"payload": payload})
    assert [row["payload"] for row in found] == [b"x", None]


@pytest.mark.parametrize(
    ("versions", "found"),
    [
        (pyarrow.array([1, 2], pyarrow.uint8()), [1, 2]),
        (["7", "x"], [7, -1]),
        ([b"\0\0\0\0\0\0\1\2", b"12"], [258, 12]),
        ([1.0, 1.5], [1, -1]),
        ([str(2**70), ""], [-1, None]),
        ([[1], [2]], [-1, -1]),
        ([None, b""], [None, None]),
        ([1e300, float("inf")], [-1, -1]),
        ([float("nan"), -1.0], [-1, -1]),
        ([Decimal(12), Decimal("1.5")], [12, -1]),
    ],
)
def test_a_version_is_a_number_in_whatever_form(
    tmp_path: Path,
    versions: Any,  # noqa: ANN401 - a column
    found: list[int | None],
) -> None:
    read, _ = of_columns(tmp_path, {"payload": [b"", b""], "schema_version": versions})
    assert [row["version"] for row in read] == found


def test_a_topic_that_is_no_utf_8_is_some_other_topic(tmp_path: Path) -> None:
    found, problem = of_columns(tmp_path, {"payload": [b""], "topic": [b"a/b/\xff"]})
    assert ([row["topic"] for row in found], problem) == (["a/b/\ufffd"], "")


def test_a_captured_message_is_told_by_its_id_else_by_its_row(tmp_path: Path) -> None:
    path = tmp_path / "a"
    columns = {"payload": [b"", b""], "message_id": ["1:2:3", None], "key": [b"k", None]}
    pyarrow.parquet.write_table(pyarrow.table(columns), path)
    found, _ = rows(whole(path, "capture"))
    assert [(row["file"], row["row"], row["key"]) for row in found] == [
        ("1:2:3", None, b"k"),
        ("a", 2, None),
    ]


@pytest.mark.parametrize(
    ("kind", "problem"),
    [("parquet", "a is not a Parquet file: "), ("orc", "a is not an ORC file: ")],
)
def test_what_is_no_such_file_is_told(tmp_path: Path, kind: Any, problem: str) -> None:  # noqa: ANN401
    path = tmp_path / "a"
    for data in (b"", b"PAR1" + b"x" * 50 + b"PAR1", b"ORC" + b"\xff" * 50):
        path.write_bytes(data)
        found, told = payloads(whole(path, kind))
        assert not found
        assert told.startswith(problem)


def test_pages_that_are_broken_are_told(tmp_path: Path) -> None:
    path = tmp_path / "a"
    pyarrow.parquet.write_table(
        pyarrow.table({"payload": [b"x" * 100] * 100}), path, compression="gzip"
    )
    data = bytearray(path.read_bytes())
    data[30:60] = b"\xff" * 30
    path.write_bytes(data)
    assert payloads(whole(path, "parquet"))[1].startswith("a is broken: ")
