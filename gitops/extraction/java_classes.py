"""A class of a Java program: its own Pulsar client makes the schema, in a Java of its own.

`PulsarGitopsExtract.java` is started from its source with the program's class path.
"""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from gitops.extraction.extraction import Extraction, ExtractRequest
from gitops.model.errors import OutsideError, UsageError
from gitops.model.findings import Location
from gitops.model.schema import SchemaInfo
from gitops.repository.definitions.upload import parse_type

_PROGRAM: Final = Path(__file__).with_name("PulsarGitopsExtract.java")
_SECONDS: Final = 300
_TYPES: Final = ("AVRO", "JSON", "PROTOBUF_NATIVE")
_SHOWN: Final = 500
"""How many characters of Java's own words an error has."""
_NO_CLIENT: Final = "package org.apache.pulsar."
_FAILURES: Final = {
    "missing": (
        "there is no class {} on the class path",
        "write its whole name, such as com.acme.Order, and add its jar or folder to --classpath",
    ),
    "linkage": (
        "the class path lacks a class that this one needs: {}",
        "add all jars of the program: mvn dependency:build-classpath prints them",
    ),
    "failure": (
        "its own Pulsar client makes no schema of this class: {}",
        "the program would fail with the same error",
    ),
}
"""What the Java program may answer in place of a schema."""
_JDK: Final = "install a JDK of version 11 or newer, or name one with JAVA_HOME"


def extract_java(request: ExtractRequest) -> Extraction:
    """The schema of a class on a class path; raises UsageError, OutsideError."""
    topic_type = request.topic_type if request.topic_type in _TYPES else _TYPES[0]
    kind = parse_type(request.schema_type or topic_type)
    if kind.value not in _TYPES:
        raise UsageError(
            f"a class has no schema of type {kind.value}",
            where=request.name,
            hint=f"--type {', '.join(_TYPES[:-1])} or {_TYPES[-1]}",
        )
    allows_null = request.always_allow_null is not False
    flags = (str(allows_null).lower(), str(request.jsr310).lower())
    answer = list(_run(_class_path(request), request.name, kind.value, *flags))
    for word, values in answer:
        if word in _FAILURES:
            what, hint = _FAILURES[word]
            raise UsageError(what.format(values[0][:_SHOWN]), where=request.name, hint=hint)
    (schema,) = (values[0] for word, values in answer if word == "schema")
    properties = {values[0]: values[1] for word, values in answer if word == "property"}
    return Extraction(
        info=SchemaInfo(type=kind, schema=schema, properties=properties),
        locate=lambda pointer: Location(file=request.name, pointer=pointer),
    )


def _class_path(request: ExtractRequest) -> str:
    if not request.class_path:
        raise UsageError(
            "there is no class path for --java",
            hint="--classpath app.jar:lib/* has the class and the program's pulsar-client",
        )
    for entry in request.class_path.split(os.pathsep):
        folder = Path(entry.removesuffix("*")) if entry.endswith("*") else Path(entry)
        if not folder.exists():
            raise UsageError(
                f"there is no file or folder '{entry}'",
                where="--classpath",
                hint="it is looked for from here",
            )
    return request.class_path


def _java() -> str:
    """That of JAVA_HOME, else of the PATH; raises OutsideError."""
    folders = [os.environ.get("PATH", os.defpath)]
    if home := os.environ.get("JAVA_HOME"):
        folders.insert(0, str(Path(home, "bin")))
    value = shutil.which("java", path=os.pathsep.join(folders))
    if value is None:
        raise OutsideError("there is no java on this machine", hint=_JDK)
    return value


def _run(class_path: str, *arguments: str) -> Iterator[tuple[str, list[str]]]:
    """Each line of the answer: its word, and what comes with it."""
    # In English, since what it prints decides about the error.
    command = [_java(), "-Duser.language=en", "-cp", class_path, str(_PROGRAM), *arguments]
    try:
        done = subprocess.run(  # noqa: S603 - the user's own Java, on the user's own classes
            command, capture_output=True, check=False, timeout=_SECONDS
        )
    except subprocess.TimeoutExpired:
        raise OutsideError(f"Java has no answer after {_SECONDS} s", where=arguments[0]) from None
    lines = [
        line for line in done.stdout.decode("ascii", "replace").splitlines() if line[:2] == "> "
    ]
    if not lines:
        raise _start_error(done.stderr.decode("utf-8", "replace"))
    for line in lines:
        word, *values = line[2:].split(" ")
        yield word, [base64.b64decode(value).decode("utf-8", "replace") for value in values]


def _start_error(message: str) -> UsageError | OutsideError:
    """Why Java gave no answer, by what it printed."""
    if _NO_CLIENT in message:
        return UsageError(
            "there is no pulsar-client on the class path",
            where="--classpath",
            hint="add all jars of the program: mvn dependency:build-classpath prints them, "
            "Gradle has them as runtimeClasspath",
        )
    text = " ".join(line for line in message.splitlines() if not line.startswith("NOTE: "))
    return OutsideError(f"Java fails: {text[:_SHOWN] or 'it prints nothing'}", hint=_JDK)
