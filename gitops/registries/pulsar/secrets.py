"""Where secrets and the address come from: environment variables and files, read when opened."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final

from gitops.model.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from gitops.model.config import SecretRef

_VARIABLE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def expand_variable(text: str, where: str) -> str:
    """The value of `${NAME}` if that is the whole text, else the text as it stands.

    Raises UsageError where the variable is not set or empty.
    """
    match = _VARIABLE.fullmatch(text)
    return text if match is None else read_variable(match[1], where)


def read_variable(name: str, where: str) -> str:
    """The value of an environment variable; raises UsageError if it is not set or empty."""
    value = os.environ.get(name, "").strip()
    if not value:
        raise UsageError(
            f"the environment variable {name} is not set",
            where=where,
            hint=f"set {name} where this command runs",
        )
    return value


def read_secret(ref: SecretRef, root: Path, where: str) -> str:
    """The secret itself, without the white space around it.

    Raises UsageError, which names the variable or the file and never what is in it.
    """
    if ref.kind == "env":
        source, value = f"the environment variable {ref.name}", read_variable(ref.name, where)
    else:
        source, value = ref.name, read_text_file(ref.name, root, where).strip()
    return usable_secret(value, source, where)


def usable_secret(value: str, source: str, where: str) -> str:
    """The secret, where a header can carry it; raises UsageError, which does not show it."""
    if not value:
        raise UsageError(f"{source} is empty", where=where, hint="put the secret into it")
    if not (value.isascii() and value.isprintable()):
        raise UsageError(
            f"{source} contains characters that an HTTP header cannot contain",
            where=where,
            hint="a secret is one line of printable ASCII",
        )
    return value


def read_text_file(name: str, root: Path, where: str) -> str:
    """The content of a file of the configuration; `name` is relative to `root` unless absolute.

    Raises UsageError where it cannot be read as UTF-8.
    """
    path = config_path(name, root)
    try:
        return path.read_text(encoding="utf-8")
    except OSError as cause:
        reason = cause.strerror or type(cause).__name__
        raise UsageError(f"cannot read {path}: {reason}", where=where) from cause
    except UnicodeDecodeError:
        # The decoder's error carries the content, so it must not travel as the cause.
        raise UsageError(f"{path} is not a text file in UTF-8", where=where) from None


def config_path(name: str, root: Path) -> Path:
    """A file that the configuration names; Pulsar's own `file://` before it is understood."""
    return root / name.removeprefix("file://")


def redact(text: str, secrets: tuple[str, ...]) -> str:
    """Replace each secret in a text."""
    for secret in secrets:
        text = text.replace(secret, "…")
    return text
