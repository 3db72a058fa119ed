"""`serve` as a program: what it prints, and by which names it is reached."""

from __future__ import annotations

import http.client
import subprocess
from pathlib import Path

import pytest

from gitops.cli import extras
from gitops.repository.template import copy_template
from tests.support.command_line import PROGRAM, CommandLine


def status(address: str, host: str) -> int:
    connection = http.client.HTTPConnection(address, timeout=30)
    try:
        connection.request("GET", "/admin/v2/clusters", headers={"Host": host})
        return connection.getresponse().status
    finally:
        connection.close()


def test_without_the_extra_it_says_what_to_install(
    command: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda name: None if name == "uvicorn" else True)
    said = command("serve")
    assert said.code == 2
    assert "`serve` needs uvicorn, not installed here" in said.err
    assert "with its extra 'serve': in a checkout, pip install '.[serve]'" in said.err


@pytest.mark.slow
def test_it_answers_for_the_names_that_it_was_given(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    copy_template(root)
    options = ["--repo", str(root), "--port", "0", "--allow-host", "registry"]
    with subprocess.Popen(
        [PROGRAM, "serve", *options], stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        address = process.stderr.readline().strip().rpartition("http://")[2]
        assert status(address, "registry:8080") == 200
        assert status(address, "localhost") == 200
        assert status(address, "evil.example") == 421
        process.terminate()
        _, complaints = process.communicate(timeout=60)
    assert (process.returncode, complaints) == (0, "")
