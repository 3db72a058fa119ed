"""From what people call a commit to the commit, and what is checked out."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from gitops.git.checkout import Checkout, open_checkout
from gitops.model.errors import GitopsError, OutsideError, UsageError
from gitops.model.rollout_reason import name_list
from gitops.repository.suggestions import did_you_mean

# From what people call a commit to the commit, and what two of them have in common.

_WHOLE: Final = re.compile(r"[0-9a-f]{40}")
_BY_HISTORY: Final = re.compile(r"\A[0-9a-f]{7,40}\Z|[~^]")
"""What names a commit by its hash or by its descendants, and not by a name of its own."""
_ACTIONS: Final = "with actions/checkout: `fetch-depth: 0`"
_NAMED: Final = 5
_NO_MORE: Final = 1
"""The exit status of `merge-base` and of `rev-parse --quiet` for: there is none."""


def commit_of(checkout: Checkout, reference: str) -> str:
    """The 40 hex digits of a commit.

    Raises OutsideError where a shallow clone seems to lack it, else UsageError, with what to do.
    """
    if reference.startswith("-") or "\0" in reference or not reference.strip():
        raise UsageError(
            f"'{reference}' is not the name of a commit", hint="name a branch or a commit"
        )
    value = checkout.line(
        *("rev-parse", "--verify", "--quiet", "--end-of-options", f"{reference}^{{commit}}"),
        answers=(0, _NO_MORE, 128),
    )
    if _WHOLE.fullmatch(value):
        return value
    if _BY_HISTORY.search(reference) and checkout.is_shallow:
        raise OutsideError(
            f"the clone is too shallow: it has no commit '{reference}'",
            hint=f"fetch all: git fetch --unshallow origin; {_ACTIONS}",
        )
    raise UsageError(
        f"this clone has no commit '{reference}'", hint=_how_to_get(checkout, reference)
    )


def head_of(checkout: Checkout) -> str | None:
    """The commit that is checked out; None before the first one."""
    value = checkout.line("rev-parse", "--verify", "--quiet", "HEAD", answers=(0, _NO_MORE))
    return value or None


def merge_base(checkout: Checkout, base: str, head: str, reference: str) -> str:
    """The newest commit that both descend from; `reference` is what the user calls `base`.

    Raises OutsideError where a shallow clone lacks it, UsageError where there is none.
    """
    value = checkout.line("merge-base", base, head, answers=(0, _NO_MORE))
    if value:
        return value
    if checkout.is_shallow:
        raise OutsideError(
            f"the clone is too shallow: it lacks the commit that '{reference}' and the change "
            "have in common",
            hint="fetch more: git fetch --deepen=200 origin, or all: "
            f"git fetch --unshallow origin; {_ACTIONS}",
        )
    raise UsageError(
        f"'{reference}' and the change have no commit in common",
        hint="name the branch that the change started from",
    )


def _how_to_get(checkout: Checkout, reference: str) -> str:
    known = _names(checkout, "refs")
    on_remote = [name for name in known if name.partition("/")[2] == reference]
    if on_remote:
        return f"did you mean {on_remote[0]}?"
    near = did_you_mean(reference, known)
    branch = reference.removeprefix("origin/").removeprefix("refs/remotes/origin/")
    if not re.fullmatch(r"[\w./-]+", branch):
        return near or "name a branch, a tag or a commit that is in this clone"
    into = "" if _WHOLE.fullmatch(branch) else f":refs/remotes/origin/{branch}"
    fetch = f"if it is on the remote: git fetch origin {branch}{into} ({_ACTIONS})"
    branches = _names(checkout, "refs/heads", "refs/remotes")
    here = near or (f"the branches here: {name_list(branches, _NAMED)};" if branches else "")
    return f"{here} {fetch}" if here else fetch


def _names(checkout: Checkout, *folders: str) -> list[str]:
    return checkout.line("for-each-ref", "--format=%(refname:short)", *folders).splitlines()


# What is checked out, for people to read.


_STATUS: Final = (
    "status",
    "--porcelain=v2",
    "-z",
    "--branch",
    "--no-ahead-behind",
    "--untracked-files=normal",
    # What is changed inside a submodule would be asked with the settings of the submodule.
    "--ignore-submodules=dirty",
)
_COMMIT: Final = "# branch.oid "
_BRANCH: Final = "# branch.head "


def describe(root: Path) -> str | None:
    """`4f1c9e2 main, clean` or `… with local changes`; None outside of git or before a commit."""
    try:
        with open_checkout(root) as checkout:
            listed = checkout.ask(*_STATUS, "--", *checkout.pathspec).decode("utf-8", "replace")
    except GitopsError:
        return None
    lines = listed.split("\0")
    commit, branch = (
        next((line.removeprefix(key) for line in lines if line.startswith(key)), "")
        for key in (_COMMIT, _BRANCH)
    )
    if not commit or commit == "(initial)":
        return None
    is_changed = any(line and not line.startswith("# ") for line in lines)
    name = "detached" if branch == "(detached)" else branch
    return f"{commit[:7]} {name}, {'with local changes' if is_changed else 'clean'}"
