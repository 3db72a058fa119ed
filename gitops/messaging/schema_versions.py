"""The versions of a producer's schemas: a local map, and one request for each that is missing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, Literal

from gitops.messaging.values.schema import ValueSchema

MultiSchema = Literal["disabled", "enabled", "auto"]
Version = bytes
"""As the broker names it, and as it is in a message's metadata; empty for no schema."""
Ask = Callable[[ValueSchema], Awaitable[Version]]


class SchemaVersions:
    """Shared by all partitions of a producer, since a schema belongs to the topic (PIP-43).

    Requests are made one after another, in the order in which their schemas are met first, so
    that versions are, too. A refusal is not kept: a later message asks again.
    """

    def __init__(self) -> None:
        self._known: dict[bytes, Version] = {}
        self._asked: dict[bytes, asyncio.Task[Version]] = {}
        self._turn: Final = asyncio.Lock()

    def keep(self, schema: ValueSchema, version: Version) -> None:
        """Remember the version of a schema that the broker named."""
        self._known[schema.digest] = version

    def find(self, schema: ValueSchema) -> Version | None:
        """The version of a schema, None where it is not known yet."""
        return self._known.get(schema.digest)

    def ask(self, schema: ValueSchema, ask: Ask) -> asyncio.Task[Version]:
        """The request for a schema's version; while it is under way all who miss it share it."""
        task = self._asked.get(schema.digest)
        if task is None:
            task = asyncio.create_task(self._ask(schema, ask))
            self._asked[schema.digest] = task
        return task

    async def close(self) -> None:
        """End the requests that are under way."""
        tasks = list(self._asked.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _ask(self, schema: ValueSchema, ask: Ask) -> Version:
        try:
            async with self._turn:
                version = await ask(schema)
            self.keep(schema, version)
            return version
        finally:
            del self._asked[schema.digest]
