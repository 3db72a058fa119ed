"""What `restore` prints as JSON is what its published JSON Schema says."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator

from gitops.model.errors import OutsideError
from gitops.reports.json.restore import restore_document
from gitops.reports.operation_results import RestoreResult
from tests.docs.pages import ROOT
from tests.support.restores import CHECK, OBSTACLES, WORK

SCHEMA = ROOT / "docs" / "reference" / "json" / "restore.schema.json"


@pytest.mark.parametrize(
    "result",
    [
        RestoreResult(restore=WORK, dry_run=True),
        RestoreResult(restore=WORK, error=OutsideError("no answer")),
        RestoreResult(restore=WORK, check=CHECK),
        RestoreResult(restore=OBSTACLES),
    ],
)
def test_every_end_of_a_restore(result: RestoreResult) -> None:
    document = json.loads(json.dumps(restore_document(result)))

    problems = Draft202012Validator(json.loads(SCHEMA.read_text("utf-8"))).iter_errors(document)
    assert [f"{one.json_path}: {one.message}" for one in problems] == []
