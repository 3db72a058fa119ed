"""Messages of many schemas in one topic: a Java client and pulsar-client read what was sent."""

from __future__ import annotations

import asyncio
import json
import random
import uuid
from pathlib import Path
from typing import Any, Final

import pytest

from gitops.messaging.client import MessagingClient
from gitops.messaging.settings import ProducerSettings
from gitops.messaging.wire.compression import CompressionName
from gitops.model.names import NamespaceName
from tests.support.admin_rest import admin_request
from tests.support.java_program import JavaProgram
from tests.support.message_schemas import MIXED, PARCEL, value_for
from tests.support.pulsar_broker import RunningBroker
from tests.support.pulsar_class_path import BrokerUnavailableError
from tests.support.topic_reader import read_topic

pytestmark = pytest.mark.broker

COUNT: Final = 60
COMPRESSIONS: Final[tuple[CompressionName, ...]] = ("NONE", "LZ4", "ZLIB", "ZSTD", "SNAPPY")
TYPES: Final = {
    "avro": "AVRO",
    "avro with a note": "AVRO",
    "json": "JSON",
    "protobuf": "PROTOBUF_NATIVE",
    "inline": "KEY_VALUE",
    "separated": "KEY_VALUE",
}
SHOWN: Final = {
    "avro": "id:{0}",
    "avro with a note": "id:{0} note:é",
    "json": '{{"id":"{0}","note":"é"}}',
    "protobuf": "id:{0} grams:{0}",
    "inline": "k{0}=id:{0}",
    "separated": "k{0}=id:{0} note:é",
}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> JavaProgram:
    """The compiled scenario; skips where there is no Java or no Maven."""
    try:
        source = Path(__file__).with_name("MessageScenario.java")
        return JavaProgram(source, tmp_path_factory.mktemp("classes"))
    except BrokerUnavailableError as error:
        pytest.skip(str(error))


@pytest.fixture
def topic(pulsar: RunningBroker, pulsar_namespace: NamespaceName) -> str:
    """A topic that accepts schemas of any type, one after the other."""
    if not pulsar.service_url:
        pytest.skip("PULSAR_SERVICE_URL does not say where the broker's own protocol listens")
    url = f"{pulsar.admin_url}/admin/v2/namespaces/{pulsar_namespace}"
    admin_request("PUT", f"{url}/schemaCompatibilityStrategy", "ALWAYS_COMPATIBLE")
    return f"persistent://{pulsar_namespace}/mixed-{uuid.uuid4().hex[:8]}"


def names(seed: int) -> list[str]:
    """Which schema each message has: every one early, then runs of one, so that batches form."""
    random_one = random.Random(seed)  # noqa: S311 - no secret
    found = list(MIXED)
    while len(found) < COUNT:
        found += [random_one.choice(list(MIXED))] * random_one.choice((1, 1, 2, 5))
    return found[:COUNT]


async def send(service_url: str, topic: str, wanted: list[str], name: CompressionName) -> None:
    settings = ProducerSettings(multi_schema="enabled", compression=name, batch_delay=0.05)
    async with MessagingClient(service_url) as client:
        producer = await client.producer(topic, MIXED["avro"], settings)
        for number, schema in enumerate(wanted):
            message = producer.new_message(MIXED[schema]).value(value_for(schema, number))
            await message.event_time(1000 + number).property("n", schema).enqueue()
        await producer.flush()


@pytest.mark.parametrize("name", COMPRESSIONS)
def test_java_and_python_read_each_message_with_its_own_schema(
    pulsar: RunningBroker, topic: str, program: JavaProgram, name: CompressionName
) -> None:
    wanted = names(COMPRESSIONS.index(name))
    asyncio.run(send(pulsar.service_url, topic, wanted, name))
    java = [line.split("|") for line in program.run(pulsar.service_url, topic, str(COUNT))]
    versions = [str(list(MIXED).index(schema)) for schema in wanted]
    assert [line[0] for line in java] == versions
    assert [line[1] for line in java] == [TYPES[schema] for schema in wanted]
    assert [line[3] for line in java] == [str(number) for number in range(COUNT)]
    assert [line[4] for line in java] == [f"{{n={schema}}}" for schema in wanted]
    assert [line[5] for line in java] == [str(1000 + number) for number in range(COUNT)]
    assert [line[6] for line in java] == [
        SHOWN[schema].format(number) for number, schema in enumerate(wanted)
    ]
    python = read_topic(pulsar.service_url, topic)
    assert [str(message.version) for message in python] == versions
    for number, (schema, (_, key, data)) in enumerate(zip(wanted, python, strict=True)):
        assert decode(schema, key, data) == value_for(schema, number)


def decode(schema: str, key: str, data: bytes) -> Any:  # noqa: ANN401 - a value of any schema
    """The value, by means that are not ours."""
    import base64
    import io

    import fastavro

    def avro(definition: str, payload: bytes) -> Any:  # noqa: ANN401 - as above
        return fastavro.schemaless_reader(io.BytesIO(payload), json.loads(definition), None)

    match schema:
        case "avro" | "avro with a note":
            return avro(MIXED[schema].info.schema, data)
        case "json":
            return json.loads(data)
        case "protobuf":
            return PARCEL.FromString(data)
        case "separated":
            return base64.b64decode(key).decode(), json.loads(data)
        case _:
            size = int.from_bytes(data[:4], "big")
            return data[4 : 4 + size].decode(), avro(MIXED["avro"].info.schema, data[8 + size :])
