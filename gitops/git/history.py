"""The past of files: the commits that changed them, and when."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from gitops.git.checkout import Checkout


def first_parents(checkout: Checkout, commit: str, paths: Iterable[str], most: int) -> list[str]:
    """The commits that changed one of these files, newest first, `most` of them at most.

    Only along first parents: what was merged counts as one change, as it does for a registry.
    """
    wanted = [checkout.prefix + path for path in sorted(paths)]
    if not wanted:
        return []
    found = checkout.ask(
        *("--literal-pathspecs", "rev-list", "--first-parent", f"--max-count={most}", commit, "--"),
        *wanted,
    )
    return found.decode("ascii").split()


def last_change(checkout: Checkout, commit: str, folder: str) -> str:
    """The day, as `2026-11-20`, on which something in a folder last changed; empty if unknown."""
    said = checkout.line(
        *("--literal-pathspecs", "log", "-1", "--format=%H %cs", commit, "--"),
        checkout.prefix + folder,
    )
    name, _, day = said.partition(" ")
    # At the cut of a shallow clone everything looks as if it had just been written.
    return "" if name in _cuts(checkout) else day


def oldest_known(checkout: Checkout, commit: str) -> str | None:
    """The commit at which the first parents of a shallow clone end; None for a whole history."""
    cuts = _cuts(checkout)
    if not cuts:
        return None
    last = checkout.ask("rev-list", "--first-parent", commit).decode("ascii").split()[-1]
    return last if last in cuts else None


def _cuts(checkout: Checkout) -> frozenset[str]:
    if not checkout.is_shallow:
        return frozenset()
    file = Path(checkout.line("rev-parse", "--path-format=absolute", "--git-path", "shallow"))
    return frozenset(file.read_text("ascii").split())
