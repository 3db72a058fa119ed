"""What Avro for Java makes of payloads, and a value as its program writes it."""

from __future__ import annotations

import json
import math
import shutil
import struct
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Final

from gitops.replay.kernel.avro.values import UnionValue
from tests.support.pulsar_class_path import BrokerUnavailableError, class_path, find_java

_SOURCE: Final = Path(__file__).parent / "java" / "AvroRows.java"
_NO_LOG: Final = Path(__file__).parents[1] / "oracle" / "log4j2-off.xml"
_NAN: Final = "0x7ff8000000000000"


class JavaRows:
    """Avro for Java, which reads rows."""

    def __init__(self, process: subprocess.Popen[str], errors: Path) -> None:
        self._process = process
        self._errors = errors

    def read(
        self,
        writer: Any,  # noqa: ANN401 - JSON
        reader: Any,  # noqa: ANN401 - JSON
        payloads: Sequence[bytes],
        *,
        classes: bool = False,
    ) -> list[dict[str, Any]]:
        """For each payload `value` and `left` (bytes behind it), or `error`.

        Into Java's `classes` of logical types they are read without telling their values.
        """
        asked, answers = _open(self._process.stdin), _open(self._process.stdout)
        question = {"writer": writer, "reader": reader, "rows": [one.hex() for one in payloads]}
        question |= {"classes": True} if classes else {}
        asked.write(json.dumps(question) + "\n")
        asked.flush()
        line = answers.readline()
        assert line, f"Java ended: {self._errors.read_text('utf-8', 'replace')}"
        found: list[dict[str, Any]] = json.loads(line)
        return found


@contextmanager
def java_rows(folder: Path) -> Iterator[JavaRows]:
    """It, compiled into `folder`, while the block runs; raises BrokerUnavailableError."""
    javac = shutil.which("javac")
    if javac is None:
        raise BrokerUnavailableError("no javac on the PATH")
    java, jars = find_java(), class_path()
    subprocess.run([javac, "-nowarn", "-cp", jars, "-d", str(folder), str(_SOURCE)], check=True)
    command = [java, "-Xmx512m", "-XX:+UseSerialGC", f"-Dlog4j2.configurationFile={_NO_LOG}"]
    pipe, said = subprocess.PIPE, folder / "errors.txt"
    with (
        said.open("wb") as errors,
        subprocess.Popen(
            [*command, "-cp", f"{folder}:{jars}", "AvroRows"],
            stdin=pipe,
            stdout=pipe,
            stderr=errors,
            encoding="utf-8",
        ) as process,
    ):
        yield JavaRows(process, said)
        with suppress(BrokenPipeError):
            _open(process.stdin).close()


def as_java_shows(value: Any) -> Any:  # noqa: ANN401 - any value that a schema can say
    """The value as the Java program writes it."""
    match value:
        case UnionValue():
            return as_java_shows(value.value)
        case float():
            bits = struct.unpack("<Q", struct.pack("<d", value))[0]
            return _NAN if math.isnan(value) else f"0x{bits:x}"
        case bytes():
            return value.decode("latin-1")
        case dict():
            return {name: as_java_shows(inner) for name, inner in value.items()}
        case list():
            return [as_java_shows(inner) for inner in value]
        case _:
            return value


def _open(stream: IO[str] | None) -> IO[str]:
    if stream is None:
        raise ValueError("the process has no pipe")
    return stream
