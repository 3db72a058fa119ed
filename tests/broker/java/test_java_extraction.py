"""The schemas of classes are those that Pulsar's Java client makes of the same POJOs."""

from __future__ import annotations

import base64
import json
import os
import secrets
from itertools import product
from pathlib import Path
from typing import Any, Final

import pytest

from gitops.extraction import java_classes
from gitops.extraction.extraction import ExtractRequest
from gitops.extraction.java_classes import extract_java
from gitops.extraction.python_classes import extract_python
from gitops.model.errors import UsageError
from gitops.schemas.avro.parser import ANY_AVRO
from tests.support.java_program import JavaProgram
from tests.support.pulsar_class_path import BrokerUnavailableError, class_path
from tests.support.random_classes import (
    HEAD,
    STYLES,
    ClassShape,
    RandomClasses,
    java_class,
    python_class,
)

pytestmark = pytest.mark.broker  # no broker is started, but its jars are needed

CLASSES: Final = int(os.environ.get("EXTRACTED_CLASSES", "60"))
HERE: Final = Path(__file__).parent
TYPES: Final = ("AVRO", "JSON")
PROGRAM: Final = Path(java_classes.__file__).with_name("PulsarGitopsExtract.java")
FLAGS: Final = tuple(product((True, False), repeat=2))
"""alwaysAllowNull and jsr310."""


Case = tuple[str, str, bool, bool]
"""A class, a type, alwaysAllowNull and jsr310."""


class Pojos:
    """Random classes in Java and in Python; `texts` has what the client and our program print."""

    def __init__(self, folder: Path, seed: int) -> None:
        random = RandomClasses(seed)
        self.shapes = [random.make(f"C{number}") for number in range(CLASSES)]
        sources = [_java_source(folder, self.shapes, nullable=each) for each in (True, False)]
        self.folder = folder / "classes"
        self.folder.mkdir()
        scenario = HERE / "ExtractionScenario.java"
        program = JavaProgram(scenario, self.folder, PROGRAM, *sources)
        self.cases: list[Case] = [
            (shape[-1].name, kind, nullable, jsr310)
            for shape, kind, (nullable, jsr310) in product(self.shapes, TYPES, FLAGS)
        ]
        answers = program.run(lines="".join(map(_line, self.cases)))
        self.texts = dict(zip(self.cases, map(_texts, answers), strict=True))


def _java_source(folder: Path, shapes: list[list[ClassShape]], *, nullable: bool) -> Path:
    file = folder / _package(nullable=nullable) / "Classes.java"
    file.parent.mkdir()
    classes = (java_class(one, nullable=nullable) for shape in shapes for one in shape)
    head = f"package {_package(nullable=nullable)};\npublic class Classes {{\n"
    file.write_text(f"{head}{''.join(classes)}}}\n", "utf-8")
    return file


def _package(*, nullable: bool) -> str:
    return "nullable" if nullable else "annotated"


def _line(case: Case) -> str:
    name, kind, nullable, jsr310 = case
    flags = f"{nullable} {jsr310}".lower()
    return f"{_package(nullable=nullable)}.Classes${name} {kind} {flags}\n"


def _texts(answer: str) -> tuple[str, str, str]:
    own, ours, brief = (base64.b64decode(each).decode() for each in answer.split(" "))
    return own, ours, brief


@pytest.fixture(scope="module")
def seed() -> int:
    """Named by each test that fails."""
    return secrets.randbelow(10**9)


@pytest.fixture(scope="module")
def pojos(tmp_path_factory: pytest.TempPathFactory, seed: int) -> Pojos:
    """The compiled classes; skips where there is no Java or no Maven."""
    try:
        return Pojos(tmp_path_factory.mktemp("pojos"), seed)
    except BrokerUnavailableError as error:
        pytest.skip(str(error))


def test_our_program_prints_what_the_client_makes_of_a_pojo(pojos: Pojos, seed: int) -> None:
    for case, (own, ours, brief) in pojos.texts.items():
        assert ours == own, f"seed {seed}: {case}"
        _, _, nullable, jsr310 = case
        if nullable and not jsr310:  # Pulsar's defaults
            assert ours == brief, f"seed {seed}: {case}"


@pytest.mark.parametrize("style", STYLES)
def test_a_class_in_python_has_the_schema_of_the_same_pojo(
    pojos: Pojos, seed: int, style: str, tmp_path: Path
) -> None:
    modules = {each: _module(pojos, style, tmp_path, nullable=each) for each in (True, False)}
    for case in pojos.cases:
        name, kind, nullable, jsr310 = case
        request = ExtractRequest(
            name=f"{modules[nullable]}:{name}",
            schema_type=kind,
            folders=(tmp_path,),
            always_allow_null=nullable,
            jsr310=jsr310,
        )
        ours = extract_python(request).info.schema
        theirs = _without_java_classes(pojos.texts[case][0])
        assert ours == theirs, f"seed {seed}: {case}"
        ANY_AVRO.parse(ours)


def _module(pojos: Pojos, style: str, folder: Path, *, nullable: bool) -> str:
    """A module with all classes; its name is new, since Python keeps modules by name."""
    name = f"{_package(nullable=nullable)}_{style}_{secrets.token_hex(8)}"
    space = f"{_package(nullable=nullable)}.Classes"
    classes = (
        python_class(one, style, space, nullable=nullable)
        for shape in pojos.shapes
        for one in shape
    )
    (folder / f"{name}.py").write_text(HEAD + "\n".join(classes), "utf-8")
    return name


def _without_java_classes(text: str) -> str:
    """Java notes the class of a list, which is of no use to others."""

    def stripped(node: Any) -> Any:  # noqa: ANN401 - JSON
        if isinstance(node, list):
            return [stripped(each) for each in node]
        if isinstance(node, dict):
            return {key: stripped(each) for key, each in node.items() if key != "java-class"}
        return node

    return json.dumps(stripped(json.loads(text)), separators=(",", ":"), ensure_ascii=False)


def test_java_is_started_with_the_class_path_of_the_program(pojos: Pojos) -> None:
    case = (pojos.shapes[0][-1].name, "JSON", False, True)
    request = ExtractRequest(
        name=f"annotated.Classes.{case[0]}",
        schema_type="JSON",
        class_path=f"{pojos.folder}{os.pathsep}{class_path()}",
        always_allow_null=False,
        jsr310=True,
    )
    info = extract_java(request).info
    assert info.schema == pojos.texts[case][0]
    assert info.properties == {"__alwaysAllowNull": "false", "__jsr310ConversionEnabled": "true"}


@pytest.mark.parametrize(
    ("name", "has_client", "what"),
    [
        ("annotated.Missing", True, "there is no class annotated.Missing on the class path"),
        ("annotated.Classes.C0", False, "there is no pulsar-client on the class path"),
    ],
)
def test_what_the_class_path_lacks_is_named(
    pojos: Pojos, name: str, what: str, *, has_client: bool
) -> None:
    client = f"{os.pathsep}{class_path()}" if has_client else ""
    with pytest.raises(UsageError) as raised:
        extract_java(ExtractRequest(name=name, class_path=f"{pojos.folder}{client}"))
    assert raised.value.what == what
    assert raised.value.hint
