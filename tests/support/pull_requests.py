"""The template as a git repository, with a change that somebody proposes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Final

from gitops.cli.app import COMMANDS
from gitops.reports.formats import FORMATS
from tests.support.prepared_command import prepared_program

HAS_CHECK: Final = any(row.name == "check" for row in COMMANDS) and ("github" in FORMATS)
"""Whether there is a command that checks such a change, and tells GitHub."""


def pull_request(folder: Path) -> str:
    """The template, and on top of it a commit that breaks a schema; answers the base."""
    subprocess.run([prepared_program(), "init", "."], cwd=folder, check=True, capture_output=True)
    base = git_repository(folder)
    break_schema(folder)
    _git(folder, "commit", "--quiet", "--all", "--message=break it")
    return base


def git_repository(folder: Path) -> str:
    """Make the folder one, with all that it holds as the first commit; answers the commit."""
    _git(folder, "init", "--quiet", "--initial-branch=main")
    _git(folder, "add", ".")
    _git(folder, "commit", "--quiet", "--message=schemas")
    return _git(folder, "rev-parse", "HEAD")


def _git(folder: Path, *words: str) -> str:
    who = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(
        ["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def break_schema(folder: Path) -> None:
    """Add a field without a default to a schema: what was written cannot be read with it."""
    schema = folder / "namespaces" / "shop" / "payments" / "captured.avsc"
    content = json.loads(schema.read_text("utf-8"))
    content["fields"].append({"name": "currency", "type": "string"})
    schema.write_text(json.dumps(content, indent=2) + "\n", "utf-8")
