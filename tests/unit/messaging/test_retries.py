"""Pauses between tries, and what is tried again."""

from __future__ import annotations

import asyncio
from itertools import islice

import pytest

from gitops.messaging.errors import BrokerRefusedError, ConnectionFailedError
from gitops.messaging.retries import delays, retry


def test_pauses_grow_to_ten_seconds() -> None:
    longest = [min(0.1 * 2**n, 10) for n in range(14)]
    found = list(islice(delays(), 14))
    assert all(0.9 * one <= pause <= one for one, pause in zip(longest, found, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("error", "tries"),
    [
        (ConnectionFailedError("gone"), 2),
        (BrokerRefusedError("ServiceNotReady", "later"), 2),
        (BrokerRefusedError("TopicNotFound", "no"), 1),
    ],
)
def test_what_may_pass_is_tried_again(error: Exception, tries: int) -> None:
    made: list[int] = []

    async def request() -> int:
        made.append(1)
        if len(made) == 1:
            raise error
        return 7

    async def main() -> int:
        return await retry(request, 10)

    if tries == 1:
        with pytest.raises(BrokerRefusedError):
            asyncio.run(main())
    else:
        assert asyncio.run(main()) == 7
    assert len(made) == tries


def test_the_last_error_is_raised_at_the_end() -> None:
    async def request() -> None:
        raise ConnectionFailedError("gone")

    with pytest.raises(ConnectionFailedError, match="gone"):
        asyncio.run(retry(request, 0))
