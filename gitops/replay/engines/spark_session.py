"""The Spark session of a run: our own or a found one, the code for its workers, its job tag."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final
from uuid import uuid4

import msgspec

import gitops
from gitops.model.errors import UsageError, extra_hint
from gitops.replay.batches import MOST_BYTES, MOST_ROWS
from gitops.replay.engines import carried_modules
from gitops.replay.engines.spark_driver import default_master, new_session
from gitops.replay.engines.spark_errors import failure, shown
from gitops.replay.engines.spark_tasks import Work, deep_work

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# The code of this project for workers elsewhere: inside the function that they run.
#
# A session keeps each file that it is sent (addPyFile, addArtifacts) until it ends, and it may
# have been there before us. What the code imports beside the standard library has to be installed
# there: numpy, pyarrow, msgspec, and protobuf for Protobuf topics.


def carry_code(work: Work) -> Work:
    """The same function for a Python without this project, or with another version of it."""
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(carried_modules)  # type: ignore[no-untyped-call]
    digest, modules = packed_modules()
    pickled: bytes = cloudpickle.dumps(work)  # type: ignore[no-untyped-call]
    return carried_modules.carrier(digest, modules, pickled)


@cache
def packed_modules() -> tuple[str, bytes]:
    """All modules as `remote` unpacks them, and what tells them from those of another version."""
    root = Path(gitops.__file__).parent
    modules = {
        str(Path("gitops", module.relative_to(root))): module.read_text()
        for module in sorted(root.rglob("*.py"))
    }
    packed = msgspec.json.encode(modules)
    return sha256(packed).hexdigest(), zlib.compress(packed)


# The tag on the jobs of one run: Spark cancels those that have it, and leaves all others alone.


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


# The Spark session of a run: our own, or one that was found here and is left as it was.


BATCHES: Final = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(MOST_ROWS),
    "spark.sql.execution.arrow.maxBytesPerBatch": str(MOST_BYTES),
}
"""What a worker gets at once; Spark's own bounds do as well where they are not to be changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkConnection:
    """A session; where it `shares_files`, its workers see the files of this machine.

    Where it `has_code`, they run the Python of this process, with this project.
    """

    session: SparkSession
    tag: JobTag
    shares_files: bool
    has_code: bool
    cores: int

    def portable(self, work: Work) -> Work:
        """The same work, as it runs on the workers of this session."""
        work = deep_work(work)
        return work if self.has_code else carry_code(work)

    def interrupt(self) -> None:
        """End those of our jobs that are running; where Spark itself is gone, none is."""
        with suppress(Exception):
            self.tag.cancel()


@contextmanager
def open_session(
    master: str | None, stopped: Callable[[], bool] = lambda: False
) -> Iterator[SparkConnection]:
    """The session of this process, if there is one; else one of our own on `master`.

    None: on that of spark-submit or of SPARK_REMOTE, else on this machine. A session that is there
    already is left as it was: running, with its settings, files and other jobs. Raises UsageError
    where pyspark is not installed, OutsideError where Spark does not start or answer,
    KeyboardInterrupt where it is `stopped` meanwhile.
    """
    session = find_session()
    if session is not None:
        with _opened(session, "the Spark session of this process") as opened:
            yield opened
        return
    master = master or default_master()
    with new_session(master, stopped) as own, _opened(own, f"Spark on {shown(master)}") as opened:
        yield opened


def find_session() -> SparkSession | None:
    """One that the program around us has made: a notebook, or our own tests.

    It need not be the active one of this thread: Spark keeps that by thread, and whoever made a
    SparkContext alone has none. Raises UsageError where pyspark is not installed.
    """
    try:
        import pyspark
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise UsageError(
            f"--engine spark needs more than is installed: {error}",
            hint=f"{extra_hint('spark')}; or have a quick look with --engine local",
        ) from error
    connect = sys.modules.get("pyspark.sql.connect.session")
    session = _active(connect.SparkSession) if connect else None
    contexts = getattr(pyspark, "SparkContext", None)  # a client of Spark Connect alone has none
    context = contexts and contexts._active_spark_context  # noqa: SLF001 - getOrCreate makes one
    if session is None and context is not None:
        session = _active(SparkSession)
        return session if session and session.sparkContext is context else SparkSession(context)
    return session


def _active(kind: type[SparkSession]) -> SparkSession | None:
    """The session of this thread, else the one that was made first."""
    from pyspark.errors import PySparkRuntimeError

    try:
        return kind.active()
    except PySparkRuntimeError:
        return None


@contextmanager
def override_settings(session: SparkSession, settings: Mapping[str, str]) -> Iterator[bool]:
    """Settings of a session while this lasts; then they are as they were.

    Answers whether all of them were accepted: managed services refuse to change some, or to show
    them, and go on with their own.
    """
    before: dict[str, str | None] = {}
    for name, value in settings.items():
        with suppress(Exception):
            known = session.conf.get(name, None)
            session.conf.set(name, value)
            before[name] = known
    try:
        yield len(before) == len(settings)
    finally:
        with suppress(Exception):  # Spark may be gone
            for name, known in before.items():
                if known is None:
                    session.conf.unset(name)
                else:
                    session.conf.set(name, known)


@contextmanager
def _opened(session: SparkSession, what: str) -> Iterator[SparkConnection]:
    connect = is_connect(session)
    try:
        master = "" if connect else str(session.sparkContext.master)
        opened = SparkConnection(
            session=session,
            tag=make_tag(session, connect=connect),
            shares_files=master.startswith("local"),
            has_code=master == "local" or master.startswith(("local[", "local ")),
            cores=_cores(session, connect=connect),
        )
    except Exception as error:
        raise failure(error, f"{what} does not answer") from error
    with override_settings(session, BATCHES):
        yield opened


def is_connect(session: SparkSession) -> bool:
    """Its server may be on another machine, whatever master that has, and may not tell it."""
    return "connect" in type(session).__module__


def _cores(session: SparkSession, *, connect: bool) -> int:
    """How many tasks run at once; a server is asked how it would cut a range."""
    if not connect:
        return session.sparkContext.defaultParallelism
    parts = session.range(0, 1000).selectExpr("spark_partition_id() as part").distinct()
    return max(1, parts.count())
