"""Parts in both formats have the same messages."""

from __future__ import annotations

from pathlib import Path

import pyarrow
import pytest

from gitops.messaging.capture_files import PartFormat
from gitops.messaging.capture_parts import open_part
from gitops.messaging.capture_schema import SCHEMA
from gitops.messaging.publish_parts import CapturedMessage, count_versions, read_part
from gitops.model.errors import UsageError

ROWS = [
    {
        "topic": "t", "message_id": "1:0:-1:-1", "publish_time": 1_000 + number,
        "event_time": 7 if number else None, "key": b"\xff" if number else None,
        "key_is_base64": True if number else None, "ordering_key": None, "sequence_id": number,
        "producer_name": "p", "schema_version": 3 if number else None, "payload": b"v",
        "is_null": False, "properties": [("a", "b")], "encryption": None,
    }
    for number in range(3)
]  # fmt: skip


def written(path: Path, part_format: PartFormat) -> Path:
    with open_part(path, part_format) as part:
        part.write(pyarrow.RecordBatch.from_pylist(ROWS, SCHEMA))
    return path


@pytest.mark.parametrize("part_format", ["parquet", "avro"])
def test_a_part_is_read_as_it_was_written(tmp_path: Path, part_format: PartFormat) -> None:
    path = written(tmp_path / "part", part_format)
    first = CapturedMessage(1_000, None, None, None, None, None, b"v", {"a": "b"}, None)
    keyed = first._replace(event_time=7, key=b"\xff", key_is_base64=True, schema_version=3)
    found = [
        each._replace(properties=dict(each.properties or ()))
        for each in read_part(path, part_format)
    ]
    assert found == [
        first,
        keyed._replace(publish_time=1_001),
        keyed._replace(publish_time=1_002),
    ]
    assert count_versions(path, part_format) == {None: 1, 3: 2}


@pytest.mark.parametrize("part_format", ["parquet", "avro"])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.8])
def test_a_cut_part_is_an_error(tmp_path: Path, part_format: PartFormat, share: float) -> None:
    path = written(tmp_path / "part", part_format)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(UsageError, match="is damaged"):
        count_versions(path, part_format)
