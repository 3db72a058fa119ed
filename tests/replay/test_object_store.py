"""Samples in an object store, read by pyarrow: the report is that of the same files on disk."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("moto")

from tests.support.object_store import object_store
from tests.support.stored_samples import (
    BUCKET,
    on_disk,
    replayed,
    write_repository,
)


def test_s3_is_read_without_spark_as_the_disk_is(tmp_path: Path) -> None:
    write_repository(tmp_path / "repo")
    with object_store(BUCKET, tmp_path / "repo") as clients:
        environment = {**os.environ, **clients}
        expected = on_disk(tmp_path / "repo", environment)
        place = f"s3://{BUCKET}/samples"
        found = replayed(tmp_path / "repo", place, environment, "--engine", "local")
    assert "a%20ü+.jsonl#72" in expected
    assert json.loads(expected)["rows"] == 602
    assert found == expected
