"""Requests that are tried again, with longer and longer pauses."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterator
from typing import Final, TypeVar

from gitops.messaging.errors import BrokerRefusedError, ConnectionFailedError

_T = TypeVar("_T")
_FIRST_DELAY: Final = 0.1
_LONGEST_DELAY: Final = 10.0
"""Seconds between tries. Java's client begins so, and goes up to 60 s (Pulsar 4.0.7): of the 30 s
that a message has, one try would then last more than half."""
_JITTER: Final = 0.1


def delays() -> Iterator[float]:
    """Seconds to wait before each try: twice as long each time, less a share of up to a tenth."""
    longest = _FIRST_DELAY
    while True:
        yield longest * (1 - _JITTER * random.random())  # noqa: S311 - no secret
        longest = min(2 * longest, _LONGEST_DELAY)


async def retry(request: Callable[[], Awaitable[_T]], seconds: float) -> _T:
    """What the request answers, tried again after errors that may pass, for so many seconds.

    Raises the last error: BrokerRefusedError, ConnectionFailedError.
    """
    loop = asyncio.get_running_loop()
    last = loop.time() + seconds
    for delay in delays():
        try:
            return await request()
        except (BrokerRefusedError, ConnectionFailedError) as error:
            passes = not isinstance(error, BrokerRefusedError) or error.is_retriable
            if not passes or loop.time() + delay > last:
                raise
        await asyncio.sleep(delay)
    raise AssertionError("delays never end")
