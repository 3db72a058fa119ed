"""What a program's module does wrong is an error with its own line, and no traceback of ours."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from gitops.broker.lines.pulsar_4_0 import PULSAR_4_0
from gitops.broker.registration import register
from gitops.extraction.extraction import ExtractRequest, is_class_name
from gitops.extraction.python_classes import extract_python
from gitops.model.decision import StoredHistory
from gitops.model.errors import UsageError
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.schemas.payload import to_stored


def extract(folder: Path, module: str, source: str, name: str = "A") -> str:
    """The definition of a class in a module of that source."""
    (folder / f"{module}.py").write_text(source, "utf-8")
    return extract_python(ExtractRequest(name=f"{module}:{name}", folders=(folder,))).info.schema


@pytest.mark.parametrize(
    ("module", "source", "what", "line"),
    [
        ("fails_of_test", "a = 1\nb = a / 0\n", "ZeroDivisionError: division by zero", 2),
        ("exits_of_test", "import sys\n\nsys.exit(3)\n", "SystemExit: 3", 3),
        ("broken_of_test", "a = 1\nb = (\n", "SyntaxError: '(' was never closed", 2),
        ("lacks_of_test", "import no_such_module\n", "No module named 'no_such_module'", 1),
    ],
)
def test_a_module_that_fails_is_named_with_its_line(
    tmp_path: Path, module: str, source: str, what: str, line: int
) -> None:
    with pytest.raises(UsageError) as raised:
        extract(tmp_path, module, source)
    assert what in raised.value.what
    assert raised.value.where == f"{tmp_path / module}.py:{line}"


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("no_such_module:A", "there is no module no_such_module"),
        ("json:A", "json has no A"),
        ("json:dumps", "json:dumps is not a class"),
        ("json:JSONDecoder", "json:JSONDecoder is a class without a schema"),
    ],
)
def test_what_is_no_class_with_a_schema_is_an_error(name: str, what: str) -> None:
    with pytest.raises(UsageError) as raised:
        extract_python(ExtractRequest(name=name))
    assert raised.value.what == what


def test_what_a_module_prints_goes_to_stderr(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = "from dataclasses import dataclass\nprint('hello')\n@dataclass\nclass A:\n    a: int\n"
    before = list(sys.path)
    assert '"long"' in extract(tmp_path, "prints_of_test", source)
    assert capsys.readouterr() == ("", "hello\n")
    assert sys.path == before


def test_types_that_are_imported_for_checks_only_are_an_error(tmp_path: Path) -> None:
    source = (
        "from __future__ import annotations\nfrom dataclasses import dataclass\n"
        "@dataclass\nclass A:\n    a: Missing\n"
    )
    with pytest.raises(UsageError, match="'Missing' is not defined"):
        extract(tmp_path, "checks_of_test", source)


def test_a_name_that_avro_does_not_have_is_an_error_at_the_class(tmp_path: Path) -> None:
    source = "from dataclasses import dataclass\n\n@dataclass\nclass A:\n    a: int\n\n"
    with pytest.raises(UsageError, match="Pulsar would not accept") as raised:
        extract(tmp_path, "names_of_test", f"{source}A.__name__ = 'a-b'\n")
    assert raised.value.where.endswith("names_of_test.py:4:1")


def test_places_are_lines_of_the_program(tmp_path: Path) -> None:
    source = (
        "from dataclasses import dataclass\nfrom enum import Enum\n\nclass E(Enum):\n    X = 1\n"
        "    Y = 2\n\n@dataclass\nclass Base:\n    a: int\n\n@dataclass\nclass A(Base):\n"
        "    b: list[E]\n"
    )
    (tmp_path / "places_of_test.py").write_text(source, "utf-8")
    request = ExtractRequest(name="places_of_test:A", folders=(tmp_path,))
    found = extract_python(request)
    lines = {
        pointer: found.locate(pointer).line
        for pointer in (
            "",
            "/name",
            "/fields/0/type",
            "/fields/1",
            "/fields/1/type/items/symbols/1",
        )
    }
    assert list(lines.values()) == [13, 13, 10, 14, 6]
    assert list(found.sources.values()) == [source]


@pytest.mark.parametrize(
    ("word", "expected"),
    [("a.b:C", True), ("a:B.C", True), ("a.avsc", False), ("v3", False), ("a:b:c", False)],
)
def test_module_and_class_are_told_from_files(word: str, *, expected: bool) -> None:
    assert is_class_name(word) is expected


@pytest.mark.parametrize(
    ("field", "status"),
    [
        ("Integer()", 409),
        ("Integer(default=5)", 409),
        ("Integer(required_default=True)", 200),
        ("Integer(default=5, required=True, required_default=True)", 200),
        ("Integer(default=5, required_default=True)", 500),
        ("Boolean(required_default=True)", 500),
        ("Boolean(required=True, required_default=True)", 200),
    ],
)
def test_a_new_field_of_pulsar_clients_classes(tmp_path: Path, field: str, status: int) -> None:
    pytest.importorskip("pulsar", reason="the extra 'pulsar' is not installed")
    source = "from pulsar.schema import Boolean, Integer, Record\n\n"
    name = re.sub(r"\W", "_", field)
    text = extract(tmp_path, name, f"{source}class A(Record):\n    x = {field}\n")
    after = SchemaInfo(type=SchemaType.AVRO, schema=text)
    before = replace(after, schema='{"type": "record", "name": "A", "fields": []}')
    history = StoredHistory(entries=((0, to_stored(before)),), next_version=1)

    decision = register(history, after, Strategy.BACKWARD, PULSAR_4_0)

    assert decision.status == status
    hint = "(in a class of pulsar-client for Python: `required_default=True`)"
    hints = [reason.hint for reason in decision.incompatibilities]
    assert hints == [f"give 'x' \"default\": null {hint}"] * (status == 409)
