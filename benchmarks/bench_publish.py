"""`publish` of a capture to a real broker beside a bare loop of pulsar-client's producer, by turns.

Both send the same messages in batches: 150 bytes, a key, a property. `--messages N` is how many
(500,000), `--rounds N` how many pairs there are.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import uuid
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.bench_capture import (
    PAYLOAD,
    PROGRAM,
    TOPIC,
    Run,
    fill,
    print_pair,
    print_ratios,
    timed,
)
from tests.support.pulsar_broker import RunningBroker, pulsar_broker

BARE: Final = """\
import os
import sys
import pulsar

client = pulsar.Client(sys.argv[1], logger=pulsar.FileLogger(pulsar.LoggerLevel.Error, "/dev/null"))
producer = client.create_producer(
    sys.argv[2], batching_enabled=True, block_if_queue_full=True, max_pending_messages=10_000
)
payload = os.urandom(int(sys.argv[4]))
for number in range(int(sys.argv[3])):
    properties = {"source": "benchmark"}
    producer.send_async(payload, None, partition_key=f"k{number % 100}", properties=properties)
producer.flush()
client.close()
"""


def main() -> None:
    """Capture a topic, publish it, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=500_000)
    parser.add_argument("--rounds", type=int, default=7)
    chosen = parser.parse_args()
    with pulsar_broker() as broker, tempfile.TemporaryDirectory() as folder:
        fill(broker, chosen.messages)
        capture = [str(PROGRAM), "capture", TOPIC, "--out", folder, "--url", broker.admin_url]
        timed(capture)
        pairs = [_pair(broker, chosen.messages, folder) for _ in range(chosen.rounds)]
    print_ratios("publish", chosen.messages, pairs)


def _pair(broker: RunningBroker, count: int, folder: str) -> tuple[Run, Run]:
    """Each to a topic of its own."""
    topics = [f"public/default/copy-{uuid.uuid4().hex}" for _ in range(2)]
    script = [sys.executable, "-c", BARE, broker.service_url, topics[0], str(count), str(PAYLOAD)]
    bare = timed(script)
    ours = timed([str(PROGRAM), "publish", folder, "--to", topics[1], "--url", broker.admin_url])
    print_pair("publish", count, bare, ours)
    return bare, ours


if __name__ == "__main__":
    main()
