"""A sample format of one's own is one file and one row: tried on a copy of the tree."""

from __future__ import annotations

import base64
import shutil
from pathlib import Path

import pytest

from gitops.repository.template import copy_template
from tests.support.loaded_modules import run_and_tell
from tests.support.project_files import ROOT

_SOURCE = """
import base64
from dataclasses import replace

import pyarrow

from gitops.replay.batches import batch, rows_from
from gitops.replay.sources.files import open_stream


class CsvSource:
    def parts(self, whole):
        yield whole

    def batches(self, part, versions):
        with open_stream(part.file) as stream:
            lines = stream.read().splitlines()
        payloads = [base64.b64decode(line.partition(b",")[2]) for line in lines]
        yield batch(pyarrow.array(payloads), part.file.name, row=rows_from(1, len(lines)))
"""
_ROW = '    "csv-base64": FormatRow(source="replay.sources.csv_base64.CsvSource", is_lines=True),\n'
_TABLE = "SAMPLE_FORMATS: Final[Mapping[str, FormatRow]] = {\n"


@pytest.mark.slow
def test_a_made_up_format_is_one_file_and_one_row(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "gitops", tmp_path / "gitops")
    (tmp_path / "gitops/replay/sources/csv_base64.py").write_text(_SOURCE)
    table = tmp_path / "gitops/model/sample_formats.py"
    text = table.read_text("utf-8")
    assert _TABLE in text
    table.write_text(text.replace(_TABLE, _TABLE + _ROW), "utf-8")

    repository = tmp_path / "repo"
    copy_template(repository)
    manifest = repository / "namespaces/shop/payments/captured.yaml"
    lines = manifest.read_text("utf-8").partition("samples:")[0]
    sample = "samples:\n  - format: csv-base64\n    path: captured.csv\n    version: 0\n"
    manifest.write_text(f"{lines}{sample}", "utf-8")
    payload = base64.b64encode(b"no payment").decode()
    (manifest.parent / "captured.csv").write_text(f"1,{payload}\n2,{payload}\n", "utf-8")

    words = ("replay", "--engine", "local", "shop/payments/captured")
    ended = run_and_tell(*words, folder=repository, variables={"PYTHONPATH": str(tmp_path)})
    assert "2 messages" in ended.stdout, ended.stdout + ended.stderr
    assert "captured.csv#1" in ended.stdout
