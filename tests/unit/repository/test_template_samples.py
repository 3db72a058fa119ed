"""The template's samples are those that the script writes."""

from __future__ import annotations

import json
from pathlib import Path

import fastavro
import pyarrow.parquet
import pytest

from gitops.repository.template import template_root
from tests.support.template_samples import write_samples


@pytest.mark.slow
def test_the_script_writes_the_same_messages_again(tmp_path: Path) -> None:
    """The bytes of Parquet are those of a version of its library; what is in them counts."""
    write_samples(tmp_path)
    kept = template_root() / "samples"
    files = {path.relative_to(tmp_path) for path in tmp_path.rglob("*.*") if path.is_file()}
    assert files | {Path("README.md")} == {
        path.relative_to(kept) for path in kept.rglob("*") if path.is_file()
    }
    for file in files:
        assert _messages(tmp_path / file) == _messages(kept / file), file


def test_they_are_small() -> None:
    kept = template_root() / "samples"
    assert sum(path.stat().st_size for path in kept.rglob("*") if path.is_file()) < 100_000


def _messages(path: Path) -> object:
    match path.suffix:
        case ".avro":
            with path.open("rb") as file:
                reader = fastavro.reader(file)
                return reader.writer_schema, list(reader)
        case ".parquet":
            return pyarrow.parquet.read_table(path).to_pylist()
        case _:
            return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
