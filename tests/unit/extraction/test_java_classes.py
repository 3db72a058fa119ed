"""A class of a Java program: which Java is started, and what its answers become, without a JDK."""

from __future__ import annotations

import base64
import os
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gitops.extraction.extraction import ExtractRequest
from gitops.extraction.java_classes import extract_java
from gitops.model.errors import OutsideError, UsageError
from gitops.model.schema import SchemaType


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


@pytest.fixture
def java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program `java` in JAVA_HOME, before another one on the PATH; `answer` says what it does."""
    for name in ("home/bin", "path"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", str(tmp_path / "path"), prepend=os.pathsep)
    script(tmp_path / "path/java", "> failure " + encoded("the one on the PATH"))
    return tmp_path / "home/bin/java"


def script(path: Path, out: str = "", err: str = "") -> None:
    """It keeps its arguments beside itself."""
    path.write_text(
        "#!/bin/sh\n"
        f'printf "%s\\n" "$@" > {shlex.quote(str(path))}.words\n'
        f"printf '%s\\n' {shlex.quote(out)}\n"
        f"printf '%s\\n' {shlex.quote(err)} >&2\n"
    )
    path.chmod(0o755)


def request(tmp_path: Path, **more: Any) -> ExtractRequest:  # noqa: ANN401 - what a request has
    (tmp_path / "lib").mkdir(exist_ok=True)
    path = f"{tmp_path / 'lib'}{os.pathsep}{tmp_path / 'lib'}/*"
    return ExtractRequest(**{"name": "com.acme.Order", "class_path": path, **more})


def test_the_java_of_java_home_gets_the_class_path_the_class_and_the_flags(
    java: Path, tmp_path: Path
) -> None:
    schema = '{"type":"record","name":"é"}'
    lines = [
        "what the class prints itself",
        f"> schema {encoded(schema)}",
        f"> property {encoded('a')} {encoded('b c')}",
    ]
    script(java, "\n".join(lines))
    asked = request(tmp_path, schema_type="JSON", always_allow_null=False, jsr310=True)
    found = extract_java(asked)
    assert (found.info.type, found.info.schema) == (SchemaType.JSON, schema)
    assert found.info.properties == {"a": "b c"}
    assert found.locate("/fields/0").pointer == "/fields/0"
    assert found.locate("").file == "com.acme.Order"
    words = Path(f"{java}.words").read_text("utf-8").splitlines()
    assert words[words.index("-cp") + 1] == asked.class_path
    assert words[-4:] == ["com.acme.Order", "JSON", "false", "true"]
    assert words[-5].endswith("PulsarGitopsExtract.java")


@pytest.mark.parametrize(
    ("asked", "topic", "kind"),
    [
        (None, None, "AVRO"),
        (None, "JSON", "JSON"),
        (None, "STRING", "AVRO"),  # no class has it, so the topic's type does not decide
        ("PROTOBUF_NATIVE", "JSON", "PROTOBUF_NATIVE"),
    ],
)
def test_the_type_is_the_one_asked_for_or_the_topics(
    java: Path, tmp_path: Path, asked: str | None, topic: str | None, kind: str
) -> None:
    script(java, f"> schema {encoded('{}')}")
    found = extract_java(request(tmp_path, schema_type=asked, topic_type=topic))
    assert found.info.type.value == kind


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        ("missing", "there is no class com.acme.X on the class path"),
        ("linkage", "the class path lacks a class that this one needs: com.acme.X"),
        ("failure", "its own Pulsar client makes no schema of this class: com.acme.X"),
    ],
)
def test_what_the_program_answers_in_place_of_a_schema_is_a_usage_error(
    java: Path, tmp_path: Path, answer: str, what: str
) -> None:
    script(java, f"> {answer} {encoded('com.acme.X')}")
    with pytest.raises(UsageError) as caught:
        extract_java(request(tmp_path))
    assert (caught.value.what, caught.value.where) == (what, "com.acme.Order")
    assert caught.value.hint


def test_a_class_path_without_a_client_is_told_from_a_java_that_fails(
    java: Path, tmp_path: Path
) -> None:
    script(java, err="error: package org.apache.pulsar.client.api does not exist")
    with pytest.raises(UsageError, match="no pulsar-client on the class path"):
        extract_java(request(tmp_path))
    script(java, err=f"NOTE: picked up options\nUnsupported option{'x' * 2_000}")
    with pytest.raises(OutsideError) as caught:
        extract_java(request(tmp_path))
    assert caught.value.what.startswith("Java fails: Unsupported option")
    assert len(caught.value.what) < 600
    script(java)
    with pytest.raises(OutsideError, match="Java fails: it prints nothing"):
        extract_java(request(tmp_path))


def test_a_machine_without_java_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(OutsideError, match="there is no java on this machine"):
        extract_java(request(tmp_path))


def test_a_java_without_an_answer_is_given_up(
    java: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(java)

    def expire(command: list[str], *, timeout: float, **_more: object) -> None:
        raise subprocess.TimeoutExpired(command, timeout)

    monkeypatch.setattr(subprocess, "run", expire)
    with pytest.raises(OutsideError, match="Java has no answer after 300 s"):
        extract_java(request(tmp_path))


@pytest.mark.parametrize(
    ("more", "what"),
    [
        ({"class_path": ""}, "there is no class path for --java"),
        ({"class_path": "missing.jar"}, "there is no file or folder 'missing.jar'"),
        ({"class_path": "missing/*"}, "there is no file or folder 'missing/*'"),
        ({"schema_type": "STRING"}, "a class has no schema of type STRING"),
    ],
)
def test_what_cannot_be_asked_for_is_refused_before_java_starts(
    tmp_path: Path, more: dict[str, Any], what: str
) -> None:
    with pytest.raises(UsageError) as caught:
        extract_java(request(tmp_path, **more))
    assert caught.value.what == what
    assert caught.value.hint
