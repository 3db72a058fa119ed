"""What `drift` prints as JSON is what its published JSON Schema says."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator

from gitops.model.errors import OutsideError
from gitops.reports.json.drift import drift_document
from gitops.reports.operation_results import DriftResult, RegistryDrift
from gitops.repository.writing.adoption import Adoption
from tests.docs.pages import ROOT
from tests.support.drifts import ADOPTION, EVERYTHING

SCHEMA = ROOT / "docs" / "reference" / "json" / "drift.schema.json"


@pytest.mark.parametrize("adoption", [None, ADOPTION], ids=["found", "adopted"])
def test_every_kind_of_drift(adoption: Adoption | None) -> None:
    one = RegistryDrift(registry="production", report=EVERYTHING)
    failed = RegistryDrift(registry="staging", error=OutsideError("no answer"))
    result = DriftResult(registries=[one, failed], adoption=adoption)

    document = json.loads(json.dumps(drift_document(result)))

    problems = Draft202012Validator(json.loads(SCHEMA.read_text("utf-8"))).iter_errors(document)
    assert [f"{one.json_path}: {one.message}" for one in problems] == []
