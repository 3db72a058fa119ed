"""How fast Avro payloads are checked against a reader, in one process on one core.

The orders of `replay_data`, in batches as a source yields them: this project's kernel, with a
reason for each row that fails and counts for each field, against
`fastavro.schemaless_reader(writer, reader)` row by row, in alternating rounds. Seconds are of the
processor. Also this project's reader of single rows, batches of other sizes, and a reader for which
each row has a text to check as a UUID and a moment that becomes another.

    python -m benchmarks.bench_replay_kernel [--rows 100000] [--slow-rows 5000] [--rounds 7]
"""

from __future__ import annotations

import argparse
import copy
import io
import json
import statistics
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parents[1]))

import fastavro
import numpy
import pyarrow

from benchmarks.replay_data import WRITER, avro_payloads, reader
from gitops.replay.kernel.avro.kernel import avro_kernel, avro_row_reader
from gitops.replay.kernel.protocol import Unreadable
from gitops.schemas.avro.parser import AVRO_1_11

parse = AVRO_1_11.parse

SIZES: Final = (10_000, 50_000, 1_000, 100)
"""Rows of a batch, what a source yields first."""

FAST: Final = "fastavro.schemaless_reader"
LOGICAL: Final = ", logical types"
"""Behind the names of runs that read them; their ratios are to fastavro's reader of the same."""

_ID: Final = 32
"""Digits of an order's id, which are those of a UUID."""


def main() -> None:
    """Print medians of rows per second, and how often they are fastavro's."""
    options = _options()
    payloads = avro_payloads(7, options.rows)
    few = payloads[: options.slow_rows]
    runs: dict[str, tuple[Callable[[], int], int]] = {
        **{
            f"kernel, {size} rows a batch": (
                _kernel(payloads, size, WRITER, reader()),
                len(payloads),
            )
            for size in SIZES
        },
        "single rows": (_single(few), len(few)),
        FAST: (_fastavro(few, WRITER, reader()), len(few)),
        **_logical_runs(payloads, options.slow_rows),
    }
    rates: dict[str, list[float]] = {name: [] for name in runs}
    failed: dict[str, int] = {}
    for number in range(options.rounds + 1):
        for name in runs if number % 2 else reversed(runs):
            run, rows = runs[name]
            start = time.process_time()
            failed[name] = run()
            rates[name].append(rows / (time.process_time() - start))
    _print(rates, failed)


def _print(rates: dict[str, list[float]], failed: dict[str, int]) -> None:
    """The first round of each warms up."""
    medians = {name: statistics.median(each[1:]) for name, each in rates.items()}
    for name, median in medians.items():
        fast = medians[f"{FAST}{LOGICAL if name.endswith(LOGICAL) else ''}"]
        spread = f"{min(rates[name][1:]):,.0f} to {max(rates[name][1:]):,.0f}"
        times = f"{median / fast:.1f} times fastavro, {failed[name]} rows failed"
        print(f"{name}: median {median:,.0f} rows/s ({spread}), {times}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--slow-rows", type=int, default=5_000, help="for those that take one")
    parser.add_argument("--rounds", type=int, default=7)
    return parser.parse_args()


def _logical_runs(payloads: list[bytes], few: int) -> dict[str, tuple[Callable[[], int], int]]:
    """The same orders, whose ids are UUIDs; fastavro makes values of the writer's types."""
    rows = [_with_uuid(payload) for payload in payloads]
    written, read = copy.deepcopy(WRITER), reader()
    for definition in (written, read):
        by_name = {field["name"]: field for field in definition["fields"]}
        by_name["id"]["type"] = {"type": "string", "logicalType": "uuid"}
    by_name["ts"]["type"] = {"type": "long", "logicalType": "timestamp-micros"}
    size = SIZES[0]
    return {
        f"kernel, {size} rows a batch{LOGICAL}": (_kernel(rows, size, written, read), len(rows)),
        f"{FAST}{LOGICAL}": (_fastavro(rows[:few], written, read), few),
    }


def _with_uuid(payload: bytes) -> bytes:
    """The id is the first field: its length in a byte, then its digits."""
    text = str(uuid.UUID(payload[1 : 1 + _ID].decode())).encode()
    return bytes([2 * len(text)]) + text + payload[1 + _ID :]


def _kernel(
    payloads: list[bytes], size: int, written: dict[str, Any], read: dict[str, Any]
) -> Callable[[], int]:
    kernel = avro_kernel(parse(json.dumps(written)), parse(json.dumps(read)))
    column = pyarrow.array(payloads, pyarrow.binary())
    batches = [column.slice(start, size) for start in range(0, len(column), size)]

    def run() -> int:
        return sum(int(numpy.count_nonzero(kernel.walk(batch).verdicts)) for batch in batches)

    return run


def _single(payloads: list[bytes]) -> Callable[[], int]:
    rows = avro_row_reader(parse(json.dumps(WRITER)), parse(json.dumps(reader())))

    def fails(payload: bytes) -> bool:
        try:
            rows.read(payload)
        except Unreadable:
            return True
        return False

    return lambda: sum(map(fails, payloads))


def _fastavro(
    payloads: list[bytes], written: dict[str, Any], definition: dict[str, Any]
) -> Callable[[], int]:
    writer = fastavro.parse_schema(copy.deepcopy(written))
    read = fastavro.parse_schema(definition)

    def fails(payload: bytes) -> bool:
        try:
            fastavro.schemaless_reader(io.BytesIO(payload), writer, read)
        except fastavro.read.SchemaResolutionError:
            return True
        return False

    return lambda: sum(map(fails, payloads))


if __name__ == "__main__":
    main()
