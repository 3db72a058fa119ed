"""What Spark's exceptions say, in a line that a person can use."""

from __future__ import annotations

import re
from typing import Final

from gitops.model.errors import OutsideError

_LONGEST: Final = 300
_USER: Final = re.compile(r"://[^/@\s]+@")
_JAVA_NAME: Final = re.compile(
    r'^(?:Exception in thread "[^"]*")?:?\s*(?:[a-z]\w*\.)+\w+(?:Exception|Error):\s*'
)
_STOPPED: Final = "Cannot call methods on a stopped SparkContext"
_DETAILS: Final = re.compile(r'^\s*details = "(.+)"$', re.MULTILINE)
"""What gRPC says in the third line or so of its exceptions."""
_NO_MODULE: Final = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")
_PYTHON: Final = re.compile(r"^(?:\w+\.)*\w*(?:Error|Exception): .+$", re.MULTILINE)


def failure(error: Exception, what: str, told: str = "") -> OutsideError:
    """An error to raise `from` that one; no secret of an address is in it.

    `told` is what Java said while it started.
    """
    text = str(error)
    lost = _NO_MODULE.search(text)
    if lost:
        return OutsideError(
            f"{what}: the Python of Spark's workers has no module '{lost[1]}'",
            hint="install numpy, pyarrow, msgspec, and protobuf for Protobuf topics, "
            "where PYSPARK_PYTHON leads there, or send them along with --archives",
        )
    if "JAVA_GATEWAY_EXITED" in text:
        return OutsideError(f"{what}: {first_line(told) or 'Java ended at once'}")
    if _STOPPED in text:
        return OutsideError(f"{what}: no master answers there, or the cluster has ended it")
    return OutsideError(f"{what}: {first_line(text) or type(error).__name__}")


def first_line(text: str) -> str:
    """The line that tells most: of a Python traceback the last, else the first."""
    if "RPC that terminated" in text and (details := _DETAILS.search(text)):
        text = details[1]
    traceback = text.find("Traceback (most recent call last)")
    found = _PYTHON.findall(text[traceback:]) if traceback >= 0 else []
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    line = found[0] if found else next(iter(lines), "")
    if line.startswith("An error occurred while calling") and len(lines) > 1:
        line = lines[1]
    line = _USER.sub("://", _JAVA_NAME.sub("", line))
    return line if len(line) <= _LONGEST else line[:_LONGEST] + "…"


def shown(master: str) -> str:
    """A master's address without what may be a token: `sc://host:15002/;token=…`."""
    return _USER.sub("://", master.partition("/;")[0].partition(";")[0])
