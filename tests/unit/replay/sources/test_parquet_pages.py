"""Parquet files that are small on disk and large in memory are read in bounded memory, or told."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow
import pyarrow.parquet
import pytest

from gitops.replay.sources.parquet import (
    MOST_DICTIONARY,
    MOST_PAGE,
    PageSizes,
    ParquetSource,
    check_pages,
)
from gitops.replay.sources.source import File, Part, UnreadableError
from tests.support.source_rows import Known, whole

ROOT: Final = Path(__file__).parents[4]
READ: Final = """\
import re, sys
from pathlib import Path
from gitops.replay.sources.parquet import ParquetSource
from gitops.replay.sources.source import File, Part, UnreadableError
file = File(name="samples/a.parquet", uri=sys.argv[1], size=0)
class NoKeys:
    def need_keys(self, owners):
        return False
source, rows = ParquetSource(), 0
try:
    for part in source.parts(Part(owners=(), format="parquet", file=file)):
        rows += sum(batch.num_rows for batch in source.batches(part, NoKeys()))
except UnreadableError as error:
    print(error)
print(rows, int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) < 2**20)
"""
"""The most memory in KiB; ru_maxrss starts with that of the process which starts this one."""


@dataclass
class Chunk:
    """What a footer says of one column."""

    total_compressed_size: int
    path_in_schema: str = "payload"
    data_page_offset: int = 4
    has_dictionary_page: bool = False
    dictionary_page_offset: int | None = None


def number(value: int) -> bytes:
    value, found = (value << 1) ^ (value >> 63), bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])


def page(kind: int, unpacked: int, packed: int = 3) -> bytes:
    """A header whose last field is a struct with a text and a list, and what follows it."""
    fields = b"".join(b"\x15" + number(each) for each in (kind, unpacked, packed))
    return fields + b"\x2c\x18\x02ab\x19\x25\x02\x04\x11\x00\x00" + b"x" * packed


def check(folder: Path, data: bytes) -> PageSizes:
    place = folder / "a.parquet"
    place.write_bytes(b"PAR1" + data)
    file = File(name="a.parquet", uri=str(place), size=0)
    return check_pages(Part(owners=(), format="parquet", file=file), Chunk(len(data)))


def test_all_pages_are_looked_at(tmp_path: Path) -> None:
    assert check(tmp_path, page(2, 700) + page(0, MOST_PAGE) + page(3, 0)) == (700, MOST_PAGE)


@pytest.mark.parametrize(
    ("kind", "unpacked", "told"),
    [
        (
            2,
            MOST_DICTIONARY + 1,
            "256 MiB when it is unpacked, more than 256 MiB: write the column",
        ),
        (0, 2**31 - 1, "2047 MiB when it is unpacked, more than 512 MiB"),
        (3, MOST_PAGE + 2**20, "513 MiB when it is unpacked, more than 512 MiB"),
    ],
)
def test_a_page_that_is_large_in_memory_is_told(
    tmp_path: Path, kind: int, unpacked: int, told: str
) -> None:
    with pytest.raises(UnreadableError, match=f"^a.parquet has a page of 'payload' that is {told}"):
        check(tmp_path, page(0, 10) + page(kind, unpacked))


@pytest.mark.parametrize(
    "data", [b"\xff" * 9, b"\x00", page(0, 10)[:4], b"\x1c" * 99, page(0, -5), b"\x1b\x01" * 9]
)
def test_what_is_no_page_is_told(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(UnreadableError, match="is broken: there is no page at byte 4"):
        check(tmp_path, data)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process its most memory")
@pytest.mark.parametrize("kind", [pyarrow.binary(), pyarrow.string(), pyarrow.large_binary()])
@pytest.mark.parametrize(
    ("size", "rows", "told"),
    [
        (20_000, 60_000, "60000 True"),
        (40_000_000, 100_000, "samples/a.parquet is more than 64 GiB when it is unpacked\n0 True"),
    ],
)
def test_one_large_value_in_many_rows_is_read_in_bounded_memory(
    tmp_path: Path, kind: pyarrow.DataType, size: int, rows: int, told: str
) -> None:
    value = pyarrow.array([b"x" * size], pyarrow.binary()).cast(kind)
    indices = pyarrow.repeat(pyarrow.scalar(0, pyarrow.int32()), rows)
    table = pyarrow.table({"payload": pyarrow.DictionaryArray.from_arrays(indices, value)})
    file = tmp_path / "a.parquet"
    pyarrow.parquet.write_table(table, file, compression="zstd", store_schema=False)
    assert file.stat().st_size < 50_000
    command = [sys.executable, "-c", READ, str(file)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == f"{told}\n"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process its most memory")
def test_values_that_share_their_beginning_are_read_in_bounded_memory(tmp_path: Path) -> None:
    table = pyarrow.table({"payload": pyarrow.array([b"x" * 2**20] * 2_000, pyarrow.binary())})
    file = tmp_path / "a.parquet"
    pyarrow.parquet.write_table(
        table,
        file,
        use_dictionary=False,
        column_encoding={"payload": "DELTA_BYTE_ARRAY"},
        write_batch_size=4_000,
    )
    assert file.stat().st_size < 2**21
    command = [sys.executable, "-c", READ, str(file)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "2000 True\n"


@pytest.mark.parametrize("rows", [0, 3])
def test_row_groups_without_rows_hold_no_pages(tmp_path: Path, rows: int) -> None:
    place = tmp_path / "a.parquet"
    table = pyarrow.table({"payload": pyarrow.array([b"x"] * rows, pyarrow.binary())})
    with pyarrow.parquet.ParquetWriter(place, table.schema) as writer:
        for each in (table.slice(0, 0), table, table.slice(0, 0)):
            writer.write_table(each)
    groups = pyarrow.parquet.read_metadata(place).num_row_groups
    assert groups >= 2
    source, found = ParquetSource(), 0
    for part in source.parts(whole(place, "parquet")):
        found += sum(batch.num_rows for batch in source.batches(part, Known()))
    assert found == rows
