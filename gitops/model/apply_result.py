"""What becomes of an action that an apply tries."""

from __future__ import annotations

from dataclasses import dataclass

from gitops.model.errors import GitopsError
from gitops.model.plan import Action


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What became of one action: the version that the registry answered, or why it failed.

    `closes`: the apply has stopped, and the action sets a topic back that it had loosened.
    """

    action: Action
    version: int | None = None
    error: GitopsError | None = None
    closes: bool = False
