"""Input that is far too large, or never ends, is refused, or read with little memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from gitops.messaging import capture_files
from gitops.messaging.capture_files import MANIFEST, SCHEMAS, CaptureFolder, checksum
from gitops.model.errors import UsageError
from gitops.repository import plan_file
from gitops.repository.plan_file import read_plans
from gitops.repository.writing import imported_files
from tests.support.command_line import CommandLine

pytestmark = pytest.mark.slow

_LIMITED: Final = """\
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv.pop(1)) << 20,) * 2)
from gitops.cli import app
app.main()
"""


def _run_within(mebibytes: int, words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", _LIMITED, str(mebibytes), *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_long_doc_is_formatted_with_little_memory(repo: Path) -> None:
    file = repo / "namespaces/shop/orders/order-created.avsc"
    definition = json.loads(file.read_text()) | {"doc": "xxxx\\" * 1_300_000}
    file.write_text(json.dumps(definition))
    done = _run_within(600, ["fmt"], repo)
    assert (done.returncode, "1 changed" in done.stdout + done.stderr) == (0, True), done
    assert json.loads(file.read_text()) == definition


def test_a_schema_that_no_file_may_have_is_not_imported(
    applied: Path, command: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    (applied / "namespaces/shop/orders/order-created.yaml").unlink()
    monkeypatch.setattr(imported_files, "MAX_FILE_BYTES", 100)
    done = command("import", "--repo", applied)
    assert (done.code, done.out) == (2, "")
    assert (
        "the schema of shop/orders/order-created has 0 MiB, and a file may have 0 MiB" in done.err
    )


def test_a_plan_file_beyond_the_limit_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "plan.json"
    file.write_text("x" * 101)
    monkeypatch.setattr(plan_file, "_LARGEST", 100)
    with pytest.raises(UsageError, match="is larger than"):
        read_plans(file)


def test_a_plan_file_of_very_many_values_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "plan.json"
    file.write_text('{"kind": "Plan", "x": [[], [], [], []]}')
    monkeypatch.setattr(plan_file, "_MOST_VALUES", 9)
    with pytest.raises(UsageError, match="contains more than 9 values"):
        read_plans(file)

    monkeypatch.setattr(plan_file, "_MOST_VALUES", 10)
    monkeypatch.setattr(plan_file, "_MOST_PLACED", 10)
    with pytest.raises(UsageError, match="the plan file is not valid") as error:
        read_plans(file)
    assert error.value.where == f"{file}:1:1", "without a tree of the text"


@pytest.mark.parametrize("name", [MANIFEST, f"{SCHEMAS}/0.json"])
def test_a_document_of_a_capture_beyond_the_limit_is_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / SCHEMAS).mkdir()
    (tmp_path / name).write_text("x" * 101)
    monkeypatch.setattr(capture_files, "_LARGEST_DOCUMENT", 100)
    folder = CaptureFolder(tmp_path)
    with pytest.raises(UsageError, match="is larger than"):
        folder.manifest() if name == MANIFEST else folder.schemas()


@pytest.mark.parametrize("name", [MANIFEST, f"{SCHEMAS}/0.json", "part-00000-000000.parquet"])
def test_a_pipe_in_a_capture_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / SCHEMAS).mkdir()
    os.mkfifo(tmp_path / name)
    folder = CaptureFolder(tmp_path)
    read = {MANIFEST: folder.manifest, f"{SCHEMAS}/0.json": folder.schemas}
    with pytest.raises(UsageError, match="is no regular file"):
        read.get(name, lambda: checksum(tmp_path / name))()
