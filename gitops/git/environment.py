"""How git is started: nothing that a clone's settings, hooks or attributes name is run.

A clone may have come in an archive, on a shared folder or from a job that somebody else's code ran
in: git runs programs that its `.git/config` names. Checked with git 2.39.5.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Final

_KEPT: Final = re.compile(
    r"GIT_(CONFIG_(GLOBAL|SYSTEM|NOSYSTEM|COUNT|KEY_\d+|VALUE_\d+)"
    r"|CEILING_DIRECTORIES|DISCOVERY_ACROSS_FILESYSTEM)"
)
"""Where people's own settings are, such as `safe.directory`, and how far up clones are sought."""
_SETTINGS: Final = {
    # A command that is run whenever the index is read
    "core.fsmonitor": "false",
    # post-index-change
    "core.hooksPath": os.devnull,
    # `git log` would run gpg.program
    "log.showSignature": "false",
    # What is in a submodule has settings of its own.
    "submodule.recurse": "false",
}
_VARIABLES: Final = {
    # Nothing is written into the clone.
    "GIT_OPTIONAL_LOCKS": "0",
    # What a partial clone lacks is not fetched: that runs core.sshCommand, credential.helper and
    # remote.*.uploadpack. Git before 2.39.4 knows no such variable, and without any protocol it
    # starts no transport either.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
}


def forget_inherited() -> None:
    """Take away the variables that a hook hands down, and those that name programs.

    A hook's GIT_DIR would make git answer for another repository.
    """
    for name in [key for key in os.environ if key.startswith("GIT_")]:
        if not _KEPT.fullmatch(name):
            os.environ.pop(name)


def restrictions(filters: Iterable[str] = ()) -> dict[str, str]:
    """The variables to start git with; they override every file of settings.

    `filters` are the names in `filter.NAME.clean`: git has no switch for all of them. Conversions
    that need no program (line ends, encodings) stay. Git reads them from 2.31 on.
    """
    settings = dict(_SETTINGS)
    for name in filters:
        settings |= {f"filter.{name}.{way}": "" for way in ("clean", "smudge", "process")}
        settings[f"filter.{name}.required"] = "false"
    count = os.environ.get("GIT_CONFIG_COUNT", "")
    first = int(count) if count.isdecimal() else 0
    found = dict(_VARIABLES) | {"GIT_CONFIG_COUNT": str(first + len(settings))}
    for number, (key, value) in enumerate(settings.items(), first):
        found |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return found


def filters_in(listed: str) -> frozenset[str]:
    """The names of the filters in what `git config --null --list` prints."""
    keys = (each.partition("\n")[0] for each in listed.split("\0"))
    parts = (key.partition(".")[2].rpartition(".") for key in keys if key.startswith("filter."))
    return frozenset(name for name, _, _ in parts if name)


def is_restricted(listed: str) -> bool:
    """Whether git took the restrictions: they are in what `git config --null --list` prints."""
    values = dict(each.partition("\n")[::2] for each in listed.split("\0"))
    return all(values.get(key.lower()) == value for key, value in _SETTINGS.items())
