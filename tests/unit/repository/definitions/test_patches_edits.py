"""A patch that is offered applies, and takes away what it is offered for."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Final

import pytest

from gitops.model.findings import Severity
from gitops.repository.definitions.manifest_edits import manifest_definition
from gitops.repository.definitions.patches import Problem, edits
from gitops.repository.definitions.text_edits import Definition
from gitops.repository.file_comparison import Comparison
from gitops.repository.yaml.dumper import yaml_text
from gitops.usecases.compat import compare_files
from tests.support.case_files import Case, cases
from tests.support.states import field, record

_CASES = [
    case for case in cases("strategy") if case.rule.startswith("AVRO-") and "new.avsc" in case.files
]


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


_UNION: Final = '["null", "long"]'


@pytest.mark.parametrize(
    ("kind", "default", "fixed_kind", "fixed_default"),
    [
        ('"long"', '"0"', '"long"', "0"),
        ('"int"', '" -7 "', '"int"', "-7"),
        ('"long"', "1.0", '"long"', "1"),
        ('"boolean"', '"false"', '"boolean"', "false"),
        ('"boolean"', '"True"', '"boolean"', "true"),
        (_UNION, '"null"', _UNION, "null"),
        (_UNION, '"0"', '["long", "null"]', "0"),
        (_UNION, "0", '["long", "null"]', "0"),
        ('["long", "null"]', '"NULL"', _UNION, "null"),
        ('["null", "string"]', '"null"', '["null", "string"]', "null"),
        ('["null", "string"]', '"0"', '["string", "null"]', '"0"'),
        ('["null", "string"]', '""', '["string", "null"]', '""'),
        ('["null", "bytes", "long"]', "3", '["long", "null", "bytes"]', "3"),
        ('"string"', "null", '["null", "string"]', "null"),
        ('["int", "string"]', "null", '["null", "int", "string"]', "null"),
        ('"int"', '"null"', '["null", "int"]', "null"),
        ('{"type": "array", "items": "int"}', '"[]"', '{"type": "array", "items": "int"}', "[]"),
        ('{"type": "map", "values": "int"}', '"{}"', '{"type": "map", "values": "int"}', "{}"),
        (
            '["null", {"type": "enum", "name": "E", "symbols": ["null", "a"]}]',
            '"null"',
            '[{"type": "enum", "name": "E", "symbols": ["null", "a"]}, "null"]',
            '"null"',
        ),
    ],
)
@pytest.mark.parametrize("form", ["json", "yaml"])
def test_a_default_keeps_the_value_that_it_spells(
    kind: str, default: str, fixed_kind: str, fixed_default: str, form: str
) -> None:
    pointer, definition = _definition_with_default(kind, default, in_yaml=form == "yaml")
    problem = Problem(rule="AVRO-P002", pointer=f"{pointer}/default", old_pointer="")

    made = [edit.text for edit in edits(problem, definition, None)]

    assert made
    after = definition.with_text(made[0])
    assert json.loads(after.at(f"{pointer}/type") or "") == json.loads(fixed_kind)
    assert after.at(f"{pointer}/default") == fixed_default
    assert after.at(f"{pointer}/doc") == '"kept"'


@pytest.mark.parametrize(
    ("kind", "default"),
    [
        ('"int"', '"abc"'),
        ('"int"', '""'),
        ('"long"', "1.5"),
        ('"boolean"', "0"),
        ('"string"', "0"),
        ('["null", "long"]', '"many"'),
        ('["null", "long", "string"]', '"0"'),
        ('["null", "boolean", "bytes"]', '"false"'),
        ('{"type": "array", "items": "int"}', "{}"),
        ('["null", /* absent */ "string"]', '"x"'),
    ],
)
def test_a_default_of_unknown_meaning_stays_as_it_is(kind: str, default: str) -> None:
    pointer, definition = _definition_with_default(kind, default, in_yaml=False)
    problem = Problem(rule="AVRO-P002", pointer=f"{pointer}/default", old_pointer="")

    assert not list(edits(problem, definition, None))


def _definition_with_default(kind: str, default: str, *, in_yaml: bool) -> tuple[str, Definition]:
    """A record with one field, and the pointer to the field."""
    text = (
        '{"type": "record", "name": "R", "fields": ['
        f'{{"name": "a", "type": {kind}, "default": {default}, "doc": "kept"}}]}}'
    )
    if not in_yaml:
        return "/fields/0", Definition("a.avsc", text)
    manifest = yaml_text({"apiVersion": "pulsar-gitops/v1", "kind": "Topic"}) + yaml_text(
        {"schema": {"type": "AVRO", "definition": json.loads(text)}}
    )
    definition = manifest_definition("a.yaml", manifest, "/schema/definition")
    assert definition
    return "/schema/definition/fields/0", definition


@pytest.mark.parametrize(
    ("kind", "old"),
    [
        ('{"type": "string", "doc": "what it is"}', '"int"'),
        ('{"type": "record", "name": "S", "fields": [{"name": "x", "type": "int"}]}', '"int"'),
        (
            '{"type": "enum", "name": "F", "symbols": ["a", "c"]}',
            '{"type": "enum", "name": "E", "symbols": ["a", "b"]}',
        ),
    ],
)
def test_the_old_type_is_not_put_back_where_something_new_would_be_lost(
    kind: str, old: str
) -> None:
    fields = '{{"type": "record", "name": "R", "fields": [{{"name": "a", "type": {}}}]}}'
    before, after = (Definition("a.avsc", fields.format(each)) for each in (old, kind))
    problem = Problem(rule="AVRO-R001", pointer="/fields/0/type", old_pointer="/fields/0/type")

    texts = [edit.text for edit in edits(problem, after, before)]

    assert fields.format(old) not in texts


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
