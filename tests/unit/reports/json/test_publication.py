"""Publications in JSON are what the published JSON Schema says."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator

from gitops.messaging.publish_journal import PublicationState
from gitops.messaging.publish_topic import Publication
from gitops.model.names import TopicName
from gitops.reports.json.publication import publication_document
from gitops.reports.results import PublicationResult
from tests.support.project_files import ROOT

SCHEMA = json.loads((ROOT / "docs/reference/json/publication.schema.json").read_text("utf-8"))


@pytest.mark.parametrize("done", [0, 5, 7])
def test_what_is_there_and_what_failed_is_counted(done: int) -> None:
    failed = {"v3 refused: no": 2} if done else {}
    state = PublicationState(
        run="r", fingerprint="f", topic="t", address="a", partitions=1, done=done, failed=failed
    )
    publication = Publication(state=state, total=7, versions={3: 1, 0: 0}, repeated=1)
    result = PublicationResult(topic=TopicName.parse("a/b/c"), publication=publication, command="")
    found = publication_document(result)
    Draft202012Validator(SCHEMA).validate(found)
    assert found["complete"] is (done == 7)
    assert found["acknowledged"] == max(0, done - 2)
    assert found["failures"] == ([{"reason": "v3 refused: no", "messages": 2}] if done else [])
    assert found["versions"] == [{"captured": 0, "version": 0}, {"captured": 3, "version": 1}]
