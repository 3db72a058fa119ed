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

from gitops.replay.sources.tables import to_batch
from tests.support.source_rows import Known, payloads, rows, whole

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
        ({"payload": [1]}, {}, "the column 'payload' of a contains int64, not bytes"),
        (
            {"payload": [[b""]]},
            {},
            "the column 'payload' of a contains list<element: binary>, not bytes",
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
        pyarrow.array([b"x", None], pyarrow.large_binary()).dictionary_encode(),
        pyarrow.array([b"x", None], pyarrow.binary_view()),
        pyarrow.array(["x", None], pyarrow.string_view()),
        pyarrow.ExtensionArray.from_storage(pyarrow.json_(), pyarrow.array(["x", None])),
    ],
    ids=lambda array: str(array.type),
)
def test_payloads_keys_and_topics_are_bytes_or_text_of_any_kind(
    tmp_path: Path,
    payload: Any,  # noqa: ANN401 - a column
) -> None:
    columns = {"payload": payload, "key": payload, "topic": payload}
    found, _ = of_columns(tmp_path, columns)
    assert [(row["payload"], row["key"], row["topic"]) for row in found] == [
        (b"x", b"x", "x"),
        (None, None, None),
    ]
    assert batched(columns) == [(b"x", b"x", "x"), (None, None, None)]


def batched(columns: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Of columns that no file has been through, as Spark hands them over."""
    names = {name: name for name in columns}
    made = to_batch(pyarrow.RecordBatch.from_pydict(columns), names, "a", 1)
    return [(row["payload"], row["key"], row["topic"]) for row in made.to_pylist()]


def test_coded_columns_of_any_kind_are_read(tmp_path: Path) -> None:
    values = pyarrow.array([b"x", b"\xff"], pyarrow.binary_view())
    for index in (pyarrow.int8(), pyarrow.uint32(), pyarrow.int64()):
        coded = pyarrow.DictionaryArray.from_arrays(pyarrow.array([1, 0, None], index), values)
        columns = {"payload": coded, "key": coded, "topic": coded}
        assert batched(columns) == [(b"\xff", b"\xff", "\ufffd"), (b"x", b"x", "x"), (None,) * 3]
    coded = pyarrow.array([3, None, 3], pyarrow.uint8()).dictionary_encode()
    found, _ = of_columns(tmp_path, {"payload": [b""] * 3, "schema_version": coded})
    assert [row["version"] for row in found] == [3, None, 3]


ODD_KEYS = [
    (pyarrow.array([1, 2]), "int64"),
    (pyarrow.array([Decimal("1.5"), None]), "decimal128(2, 1)"),
    (pyarrow.array([1.5, 2.5]), "double"),
    (pyarrow.array([[b"x"], None]), "list<element: binary>"),
]


@pytest.mark.parametrize(("key", "kind"), ODD_KEYS, ids=str)
def test_a_key_that_is_no_bytes_is_told_where_it_is_needed(
    tmp_path: Path,
    key: Any,  # noqa: ANN401 - a column
    kind: str,
) -> None:
    path = tmp_path / "a"
    pyarrow.parquet.write_table(pyarrow.table({"payload": [b"x", b"y"], "key": key}), path)
    found, problem = rows(whole(path, "parquet"))
    assert (found, problem) == ([], f"the column 'key' of a contains {kind}, not bytes")
    found, problem = rows(whole(path, "parquet"), Known(keys=False))
    assert ([(row["payload"], row["key"]) for row in found], problem) == (
        [(b"x", None), (b"y", None)],
        "",
    )


@pytest.mark.parametrize("name", ["topic", "message_id"])
def test_a_name_may_be_a_number_and_is_no_list(tmp_path: Path, name: str) -> None:
    path = tmp_path / "a"
    numbers = {"payload": [b"x"], name: pyarrow.array([5])}
    pyarrow.parquet.write_table(pyarrow.table(numbers), path)
    found, _ = rows(whole(path, "capture"))
    assert found[0]["topic" if name == "topic" else "file"] == "5"
    lists = {"payload": [b"x"], name: pyarrow.array([["5"]])}
    pyarrow.parquet.write_table(pyarrow.table(lists), path)
    found, problem = rows(whole(path, "capture"))
    assert (found, problem) == (
        [],
        f"the column '{name}' of a contains list<element: string>, not text",
    )


def test_a_column_that_is_there_twice_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a"
    table = pyarrow.table([pyarrow.array([b"x"])] * 2, names=["payload", "payload"])
    pyarrow.parquet.write_table(table, path)
    assert rows(whole(path, "parquet")) == ([], "a has several columns 'payload'")


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
        (pyarrow.array([3, -3], pyarrow.int32()), [3, -3]),
        (pyarrow.array([3, 2**64 - 1], pyarrow.uint64()), [3, -1]),
        (pyarrow.array([2**63, 2**63 + 1], pyarrow.uint64()), [-(2**63), 1 - 2**63]),
        (pyarrow.array([3.0, None], pyarrow.float32()), [3, None]),
        (pyarrow.array(["3", " 3"], pyarrow.string_view()), [3, -1]),
        (pyarrow.array(["12345678", "-1"], pyarrow.large_string()), [12345678, -1]),
        (pyarrow.array([b"\xff", b"3"]).view(pyarrow.string()), [-1, 3]),
        (pyarrow.array([b"\0\0\0\0\0\0\0\3", None], pyarrow.binary_view()), [3, None]),
        (pyarrow.array([10**15, None], pyarrow.timestamp("s")), [-1, None]),
        (pyarrow.array([1, None], pyarrow.time64("ns")), [-1, None]),
        (pyarrow.array([True, None]), [-1, None]),
        (pyarrow.array([["3"], None]), [-1, None]),
        (pyarrow.nulls(2), [None, None]),
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
    ids = ["1:2:3", None, ""]
    columns = {"payload": [b"", b"", b""], "message_id": ids, "key": [b"k", None, None]}
    pyarrow.parquet.write_table(pyarrow.table(columns), path)
    found, _ = rows(whole(path, "capture"))
    assert [(row["file"], row["row"], row["key"]) for row in found] == [
        ("1:2:3", None, b"k"),
        ("a", 2, None),
        ("a", 3, None),
    ]


@pytest.mark.parametrize(
    ("kind", "problem"),
    [("parquet", "a is not a Parquet file"), ("orc", "a is not an ORC file")],
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
