"""`fmt`: one layout for all manifests and Avro definitions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gitops.cli import options
from gitops.cli.exits import Exit
from gitops.cli.options import HERE, TextOrJson


def fmt(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[PATH]...", help="Only these files or folders."),
    ] = None,
    repo: options.Repo = HERE,
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; exit code 1 if something would change.")
    ] = False,
    diff: Annotated[
        bool, typer.Option("--diff", help="Change nothing; show the changes as unified diffs.")
    ] = False,
    output_format: options.TextOrJsonFormat = TextOrJson.TEXT,
    output: options.OutputFile = None,
) -> int:
    """Lay out manifests and Avro definitions (.avsc) the same way everywhere."""
    from gitops.cli.console import print_text, refuse_inputs, require_writable
    from gitops.cli.findings_output import relative_paths
    from gitops.cli.session import repository_root
    from gitops.reports.json.documents import formatted_document, to_text
    from gitops.reports.text.findings import formatting_text
    from gitops.repository.file_trees import FolderTree
    from gitops.repository.folder import write_files
    from gitops.usecases.fmt import format_repository

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
    if output_format is TextOrJson.JSON:
        print_text(to_text(formatted_document(done, written=written, diff=diff)), output)
    else:
        print_text(formatting_text(done, written=written, diff=diff), output)
    return Exit.FINDINGS if done.findings or (check and done.changes) else Exit.GOOD
