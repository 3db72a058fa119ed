"""Avro for Java in one warm JVM, over the class path of a Pulsar broker."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from tests.support.pulsar_class_path import BrokerUnavailableError, class_path, find_java

_SOURCE = Path(__file__).parent / "java" / "SchemaPairs.java"


@dataclass(frozen=True, slots=True)
class JavaRound:
    """Seconds that one round took, and how many pairs are compatible."""

    parse: float
    schema_compatibility: float
    schema_validator: float
    compatible: int


class AvroJava:
    """The running JVM."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def round(self) -> JavaRound:
        """Parse and check all pairs once."""
        asked, answers = _open(self._process.stdin), _open(self._process.stdout)
        asked.write("\n")
        asked.flush()
        parse, compatibility, validator, compatible = answers.readline().split()
        return JavaRound(float(parse), float(compatibility), float(validator), int(compatible))


def _open(stream: IO[str] | None) -> IO[str]:
    if stream is None:
        raise RuntimeError("the JVM was started without pipes")
    return stream


@contextmanager
def avro_java(pairs: Sequence[tuple[str, str]], warm_up: int) -> Iterator[AvroJava]:
    """A JVM that has done `warm_up` rounds; raises BrokerUnavailableError."""
    javac = shutil.which("javac")
    if javac is None:
        raise BrokerUnavailableError("no javac on the PATH")
    java, jars = find_java(), class_path()
    with tempfile.TemporaryDirectory() as folder:
        texts = Path(folder) / "pairs.txt"
        texts.write_text("".join(f"{text}\n" for pair in pairs for text in pair))
        subprocess.run([javac, "-cp", jars, "-d", folder, str(_SOURCE)], check=True)
        command = [java, "-Xmx1g", "-cp", f"{folder}:{jars}", "SchemaPairs", str(texts)]
        pipe = subprocess.PIPE
        with subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True
        ) as process:
            running = AvroJava(process)
            for _ in range(warm_up):
                running.round()
            yield running
            _open(process.stdin).close()
