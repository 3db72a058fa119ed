"""A Java program of the tests, compiled against Pulsar's classes and run."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.support.pulsar_class_path import (
    QUICK_START,
    BrokerUnavailableError,
    class_path,
    find_java,
)

_RUN_SECONDS: Final = 300


class JavaProgram:
    """The main class of `source`, compiled into `classes`; raises BrokerUnavailableError."""

    def __init__(self, source: Path, classes: Path, *others: Path) -> None:
        javac = shutil.which("javac")
        if javac is None:
            raise BrokerUnavailableError(
                "no javac on the PATH (a JDK of version 17 or later has it)"
            )
        self._name = source.stem
        self._environment = {**os.environ, "CLASSPATH": f"{classes}{os.pathsep}{class_path()}"}
        sources = map(str, (source, *others))
        quick = [f"-J{flag}" for flag in QUICK_START]
        self._run([javac, *quick, "-proc:none", "-nowarn", "-d", str(classes), *sources])

    def run(self, *arguments: str, lines: str = "") -> list[str]:
        """The lines that it prints behind `> ` when it is given `lines`."""
        said = self._run([find_java(), *QUICK_START, "-Xmx512m", self._name, *arguments], lines)
        return [line[2:] for line in said.splitlines() if line.startswith("> ")]

    def _run(self, command: Sequence[str], lines: str = "") -> str:
        done = subprocess.run(
            command,
            env=self._environment,
            input=lines,
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=_RUN_SECONDS,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout
