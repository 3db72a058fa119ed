"""How fast Avro payloads are checked against a reader, in one process on one core.

The orders of `replay_data`, in batches as a source yields them: this project's kernel, with a
reason for each row that fails and counts for each field, against
`fastavro.schemaless_reader(writer, reader)` row by row, in alternating rounds. Seconds are of the
processor. Also this project's reader of single rows, and batches of other sizes.

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
from collections.abc import Callable
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).parents[1]))

import fastavro
import numpy
import pyarrow

from benchmarks.replay_data import WRITER, avro_payloads, reader
from gitops.compatibility.avro.parser import parse
from gitops.replay.kernel.avro.kernel import avro_kernel, avro_row_reader
from gitops.replay.kernel.walk import Unreadable

SIZES: Final = (10_000, 50_000, 1_000, 100)
"""Rows of a batch, what a source yields first."""

FAST: Final = "fastavro.schemaless_reader"


def main() -> None:
    """Print medians of rows per second, and how often they are fastavro's."""
    options = _options()
    payloads = avro_payloads(7, options.rows)
    few = payloads[: options.slow_rows]
    runs: dict[str, tuple[Callable[[], int], int]] = {
        **{
            f"kernel, {size} rows a batch": (_kernel(payloads, size), len(payloads))
            for size in SIZES
        },
        "single rows": (_single(few), len(few)),
        FAST: (_fastavro(few), len(few)),
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
        spread = f"{min(rates[name][1:]):,.0f} to {max(rates[name][1:]):,.0f}"
        times = f"{median / medians[FAST]:.1f} times fastavro, {failed[name]} rows failed"
        print(f"{name}: median {median:,.0f} rows/s ({spread}), {times}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--slow-rows", type=int, default=5_000, help="for those that take one")
    parser.add_argument("--rounds", type=int, default=7)
    return parser.parse_args()


def _kernel(payloads: list[bytes], size: int) -> Callable[[], int]:
    kernel = avro_kernel(parse(json.dumps(WRITER)), parse(json.dumps(reader())))
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


def _fastavro(payloads: list[bytes]) -> Callable[[], int]:
    writer = fastavro.parse_schema(copy.deepcopy(WRITER))
    read = fastavro.parse_schema(reader())

    def fails(payload: bytes) -> bool:
        try:
            fastavro.schemaless_reader(io.BytesIO(payload), writer, read)
        except fastavro.read.SchemaResolutionError:
            return True
        return False

    return lambda: sum(map(fails, payloads))


if __name__ == "__main__":
    main()
