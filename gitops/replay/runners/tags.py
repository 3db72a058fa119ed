"""The tag on the jobs of one run: Spark cancels those that have it, and leaves all others alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import uuid4

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True, kw_only=True)
class JobTag:
    """A name that no other run has; `add` and `remove` concern the jobs of the calling thread."""

    add: Callable[[], object]
    remove: Callable[[], object]
    cancel: Callable[[], object]

    @contextmanager
    def on_this_thread(self) -> Iterator[None]:
        """What this thread asks of Spark meanwhile can be cancelled; the thread is left as it was.

        Raises what Spark raises where it is gone.
        """
        self.add()
        try:
            yield
        finally:
            with suppress(Exception):  # an error of the job itself counts, not that Spark is gone
                self.remove()


def make_tag(session: SparkSession, *, connect: bool) -> JobTag:
    """A tag for one run in that session (Spark 3.5 and newer)."""
    name = f"pulsar-gitops-{uuid4().hex}"
    if connect:
        return JobTag(
            add=lambda: session.addTag(name),
            remove=lambda: session.removeTag(name),
            cancel=lambda: session.interruptTag(name),
        )
    if not _are_threads_pinned():
        return JobTag(add=_nothing, remove=_nothing, cancel=_nothing)
    context = session.sparkContext
    return JobTag(
        add=lambda: context.addJobTag(name),
        remove=lambda: context.removeJobTag(name),
        cancel=lambda: context.cancelJobsWithTag(name),
    )


def _are_threads_pinned() -> bool:
    """Whether each thread here is one of the JVM, as it is unless PYSPARK_PIN_THREAD is false.

    Otherwise a tag may get onto the job of somebody else, and not onto ours.
    """
    from py4j.clientserver import ClientServer
    from pyspark import SparkContext

    return isinstance(SparkContext._gateway, ClientServer)  # noqa: SLF001 - as pyspark.util asks


def _nothing() -> None:
    """What can be done about jobs that cannot be told from others: they are waited for."""
