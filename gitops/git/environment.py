"""The environment that git is started in."""

from __future__ import annotations

import os


def forget_inherited() -> None:
    """Take away the variables that a hook hands down.

    A hook's GIT_DIR would make git answer for another repository.
    """
    for name in [key for key in os.environ if key.startswith("GIT_")]:
        os.environ.pop(name)
