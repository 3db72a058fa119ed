"""A runner for the steps of the template's workflows."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitops.repository.template import copy_template
from tests.support.github_project import Project, github_project
from tests.support.github_stand_in import TOKEN, GitHubStandIn, github_stand_in
from tests.support.workflow_steps import Runner


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    """A runner with the template checked out, for the embedded registry."""
    workspace = tmp_path / "workspace"
    copy_template(workspace)
    expressions = {
        "vars.PULSAR_REGISTRY": "local",
        "secrets.PULSAR_TOKEN": "",
        "github.token": TOKEN,
        "steps.python.outputs.python-path": sys.executable,
    }
    return Runner(root=tmp_path / "runner", workspace=workspace, expressions=expressions)


@pytest.fixture
def github() -> Iterator[GitHubStandIn]:
    """GitHub, with pull request #7."""
    with github_stand_in() as stand_in:
        yield stand_in


@pytest.fixture
def project(tmp_path: Path, github: GitHubStandIn) -> Iterator[Project]:
    """The template with a cluster, applied; GitHub has no pull request yet."""
    with github_project(tmp_path, github) as found:
        yield found
