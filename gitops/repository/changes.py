"""A change of a repository's files, wherever it comes from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFile:
    """One file of a change: where it was and where it is, None where it is not.

    Both are given and differ where it was renamed. A submodule is one file here, whatever changes
    in it.
    """

    before: str | None = None
    after: str | None = None
    submodule: bool = False
