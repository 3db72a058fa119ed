"""Times the producer of several schemas beside `pulsar-client` and Pulsar's Java client.

All take turns on one broker that is started, each round in another order: messages of one schema
in batches, as values of a record and as bytes that are encoded already; and messages each of which
has another schema than the one before, which `pulsar-client` can only send with a new producer.

    python benchmarks/bench_messages.py [--rounds 7] [--messages 50000]
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import pulsar

from gitops.messaging.client import MessagingClient
from gitops.messaging.settings import ProducerSettings
from gitops.messaging.values.schema import BytesSchema, ValueSchema
from gitops.messaging.values.table import value_schema
from gitops.model.schema import SchemaInfo, SchemaType
from tests.support.java_program import JavaProgram
from tests.support.pulsar_broker import pulsar_broker

VALUE: Final = {"id": "order-12345", "amount": 12.5, "count": 3}
SCHEMAS: Final = 5
REOPENED: Final = 100
"""How many messages the client that opens a producer for each of them sends in a round."""
JAVA: Final = Path(__file__).with_name("java") / "MessageRates.java"


def definition(number: int) -> dict[str, Any]:
    """A record of three fields, and of as many optional ones as its number."""
    fields: list[dict[str, Any]] = [
        {"name": "id", "type": "string"},
        {"name": "amount", "type": "double"},
        {"name": "count", "type": "int"},
    ]
    more = [{"name": f"f{n}", "type": ["null", "string"], "default": None} for n in range(number)]
    return {"type": "record", "name": "Order", "fields": fields + more}


DEFINITIONS: Final = [definition(number) for number in range(SCHEMAS)]
OURS: Final = [
    value_schema(SchemaInfo(type=SchemaType.AVRO, schema=json.dumps(one))) for one in DEFINITIONS
]


def main() -> None:
    """Measure, and print medians."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--messages", type=int, default=50_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, pulsar_broker() as broker:
        contestants = _contestants(broker.service_url, Path(folder), options.messages)
        rates: dict[str, list[float]] = {name: [] for name in contestants}
        for number in range(options.rounds):
            names = list(contestants)
            for name in names[number % len(names) :] + names[: number % len(names)]:
                rates[name].append(contestants[name]())
        _print(rates)


def _contestants(url: str, folder: Path, count: int) -> Mapping[str, Callable[[], float]]:
    java = JavaProgram(JAVA, folder)
    files = [folder / f"{number}.avsc" for number in range(SCHEMAS)]
    for file, one in zip(files, DEFINITIONS, strict=True):
        file.write_text(json.dumps(one))
    payload = OURS[0].encode(VALUE)
    raw = BytesSchema(OURS[0].info)
    avro = pulsar.schema.AvroSchema(None, DEFINITIONS[0])
    return {
        "one schema, values: ours": lambda: asyncio.run(ours(url, count, [OURS[0]], VALUE)),
        "one schema, values: pulsar-client": lambda: theirs(url, count, avro, VALUE),
        "one schema, bytes: ours": lambda: asyncio.run(ours(url, count, [raw], payload)),
        "one schema, bytes: pulsar-client": lambda: theirs(
            url, count, pulsar.schema.BytesSchema(), payload
        ),
        "a switch each: ours": lambda: asyncio.run(ours(url, count, OURS, VALUE)),
        "a switch each: pulsar-client, a producer each": lambda: reopened(url),
        "a switch each: Java": lambda: float(
            java.run(url, topic(), str(count), *map(str, files))[0]
        ),
    }


async def ours(url: str, count: int, schemas: list[ValueSchema], value: object) -> float:
    """Messages a second of our producer, whose schemas take turns."""
    settings = ProducerSettings(multi_schema="enabled")
    async with MessagingClient(url) as client:
        producer = await client.producer(topic(), schemas[0], settings)
        for schema in schemas * 20:  # every version is known, as in each client that is compared
            await producer.new_message(schema).value(value).enqueue()
        await producer.flush()
        start = time.perf_counter()
        for schema in itertools.islice(itertools.cycle(schemas), count):
            await producer.new_message(schema).value(value).enqueue()
        await producer.flush()
        return count / (time.perf_counter() - start)


def theirs(url: str, count: int, schema: Any, value: object) -> float:  # noqa: ANN401 - no types
    """Messages a second of `pulsar-client` with the same bounds."""
    client = pulsar.Client(url, logger=pulsar.ConsoleLogger(pulsar.LoggerLevel.Error))
    try:
        producer = client.create_producer(
            topic(),
            schema=schema,
            batching_enabled=True,
            batching_max_publish_delay_ms=1,
            block_if_queue_full=True,
            max_pending_messages=10_000,
        )
        for _ in range(100):
            producer.send_async(value, _sent)
        producer.flush()
        start = time.perf_counter()
        for _ in range(count):
            producer.send_async(value, _sent)
        producer.flush()
        return count / (time.perf_counter() - start)
    finally:
        client.close()


def reopened(url: str) -> float:
    """Messages a second where each needs a producer of its own, since it has another schema."""
    client = pulsar.Client(url, logger=pulsar.ConsoleLogger(pulsar.LoggerLevel.Error))
    schemas = [pulsar.schema.AvroSchema(None, one) for one in DEFINITIONS]
    name = topic()
    try:
        for schema in schemas:
            client.create_producer(name, schema=schema).close()
        start = time.perf_counter()
        for schema in itertools.islice(itertools.cycle(schemas), REOPENED):
            producer = client.create_producer(name, schema=schema)
            producer.send(VALUE)
            producer.close()
        return REOPENED / (time.perf_counter() - start)
    finally:
        client.close()


def topic() -> str:
    """One that nobody used."""
    return f"persistent://public/default/bench-{uuid.uuid4().hex}"


def _sent(result: object, _message_id: object) -> None:
    if result != pulsar.Result.Ok:
        raise SystemExit(f"a message was not sent: {result}")


def _print(rates: Mapping[str, list[float]]) -> None:
    medians = {name: statistics.median(found) for name, found in rates.items()}
    for name, found in rates.items():
        spread = f"{min(found):,.0f} to {max(found):,.0f}"
        print(f"{name:48} {medians[name]:>10,.0f} messages/s ({spread})")
    for mine, other in (
        ("one schema, values: ours", "one schema, values: pulsar-client"),
        ("one schema, bytes: ours", "one schema, bytes: pulsar-client"),
        ("a switch each: ours", "a switch each: pulsar-client, a producer each"),
        ("a switch each: ours", "a switch each: Java"),
    ):
        ratios = [one / two for one, two in zip(rates[mine], rates[other], strict=True)]
        print(f"{mine} / {other}: {statistics.median(ratios):.2f}")


if __name__ == "__main__":
    main()
