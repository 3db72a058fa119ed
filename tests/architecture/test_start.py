"""What a command must not pay for: libraries that it does not use."""

from __future__ import annotations

import subprocess
import sys
from typing import Final

HEAVY: Final = (
    "git",
    "github",
    "google.protobuf",
    "numpy",
    "pandas",
    "pyarrow",
    "pyspark",
    "starlette",
    "urllib3",
    "uvicorn",
)

HELP_AND_MODULES: Final = """
import sys

sys.argv = ["pulsar-gitops", "--help"]
from gitops.cli.app import main

status = 0
try:
    status = main()
except SystemExit as stop:
    status = stop.code
print("\\n".join(sys.modules), file=sys.stderr)
sys.exit(status)
"""


def test_help_imports_nothing_heavy() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", HELP_AND_MODULES],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ended.returncode == 0, ended.stderr
    assert "pulsar-gitops" in ended.stdout
    modules = ended.stderr.splitlines()
    assert "gitops.cli.app" in modules
    assert not set(HEAVY).intersection(modules)
