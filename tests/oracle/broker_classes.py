"""The oracle as a process that is asked again and again."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final

from tests.oracle.oracle_lines import ORACLE_LINES, OracleLine
from tests.oracle.protobuf_native_cases import plain_native_case
from tests.support.pulsar_class_path import CACHE, class_path, find_java

Verdict = Mapping[str, Any]
_SCRIPT: Final = Path(__file__).parent / "run-oracle.sh"


class BrokerClasses:
    """The broker's own classes, which answer each line that is written to them."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def ask(self, cases: Sequence[Mapping[str, Any]]) -> list[Verdict]:
        """A verdict for each case, in order."""
        lines = [json.dumps(case) for case in cases]
        # The pipes hold little: whoever wrote all before reading would wait for ever.
        writer = threading.Thread(target=_write, args=(_open(self._process.stdin), lines))
        writer.start()
        answers = _open(self._process.stdout)
        verdicts = [json.loads(answers.readline()) for _ in lines]
        writer.join()
        return verdicts


def _write(stream: IO[str], lines: Sequence[str]) -> None:
    stream.writelines(f"{line}\n" for line in lines)
    stream.flush()


def _open(stream: IO[str] | None) -> IO[str]:
    if stream is None:
        raise ValueError("the process has no pipe")
    return stream


@contextmanager
def broker_classes(
    folder: Path, asked: OracleLine = ORACLE_LINES["4.0"]
) -> Iterator[BrokerClasses]:
    """The oracle of a line while the block runs; raises BrokerUnavailableError.

    `folder` is where the list of the broker's jars is written.
    """
    jdk = Path(find_java(asked.release)).parent
    jars = folder / f"class-path-{asked.release}.txt"
    jars.write_text(class_path(asked.release), encoding="utf-8")
    environment = {
        **os.environ,
        "PATH": f"{jdk}{os.pathsep}{os.environ['PATH']}",
        "ORACLE_BUILD": str(CACHE / "oracle"),
        "ORACLE_CONF": asked.settings,
        "ORACLE_FLUSH": "true",
        "ORACLE_SUBSCRIBE": "broker",
    }
    process = subprocess.Popen(
        [str(_SCRIPT), str(jars)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        errors="surrogatepass",
        env=environment,
    )
    try:
        running = BrokerClasses(process)
        running.ask([plain_native_case()])
        yield running
    finally:
        process.kill()
        process.communicate()
