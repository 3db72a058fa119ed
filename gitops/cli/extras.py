"""The extras of an installation: a command whose libraries are missing says what to install."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec

from gitops.model.errors import UsageError


def need(what: str, modules: Iterable[str], extra: str, instead: str = "") -> None:
    """Raises UsageError where a module that `what` imports is not installed.

    `instead` is what does without.
    """
    if missing := [name for name in modules if find_spec(name) is None]:
        raise UsageError(
            f"{what} needs {' and '.join(missing)}, not installed here",
            hint=f"install pulsar-schema-gitops with its extra '{extra}': in a checkout, "
            f"pip install '.[{extra}]'{instead}",
        )
