"""How long requests may take: each with all its tries, and all those of one command together."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple, final


class Deadline(NamedTuple):
    """The end of one request's time.

    `at` is in seconds of `now`; `seconds` is how much time there was, and `key` says of what:
    `request`, or `run` for all requests of the command together.
    """

    at: float
    seconds: float
    key: str
    now: Callable[[], float]

    @property
    def limit(self) -> str:
        """The time that there was, and where it is set, for people."""
        return f"{self.seconds:g} s (`timeouts.{self.key}`)"

    @property
    def left(self) -> float:
        """Seconds until the end, 0 after it."""
        return max(0.0, self.at - self.now())

    def within(self, seconds: float) -> float:
        """The time for one step: `seconds`, or what is left; raises TimeoutError for nothing."""
        left = self.at - self.now()
        if left <= 0:
            raise TimeoutError
        return min(seconds, left)


@final
class Deadlines:
    """Deadlines of the requests that one command makes to one registry, from its first one on."""

    def __init__(
        self, *, request: float, run: float, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._request = request
        self._run = run
        self._now = now
        self._run_end: float | None = None

    def begin(self) -> Deadline:
        """The deadline of a request that begins now; that of the command may have passed."""
        now = self._now()
        if self._run_end is None:
            self._run_end = now + self._run
        if self._run_end < now + self._request:
            return Deadline(self._run_end, self._run, "run", self._now)
        return Deadline(now + self._request, self._request, "request", self._now)
