"""Runs a command in a process of its own and tells which modules it loaded."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

HEAVY: Final = (
    "cramjam",
    "fastavro",
    "git",
    "github",
    "gitops.messaging",
    "google.protobuf",
    "google_crc32c",
    "jsonschema",
    "numpy",
    "pandas",
    "pulsar",
    "pyarrow",
    "pyspark",
    "pytest",
    "starlette",
    "urllib3",
    "uvicorn",
)

RUN_AND_MODULES: Final = """
import sys

sys.argv = ["pulsar-gitops", *sys.argv[1:]]
from gitops.cli.app import main

status = 0
try:
    status = main()
except SystemExit as stop:
    status = stop.code
print("\\n".join(sys.modules), file=sys.stderr)
sys.exit(status)
"""


def run_and_tell(
    *words: str, folder: Path | None = None, variables: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", RUN_AND_MODULES, *words],
        cwd=folder,
        env={**os.environ, **(variables or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
