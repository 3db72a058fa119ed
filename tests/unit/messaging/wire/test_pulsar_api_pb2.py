"""The generated classes are those of the .proto file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.project_files import ROOT

FOLDER = "gitops/messaging/wire"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pulsar_api_pb2.py", "pulsar_api_pb2.pyi"])
def test_compiling_the_protocol_again_changes_nothing(name: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "grpc_tools.protoc", f"--proto_path={ROOT}"]
    outs = [f"--python_out={tmp_path}", f"--pyi_out={tmp_path}"]
    subprocess.run([*command, *outs, f"{FOLDER}/pulsar_api.proto"], cwd=ROOT, check=True)
    made = (tmp_path / FOLDER / name).read_text("utf-8")
    assert made == (ROOT / FOLDER / name).read_text("utf-8"), "run scripts/compile-protocol"
