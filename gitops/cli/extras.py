"""The extras of an installation: a command whose libraries are missing says what to install."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec

from gitops.model.errors import UsageError


def need(what: str, modules: Iterable[str], extra: str) -> None:
    """Raises UsageError where a module that `what` imports is not installed."""
    if missing := [name for name in modules if find_spec(name) is None]:
        raise UsageError(
            f"{what} needs {' and '.join(missing)}, not installed here",
            hint=f"pip install 'pulsar-schema-gitops[{extra}]'",
        )
