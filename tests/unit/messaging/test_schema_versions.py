"""The map of versions: requests in order, shared, and repeated after a refusal."""

from __future__ import annotations

import asyncio

import pytest

from gitops.messaging.errors import BrokerRefusedError
from gitops.messaging.schema_versions import SchemaVersions
from gitops.messaging.values.schema import ValueSchema
from tests.support.message_schemas import avro

FIRST, SECOND, THIRD = avro(), avro("a"), avro("b")


class Broker:
    """Names the order in which schemas come as their versions, and refuses some once."""

    def __init__(self, *refused: ValueSchema) -> None:
        self.asked: list[ValueSchema] = []
        self._refused = list(refused)

    async def version_of(self, schema: ValueSchema) -> bytes:
        self.asked.append(schema)
        await asyncio.sleep(0)
        if schema in self._refused:
            self._refused.remove(schema)
            raise BrokerRefusedError("IncompatibleSchema", "no")
        return bytes([len(self.asked)])


def test_each_schema_is_asked_for_once_and_in_order() -> None:
    async def main() -> None:
        broker, versions = Broker(), SchemaVersions()
        wanted = [SECOND, FIRST, SECOND, THIRD, FIRST]
        found = await asyncio.gather(*(versions.ask(one, broker.version_of) for one in wanted))
        assert broker.asked == [SECOND, FIRST, THIRD]
        assert found == [b"\1", b"\2", b"\1", b"\3", b"\2"]
        assert versions.find(avro("a")) == b"\1"
        assert versions.find(avro("c")) is None

    asyncio.run(main())


def test_a_refusal_is_shared_but_not_kept() -> None:
    async def main() -> None:
        broker, versions = Broker(FIRST), SchemaVersions()
        asked = [versions.ask(FIRST, broker.version_of) for _ in range(3)]
        found = await asyncio.gather(*asked, return_exceptions=True)
        assert [type(each) for each in found] == [BrokerRefusedError] * 3
        assert versions.find(FIRST) is None
        assert await versions.ask(FIRST, broker.version_of) == b"\2"

    asyncio.run(main())


def test_what_is_asked_for_ends_with_the_producer() -> None:
    async def never(_schema: ValueSchema) -> bytes:
        await asyncio.Event().wait()
        return b""

    async def main() -> None:
        versions = SchemaVersions()
        task = versions.ask(FIRST, never)
        await versions.close()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
