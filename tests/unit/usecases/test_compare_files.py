"""Definitions in files, compared as the versions of one topic."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gitops.model.errors import UsageError
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.usecases.compare_files import compare_files
from tests.support.states import field, record


def _files(folder: Path, *definitions: object) -> list[Path]:
    paths = [folder / f"{number}.avsc" for number in range(len(definitions))]
    for path, definition in zip(paths, definitions, strict=True):
        text = definition if isinstance(definition, str) else json.dumps(definition, indent=2)
        path.write_text(text, encoding="utf-8")
    return paths


def test_the_last_file_is_the_candidate(tmp_path: Path) -> None:
    files = _files(tmp_path, record(field("a")), record(field("a"), field("b", default="")))

    found = compare_files(files, "FULL", "AVRO")

    assert found.strategy is SchemaCompatibilityStrategy.FULL
    assert (found.decision.accepted, found.decision.version, found.findings) == (True, 1, ())
    assert [change.path for change in found.changes] == ["b"]


def test_one_file_alone_is_a_first_version(tmp_path: Path) -> None:
    found = compare_files(_files(tmp_path, record()), "FULL", "JSON")

    assert (found.decision.accepted, found.decision.version, found.changes) == (True, 0, ())


@pytest.mark.parametrize("strategy", ["BACKWARD", "FORWARD"])
def test_a_reason_says_where_on_both_sides(tmp_path: Path, strategy: str) -> None:
    files = _files(tmp_path, record(field("a", "string")), record(field("a", "int")))

    found = compare_files(files, strategy, "AVRO")

    (reason,) = found.findings
    assert reason.location is not None
    assert reason.location.file == str(files[1])
    assert reason.compared is not None
    assert (reason.compared.file, reason.compared.pointer) == (str(files[0]), "/fields/0")
    assert reason.compared.line > 1
    assert found.texts == {str(path): path.read_text(encoding="utf-8") for path in files}


def test_under_a_transitive_strategy_the_version_is_named(tmp_path: Path) -> None:
    files = _files(
        tmp_path, record(field("a", "string")), record(), record(field("a", "int", default=0))
    )

    found = compare_files(files, "BACKWARD_TRANSITIVE", "AVRO")

    assert not found.decision.accepted
    assert found.findings[0].compared is not None
    assert found.findings[0].compared.file == str(files[0])


def test_a_definition_that_is_none_is_refused_with_a_finding(tmp_path: Path) -> None:
    found = compare_files(_files(tmp_path, record(), "{"), "FULL", "AVRO")

    assert not found.decision.accepted
    assert [one.rule for one in found.findings] == ["AVRO-P001"]
    assert found.findings[0].location is not None
    assert found.findings[0].location.line == 1


@pytest.mark.parametrize(
    ("strategy", "kind", "what", "hint"),
    [
        ("BACKWARDS", "AVRO", "not a strategy", "BACKWARD"),
        ("FULL", "AVROO", "not a schema type", "AVRO"),
    ],
)
def test_words_that_are_not_known(
    tmp_path: Path, strategy: str, kind: str, what: str, hint: str
) -> None:
    with pytest.raises(UsageError, match=what) as raised:
        compare_files(_files(tmp_path, record()), strategy, kind)

    assert hint in raised.value.hint


def test_files_that_are_no_pairs_cannot_be_a_history(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="existing 0"):
        compare_files(_files(tmp_path, "{}", "{}"), "FULL", "KEY_VALUE")
