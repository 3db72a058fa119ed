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
_SAYS_NOTHING: Final = ("An error has occurred.",)
_CAUSE: Final = re.compile(r"^Caused by: (.+)$", re.MULTILINE)
_NO_CLASS: Final = re.compile(r"ClassNotFoundException: Class org\.apache\.hadoop\.fs\.(\w+)\.")
_PACKAGES: Final = {
    "s3a": "hadoop-aws",
    "azure": "hadoop-azure",
    "azurebfs": "hadoop-azure",
    "gs": "hadoop-gcp",
}
"""By the package of its classes: where Hadoop 3.5 has a file system that Spark comes without."""

_NO_SCHEME: Final = re.compile(r'No FileSystem for scheme "([\w.+-]+)"')
_UNLINKED: Final = re.compile(
    r"java\.lang\.((?:NoClassDefFound|NoSuchMethod|NoSuchField|AbstractMethod"
    r"|IncompatibleClassChange|ExceptionInInitializer)Error(?::[^\n]*)?)"
)
_DETAILS: Final = re.compile(r'^\s*details = "(.+)"$', re.MULTILINE)
"""What gRPC says in the third line or so of its exceptions."""
_NO_MODULE: Final = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")
_PYTHON: Final = re.compile(r"^(?:\w+\.)*\w*(?:Error|Exception): .+$", re.MULTILINE)
_OURS: Final = re.compile(r'^\s*File "[^"]*\bgitops/([^"]+)", line (\d+), in (\w+)$', re.MULTILINE)


def failure(error: Exception, what: str, message: str = "") -> OutsideError:
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
        return OutsideError(f"{what}: {first_line(_thrown(message)) or 'Java ended at once'}")
    if _STOPPED in text:
        return OutsideError(f"{what}: no master answers there, or the cluster has ended it")
    return OutsideError(f"{what}: {reason(error)}")


def reason(error: Exception) -> str:
    """What is wrong, and what to do where Spark lacks something: a sentence without an end."""
    text = "\n".join(map(str, (error, getattr(error, "_cause", None) or "")))
    if match := _NO_CLASS.search(text):
        package = _PACKAGES.get(match[1])
        lacking = f"org.apache.hadoop:{package}, of its Hadoop's version" if package else match[0]
        return f"Spark runs without {lacking}: start it with --packages"
    if match := _NO_SCHEME.search(text):
        other = "Hadoop calls it s3a://" if match[1] == "s3" else "start it with a package for that"
        return f"Spark has no file system for {match[1]}://: {other}"
    if match := _UNLINKED.search(text):
        line = first_line(match[1])
        return f"a package does not fit this Spark, or lacks another one that it needs: {line}"
    line = first_line(text)
    causes = _CAUSE.findall(text)
    return first_line(causes[-1]) if causes and line in _SAYS_NOTHING else line or _name(error)


def _name(error: Exception) -> str:
    return type(error).__name__


def _thrown(text: str) -> str:
    """From the exception on that ended Java, if it told one."""
    at = text.find('Exception in thread "')
    return text[max(at, 0) :]


def first_line(text: str) -> str:
    """The line that tells most: of a Python traceback the last, else the first.

    Of an exception in what reads messages only the place is told: its text may quote one.
    """
    if "RPC that terminated" in text and (details := _DETAILS.search(text)):
        text = details[1]
    traceback = text.find("Traceback (most recent call last)")
    items = _PYTHON.findall(text[traceback:]) if traceback >= 0 else []
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    line = items[0] if items else next(iter(lines), "")
    if items and (places := _OURS.findall(text, traceback)):
        file, number, function = places[-1]
        line = f"{line.partition(':')[0]} at {file}:{number} in {function}"
    if line.startswith("An error occurred while calling") and len(lines) > 1:
        line = lines[1]
    line = _USER.sub("://", _JAVA_NAME.sub("", line))
    return line if len(line) <= _LONGEST else line[:_LONGEST] + "…"


def shown(master: str) -> str:
    """A master's address without what may be a token: `sc://host:15002/;token=…`."""
    return _USER.sub("://", master.partition("/;")[0].partition(";")[0])
