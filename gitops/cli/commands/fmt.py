"""`fmt`: one layout for all manifests and Avro definitions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gitops.cli import options
from gitops.cli.exits import Exit
from gitops.cli.options import HERE
from gitops.reports import results


def fmt(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="PATH", help="Only these files or folders."),
    ] = None,
    repo: options.Repo = HERE,
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; exit code 1 if something would change.")
    ] = False,
    diff: Annotated[
        bool, typer.Option("--diff", help="Change nothing; show the changes as unified diffs.")
    ] = False,
    output_format: Annotated[str, options.format_of(results.FmtResult)] = options.FORMAT,
    output: options.OutputFile = None,
) -> int:
    """Lay out manifests and Avro definitions (.avsc) the same way everywhere."""
    from gitops.cli.answer import Display, print_result
    from gitops.cli.console import refuse_inputs, require_writable
    from gitops.cli.session import relative_paths, repository_root
    from gitops.repository.file_trees import FolderTree
    from gitops.repository.folder import write_files
    from gitops.repository.formatting.repository import format_repository

    require_writable(output)
    root = repository_root(repo)
    tree = FolderTree(root)
    done = format_repository(
        tree, relative_paths(root, paths or []), lambda path: (root / path).is_symlink()
    )
    refuse_inputs([output], tree.consulted())
    written = not (check or diff)
    if written:
        write_files(root, {change.path: change.after for change in done.changes})
    result = results.FmtResult(formatting=done, written=written, diff=diff)
    print_result(result, Display(output_format=output_format, output=output))
    return Exit.FINDINGS if done.findings or (check and done.changes) else Exit.GOOD
