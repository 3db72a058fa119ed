"""How many edits are tried, and what is offered, where much has changed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from gitops.model.findings import Finding, Location, Severity
from gitops.repository.definitions.patch_suggester import Effort, PatchSuggester, Said
from gitops.repository.definitions.text_edits import Definition
from gitops.usecases.compat import compare_files
from tests.support.refusals import patched
from tests.support.states import field, record


def _missing(number: int) -> Finding:
    """As for a new field without a default."""
    return Finding(
        rule="AVRO-R002",
        severity=Severity.ERROR,
        message=f"f{number} is missing",
        location=Location(file="new.avsc", line=1, column=1, pointer=f"/fields/{number}/name"),
    )


@pytest.mark.slow
def test_edits_are_tried_as_often_as_the_size_of_the_definitions_allows() -> None:
    asked: list[str] = []

    def judge(text: str) -> Said:
        asked.append(text)
        return {}

    counts = []
    for size in (10, 1000):
        fields = (field(f"f{number}", "int") for number in range(size))
        text = json.dumps(record(*fields), indent=0)
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


def test_no_more_edits_are_tried_once_the_time_is_spent() -> None:
    text = json.dumps(record(*(field(f"f{number}", "int") for number in range(10))), indent=0)
    suggester = PatchSuggester(
        new=Definition("new.avsc", text),
        old=lambda _: None,
        judge=lambda _: {},
        effort=Effort(seconds=0),
    )

    patched = suggester.with_patches([_missing(number) for number in range(10)])

    assert [number for number, one in enumerate(patched) if one.patch] == [0, 1]
    assert "no patch is tried" in patched[2].hint


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


def test_edits_of_one_line_are_one_patch(tmp_path: Path) -> None:
    files = [tmp_path / "old.avsc", tmp_path / "new.avsc"]
    fields = [field("a", "int"), field("b", "int")]
    old = record(*fields)
    new = record(field("a"), field("c"), field("b"))
    for file, one in zip(files, (old, new), strict=True):
        file.write_text(f"{json.dumps(one)}\n")

    found = {
        one.location and one.location.pointer: one for one in compare_files(files, "FULL").findings
    }

    first, c, b = (found[f"/fields/{end}"] for end in ("0/type", "1/name", "2/type"))
    place = f"(the edit at line 1, column {first.location and first.location.column} contains this)"
    assert c.hint == f"give 'c' a default, or make it nullable with the default null {place}"
    assert b.hint == f"keep int, or add a new field of type string {place}"
    assert (bool(first.patch), c.patch, b.patch) == (True, "", "")
    fixed = json.loads(patched(files[1].read_text(), first.patch))
    nullable = {"name": "c", "type": ["null", "string"], "default": None}
    assert fixed["fields"] == [fields[0], nullable, fields[1]]
    assert [one.is_mended_elsewhere for one in (first, c, b)] == [False, True, True]


def test_an_edit_at_the_place_of_another_one_comes_later(tmp_path: Path) -> None:
    files = [tmp_path / "old.avsc", tmp_path / "new.avsc"]
    old = record(field("a"), field("b", "int"), field("c", "long"))
    for file, one in zip(files, (old, record(field("a"))), strict=True):
        file.write_text(f"{json.dumps(one)}\n")

    b, c = compare_files(files, "FORWARD").findings

    assert '{"name": "b", "type": "int"}' in b.patch
    assert c.patch == ""
    assert c.hint == (
        "keep field 'c': a reader that exists already needs it "
        "(make the edit at line 1, column 1 first, then run this again)"
    )
