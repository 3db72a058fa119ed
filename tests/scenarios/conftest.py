"""Each scenario runs on each registry, as command lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gitops.cli.app import run
from tests.scenarios.registries import Command, Live, behind_rest, embedded


@pytest.fixture(params=["embedded", pytest.param("broker", marks=pytest.mark.broker)])
def live(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Live]:
    """The embedded registry, and a real broker behind its REST."""
    if request.param == "broker":
        yield behind_rest(request.getfixturevalue("pulsar_admin_url"))
        return
    with embedded(tmp_path) as registry:
        yield registry


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """Run a command line; answers its exit code and what it printed to stdout."""

    def call(*args: str) -> tuple[int, str]:
        capsys.readouterr()
        code = run(list(args))
        return code, capsys.readouterr().out

    return call
