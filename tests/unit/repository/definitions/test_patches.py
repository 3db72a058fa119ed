"""How many edits are tried, and what is offered, where much has changed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from gitops.model.findings import Finding, Location, Severity
from gitops.repository.definitions.patch_suggester import PatchSuggester, Said
from gitops.repository.definitions.text_edits import Definition
from gitops.usecases.compat import compare_files
from tests.support.states import field, record


def _missing(number: int) -> Finding:
    """As for a new field without a default."""
    return Finding(
        rule="AVRO-R002",
        severity=Severity.ERROR,
        message=f"f{number} is missing",
        location=Location(file="new.avsc", line=1, column=1, pointer=f"/fields/{number}/name"),
    )


def test_edits_are_tried_as_often_as_the_size_of_the_definitions_allows() -> None:
    asked: list[str] = []

    def judge(text: str) -> Said:
        asked.append(text)
        return {}

    counts = []
    for size in (10, 1000):
        text = json.dumps(record(*(field(f"f{number}", "int") for number in range(size))))
        suggester = PatchSuggester(
            new=Definition("new.avsc", text), old=lambda _: None, judge=judge
        )
        asked.clear()
        patched = suggester.with_patches([_missing(n) for n in range(size)])
        patches = [one.patch for one in patched]
        assert len(set(asked)) == len(asked)
        counts.append(sum(map(bool, patches)))
        told = [number for number, one in enumerate(patched) if "no patch is tried" in one.hint]
        assert told == ([] if size == counts[-1] else [counts[-1]])
    assert counts[0] == 10
    assert 0 < counts[1] < 100


def test_an_edit_that_was_offered_is_not_offered_again_elsewhere() -> None:
    text = json.dumps(record(field("f0", "int")))
    suggester = PatchSuggester(
        new=Definition("new.avsc", text), old=lambda _: None, judge=lambda _: {}
    )
    reads = replace(_missing(0), message="another mismatch at this place")
    other = replace(_missing(0), rule="AVRO-P003")

    first, second, third = suggester.with_patches([_missing(0), reads, other])

    assert first.patch
    assert second.patch == first.patch
    assert not third.patch


def test_a_patch_helps_against_every_version(tmp_path: Path) -> None:
    """v1 alone would do with the old type; v0 never had the field."""
    definitions = [
        record(),
        record(field("a")),
        record(field("a", "int")),
        record(field("a", "int"), field("b")),
    ]
    files = [tmp_path / f"{number}.avsc" for number in range(4)]
    for file, definition in zip(files, definitions, strict=True):
        file.write_text(json.dumps(definition, indent=1), "utf-8")

    found = compare_files(files, "BACKWARD_TRANSITIVE").findings

    (missing,) = [one for one in found if "'b'" in one.message]
    assert [one.compared and one.compared.file for one in missing.members] == [
        str(files[number]) for number in (2, 1, 0)
    ]
    assert '["null", "string"], "default": null' in missing.patch


@pytest.mark.slow
def test_thousands_of_changed_fields_are_answered(tmp_path: Path) -> None:
    files = []
    for name, kind in (("f", "int"), ("g", "int"), ("g", "string")):
        files.append(tmp_path / f"{name}-{kind}.avsc")
        fields = (field(f"{name}{number}", kind) for number in range(2000))
        files[-1].write_text(json.dumps(record(*fields), indent=1), "utf-8")

    renamed = compare_files(files[:2], "BACKWARD").findings
    retyped = compare_files(files[1:], "FULL").findings

    assert [one.rule for one in renamed] == ["AVRO-R002"] * 2000
    assert [one.rule for one in retyped] == ["AVRO-R001"] * 2000
    assert 'if it is a rename, add "aliases": ["f1999"] to \'g1999\'' in renamed[-1].hint
