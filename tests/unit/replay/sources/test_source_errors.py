"""What is wrong with a file is told, and what to do about it."""

from __future__ import annotations

import bz2
import gzip
import io
from pathlib import Path
from typing import get_args

import fastavro
import pyarrow
import pyarrow.orc
import pyarrow.parquet
import pytest

from gitops.model.sample_formats import SampleFormat
from gitops.replay.sources.source import UnreadableError, source_for
from gitops.replay.sources.source_errors import empty_file, first_line
from tests.support.source_rows import Known, whole

TABLE = pyarrow.table({"payload": [b"x" * 50, b""], "topic": ["a", "b"]})


def contents(kind: str) -> bytes:
    out = io.BytesIO()
    match kind:
        case "avro":
            fastavro.writer(out, "string", ["x"])
        case "parquet":
            pyarrow.parquet.write_table(TABLE, out)
        case "orc":
            pyarrow.orc.write_table(TABLE, out)
        case _:
            return b'{"a": 1}\n'
    return out.getvalue()


def refused(path: Path, sample_format: SampleFormat) -> UnreadableError:
    source = source_for(sample_format)
    try:
        for part in source.parts(whole(path, sample_format)):
            list(source.batches(part, Known()))
    except UnreadableError as error:
        return error
    raise AssertionError(f"{path} was read as {sample_format}")


@pytest.mark.parametrize("sample_format", ["avro", "json", "parquet", "orc", "capture"])
@pytest.mark.parametrize("kind", ["avro", "json", "parquet", "orc"])
def test_a_file_of_another_format_is_told_with_the_right_one(
    tmp_path: Path, kind: str, sample_format: SampleFormat
) -> None:
    if kind == sample_format.replace("capture", "parquet"):
        return
    path = tmp_path / "a"
    path.write_bytes(contents(kind))
    error = refused(path, sample_format)
    assert str(error).startswith("a is ")
    assert ", not " in str(error)
    assert error.hint == f"write in the manifest: format: {kind}"


@pytest.mark.parametrize(("pack", "ending"), [(gzip.compress, "gz"), (bz2.compress, "bz2")])
def test_a_packed_file_is_told(tmp_path: Path, pack: object, ending: str) -> None:
    assert callable(pack)
    path = tmp_path / "a"
    for kind in ("avro", "parquet", "orc", "json"):
        path.write_bytes(pack(contents(kind)))
        error = refused(path, kind)
        assert str(error).startswith(f"a is packed ({ending}), ")
        assert error.hint.startswith("let its name end in ." if kind == "json" else "unpack it")


@pytest.mark.parametrize("kind", ["parquet", "orc"])
def test_the_first_half_of_a_file_is_told_as_such(tmp_path: Path, kind: SampleFormat) -> None:
    data = contents(kind)
    path = tmp_path / "a"
    path.write_bytes(data[: len(data) // 2])
    assert str(refused(path, kind)).endswith("does not end as one: it is cut off, or broken")


def test_lines_of_text_that_begin_as_a_file_does_are_lines(tmp_path: Path) -> None:
    path = tmp_path / "a"
    for text in (b"ORCHARD\n", b"PAR1S\n", b"Object\n"):
        path.write_bytes(text)
        (batch,) = source_for("json").batches(whole(path, "json"), Known())
        assert batch.column("payload").to_pylist() == [text[:-1]]


@pytest.mark.parametrize("sample_format", get_args(SampleFormat))
def test_a_file_without_a_byte(tmp_path: Path, sample_format: SampleFormat) -> None:
    """Of lines there may be none, and a payload may have no byte."""
    path = tmp_path / "a"
    path.write_bytes(b"")
    if sample_format == "table":
        return
    error = empty_file(whole(path, sample_format))
    assert (error is None) is (sample_format in ("json", "raw"))
    assert error is None or "a is empty (0 bytes)" in str(error)


def test_what_arrow_says_is_one_sentence_without_an_end() -> None:
    assert (
        first_line(ValueError("No such thing. It is gone.;\nmore")) == "No such thing. It is gone"
    )
    assert first_line(ValueError()) == "ValueError"
