"""`capture` of a real broker's topic beside a bare reader of pulsar-client, by turns.

`--messages N` is the size of the topic (500,000), `--rounds N` how many pairs there are, and
`--scale` one capture of 5 million messages, for its memory.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.support.admin_rest import admin_request
from tests.support.pulsar_broker import RunningBroker, pulsar_broker

TOPIC: Final = "public/default/benchmark"
SCALE: Final = 5_000_000
PROGRAM: Final = Path(sys.executable).parent / "pulsar-gitops"
ENVIRONMENT: Final = {
    name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
}
"""Whoever installs the command has it compiled, and so has the benchmark."""

PAYLOAD: Final = 150
"""Bytes; a key and a property come with it."""

BARE: Final = """\
import sys
import pulsar

client = pulsar.Client(sys.argv[1], logger=pulsar.FileLogger(pulsar.LoggerLevel.Error, "/dev/null"))
reader = client.create_reader(sys.argv[2], pulsar.MessageId.earliest)
for _ in range(int(sys.argv[3])):
    reader.read_next().data()
client.close()
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One command: seconds, of which on a processor, and MiB at most."""

    seconds: float
    processor: float
    memory: float


def main() -> None:
    """Fill a topic, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=500_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--scale", action="store_true")
    chosen = parser.parse_args()
    count = SCALE if chosen.scale else chosen.messages
    with pulsar_broker() as broker, tempfile.TemporaryDirectory() as folder:
        fill(broker, count)
        pairs = [
            _pair(broker, count, Path(folder)) for _ in range(1 if chosen.scale else chosen.rounds)
        ]
    print_ratios("capture", count, pairs)


def fill(broker: RunningBroker, count: int) -> None:
    """Send so many messages to TOPIC, and have the namespace keep messages."""
    import pulsar

    url = f"{broker.admin_url}/admin/v2/namespaces/public/default/retention"
    admin_request("POST", url, {"retentionTimeInMinutes": -1, "retentionSizeInMB": -1})
    logger = pulsar.FileLogger(pulsar.LoggerLevel.Error, os.devnull)
    client = pulsar.Client(broker.service_url, logger=logger)
    producer = client.create_producer(
        f"persistent://{TOPIC}",
        batching_enabled=True,
        block_if_queue_full=True,
        max_pending_messages=10_000,
        compression_type=pulsar.CompressionType.LZ4,
    )
    started = time.monotonic()
    payload = os.urandom(PAYLOAD)
    for number in range(count):
        properties = {"source": "benchmark"}
        producer.send_async(payload, None, partition_key=f"k{number % 100}", properties=properties)
    producer.flush()
    client.close()
    print(f"sent {count:,} messages in {time.monotonic() - started:.0f} s", flush=True)


def _pair(broker: RunningBroker, count: int, folder: Path) -> tuple[Run, Run]:
    bare = timed([sys.executable, "-c", BARE, broker.service_url, TOPIC, str(count)])
    out = tempfile.mkdtemp(dir=folder)
    ours = timed([str(PROGRAM), "capture", TOPIC, "--out", out, "--url", broker.admin_url])
    print_pair("capture", count, bare, ours)
    return bare, ours


def print_pair(name: str, count: int, bare: Run, ours: Run) -> None:
    """A line for each of the two."""
    for label, one in (("bare", bare), (name, ours)):
        print(
            f"{label:8} {count / one.seconds:9,.0f} messages/s  {one.seconds:6.1f} s  processor "
            f"{one.processor:5.1f} s  {one.memory:5.0f} MiB",
            flush=True,
        )


def timed(command: Sequence[str]) -> Run:
    """Run a command to its end, which is to be a good one."""
    started = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=ENVIRONMENT)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command[0]} ended with {process.returncode}")
    return Run(
        seconds=time.monotonic() - started,
        processor=usage.ru_utime + usage.ru_stime,
        memory=usage.ru_maxrss / 1024,
    )


def print_ratios(name: str, count: int, pairs: Sequence[tuple[Run, Run]]) -> None:
    """What all pairs come to: medians, and the ratio of ours to the bare client."""
    ratios = sorted(bare.seconds / ours.seconds for bare, ours in pairs)
    work = statistics.median(bare.processor / ours.processor for bare, ours in pairs)
    rates = [
        statistics.median(count / each.seconds for each in side)
        for side in zip(*pairs, strict=True)
    ]
    memory = max(ours.memory for _, ours in pairs)
    print(
        f"{count:,} messages: bare {rates[0]:,.0f}, {name} {rates[1]:,.0f} messages/s; {name} "
        f"{statistics.median(ratios):.2f} of the bare rate ({ratios[0]:.2f} to {ratios[-1]:.2f}), "
        f"{work:.2f} by processor time; at most {memory:.0f} MiB"
    )


if __name__ == "__main__":
    main()
