"""A patch that is offered applies, and takes away what it is offered for."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from gitops.model.findings import Severity
from gitops.repository.file_comparison import Comparison
from gitops.usecases.compat import compare_files
from tests.support.case_files import Case, cases
from tests.support.states import field, record

_CASES = [case for case in cases("strategy") if case.rule.startswith("AVRO-")]


def _compared(case: Case) -> Comparison:
    """The case's versions, as they are in the current folder."""
    old = sorted(path for path in case.files if path.endswith(".avsc") and path != "new.avsc")
    schema_type = case.text("type").strip() if "type" in case.files else None
    return compare_files(
        list(map(Path, [*old, "new.avsc"])), case.text("strategy").strip(), schema_type
    )


@pytest.mark.parametrize("case", _CASES, ids=str)
def test_every_patch_applies_and_helps(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(case.write(tmp_path / "before"))
    before = _compared(case)
    for number, finding in enumerate(one for one in before.findings if one.patch):
        monkeypatch.chdir(case.write(tmp_path / str(number)))

        subprocess.run(["git", "apply", "-"], input=finding.patch, text=True, check=True)

        after = {(one.rule, one.message): one.severity for one in _compared(case).findings}
        assert (finding.rule, finding.message) not in after
        known = {(one.rule, one.message) for one in before.findings}
        assert not [key for key in after if after[key] is Severity.ERROR and key not in known]


_PATCHED = {
    "a new field": (
        '{"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}]}',
        '{"type": "record", "name": "R", "fields": [{"name": "b", "type": ["string", "null"]}]}',
        ["AVRO-R002"],
        '{"name": "b", "type": ["null", "string"], "default": null}',
    ),
    "a new field whose union has null": (
        '{"type": "record", "name": "R", "fields": []}',
        '{"type": "record", "name": "R", "fields": [{"name": "b", "type": ["null", "int"]}]}',
        ["AVRO-R002"],
        '{"name": "b", "type": ["null", "int"], "default": null}',
    ),
    "a default of the wrong branch": (
        None,
        """{"type":"record","name":"R","fields":[
            {"name": "b", "type": ["string", "null"], "default": null}]}""",
        ["AVRO-P002"],
        '{"name": "b", "type": ["null", "string"], "default": null}',
    ),
    "a record in itself": (
        None,
        '{"type": "record", "name": "R", "fields": [{"name": "r", "type": "R"}]}',
        ["AVRO-P003"],
        '{"name": "r", "type": ["null", "R"], "default": null}',
    ),
}


@pytest.mark.parametrize("name", _PATCHED)
def test_a_known_edit_is_offered(name: str, tmp_path: Path) -> None:
    old, new, rules, expected = _PATCHED[name]
    files = []
    for side, text in (("old", old), ("new", new)):
        if text is not None:
            files.append(tmp_path / f"{side}.avsc")
            files[-1].write_text(text, "utf-8")

    found = compare_files(files, "BACKWARD", "AVRO").findings

    assert [one.rule for one in found] == rules
    assert expected in found[0].patch


def test_no_patch_is_offered_that_would_break_something_else(tmp_path: Path) -> None:
    """Neither type suits both old versions."""
    files = []
    for number, kind in enumerate(["string", "boolean", "int"]):
        files.append(tmp_path / f"{number}.avsc")
        other = field(f"b{number}", "int", default=0)
        files[-1].write_text(json.dumps(record(field("a", kind), other)), "utf-8")

    found = compare_files(files, "BACKWARD_TRANSITIVE", "AVRO").findings

    refusals = [one for one in found if one.severity is Severity.ERROR]
    assert [(one.rule, one.patch) for one in refusals] == [("AVRO-R001", "")] * 2


@pytest.mark.parametrize("strategy", ["BACKWARD", "FORWARD"])
def test_no_patch_leads_back_into_a_direct_recursion(tmp_path: Path, strategy: str) -> None:
    old, new = tmp_path / "old.avsc", tmp_path / "new.avsc"
    old.write_text(json.dumps(record(field("tags", "Order"))), "utf-8")
    new.write_text(json.dumps(record(field("tags", {"type": "array", "items": "Order"}))), "utf-8")

    found = compare_files([old, new], strategy, None).findings

    assert [(one.rule, one.patch) for one in found] == [("AVRO-R001", ""), ("AVRO-P003", "")]


def test_a_file_without_a_final_line_end_gets_a_patch_that_says_so(tmp_path: Path) -> None:
    old, new = tmp_path / "old.avsc", tmp_path / "new.avsc"
    old.write_text(json.dumps(record()), "utf-8")
    new.write_text(json.dumps(record(field("a", "int"))), "utf-8")

    (found,) = compare_files([old, new], "BACKWARD", None).findings

    assert "\\ No newline at end of file" in found.patch
