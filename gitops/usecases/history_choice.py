"""Where a user wants known versions from."""

from __future__ import annotations

from enum import StrEnum


class HistoryChoice(StrEnum):
    """`auto` is the best that there is: the registry, its committed snapshot, git."""

    AUTO = "auto"
    REGISTRY = "registry"
    SNAPSHOT = "snapshot"
    GIT = "git"
