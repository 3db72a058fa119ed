"""Pruning where not everything is there yet, and KEY_VALUE halves that a broker does not show."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitops.cli.app import run
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.planning.fingerprints import is_same
from gitops.repository.template import copy_template
from gitops.schemas.payload import shown_schema


@pytest.mark.slow
def test_pruning_does_not_need_namespaces_to_be_there(tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    copy_template(repo)
    assert run(["plan", "--prune", "--repo", str(repo)]) == 0
    assert run(["apply", "--auto-approve", "--prune", "--repo", str(repo)]) == 0


def test_what_a_broker_does_not_show_is_no_difference() -> None:
    posted = SchemaInfo(type=SchemaType.KEY_VALUE, schema='{"key":1,"value":2}')
    shown = SchemaInfo(type=SchemaType.KEY_VALUE, schema='{"key":"","value":""}')
    assert is_same(posted, shown)
    assert shown_schema(posted) == shown_schema(shown)
