"""A Pulsar proxy on loopback that cuts connections after chosen bytes; its broker may change."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final
from urllib.parse import urlsplit

from gitops.messaging.wire import pulsar_api_pb2 as api
from gitops.messaging.wire.frames import command_frame

_LATE: Final = 0.02
"""Seconds."""


class CuttingProxy:
    """Passes bytes on until `budget()` of them have gone one way, then ends both sides.

    It tells clients to come to it for every broker, as a Pulsar proxy does. `budget` is asked once
    for each direction of a connection; None lets it live.
    """

    def __init__(self, upstream: str, budget: Callable[[], int | None]) -> None:
        self.url = ""
        self.upstream = upstream
        self.budget = budget
        self.cuts = 0
        self._tasks: set[asyncio.Task[None]] = set()

    def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Start to pass on a connection."""
        task = asyncio.create_task(self._pass_on(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """End all connections."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        address = urlsplit(self.upstream)
        try:
            broker_reader, broker_writer = await asyncio.open_connection(
                address.hostname, address.port
            )
        except OSError:
            writer.transport.abort()
            return
        ways = (
            asyncio.create_task(self._copy(reader, broker_writer)),
            asyncio.create_task(self._copy_answers(broker_reader, writer)),
        )
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            writer.transport.abort()
            broker_writer.transport.abort()

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        left = self.budget()
        while data := await reader.read(1 << 16):
            left = await self._write(writer, data, left)

    async def _copy_answers(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        left = self.budget()
        while True:
            head = await reader.readexactly(4)
            frame = await reader.readexactly(struct.unpack(">I", head)[0])
            left = await self._write(writer, _through_here(head + frame), left)

    async def _write(
        self, writer: asyncio.StreamWriter, data: bytes, left: int | None
    ) -> int | None:
        """Write as much as the budget allows; raises ConnectionError where it ends.

        Every other cut is a little late, so that what came through is answered in part.
        """
        writer.write(data if left is None else data[:left])
        await writer.drain()
        if left is None or len(data) < left:
            return None if left is None else left - len(data)
        self.cuts += 1
        await asyncio.sleep(_LATE * (self.cuts % 2))
        raise ConnectionAbortedError


def _through_here(frame: bytes) -> bytes:
    """The frame; the answer to a lookup leads through the proxy."""
    command = api.BaseCommand.FromString(frame[8 : 8 + struct.unpack_from(">I", frame, 4)[0]])
    if command.type != api.BaseCommand.LOOKUP_RESPONSE:
        return frame
    command.lookupTopicResponse.proxy_through_service_url = True
    return command_frame(command)


@asynccontextmanager
async def cutting_proxy(
    upstream: str, budget: Callable[[], int | None]
) -> AsyncIterator[CuttingProxy]:
    """The proxy while the block runs."""
    proxy = CuttingProxy(upstream, budget)
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.url = f"pulsar://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield proxy
    finally:
        server.close()
        await proxy.close()
        await server.wait_closed()
