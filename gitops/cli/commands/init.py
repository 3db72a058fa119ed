"""`init`: a new schemas repository from the template."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from gitops.cli.exits import Exit


def init(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A new or empty folder.")],
) -> int:
    """Make a new schemas repository, with an example of everything."""
    from gitops.cli.console import print_message
    from gitops.repository.template import make_repository

    count = make_repository(directory)
    print_message(f"wrote {count} files to {directory}")
    print_message("next:")
    print_message(f"  cd {shlex.quote(str(directory))}")
    print_message("  pulsar-gitops validate")
    print_message("  pulsar-gitops plan --out plan.json")
    print_message("  pulsar-gitops apply plan.json")
    print_message("for a cluster that has schemas already, name it in gitops.yaml, then:")
    print_message("  rm -r namespaces types clients")
    print_message("  pulsar-gitops import --clients")
    above = [parent for parent in directory.resolve().parents if (parent / ".git").exists()]
    if above and not (directory / ".git").exists():
        print_message(
            f"GitHub looks for workflows in {above[0] / '.github'} only: see docs/how-to/"
        )
        print_message('set-up-github.md, "In a folder of another repository"')
    return Exit.GOOD
