"""Definitions in files, compared as the versions of one topic."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from gitops.broker.lines.table import line_of
from gitops.model.errors import UsageError
from gitops.model.policy import BrokerSettings
from gitops.repository.definition_files import read_file
from gitops.repository.definitions.upload import parse_type
from gitops.repository.file_comparison import Comparison, compare
from gitops.repository.suggestions import parse_strategy

_DEFAULT_BROKER: Final = BrokerSettings()


def compare_files(  # noqa: PLR0913 - each is an option of the command
    files: Sequence[Path],
    strategy: str,
    schema_type: str | None = None,
    messages: Sequence[str] = (),
    root: Path | None = None,
    *,
    broker: BrokerSettings = _DEFAULT_BROKER,
) -> Comparison:
    """The last file as a candidate after the others, oldest first; raises UsageError.

    `messages` are the root message of `.proto` files: one of all, or that of the old files and
    that of the new one. Their imports may reach `root`. `broker` is the one that decides.
    """
    rule = parse_strategy(strategy)
    if schema_type is not None:
        parse_type(schema_type)
    named = _root_messages(messages, len(files))
    sides = tuple(
        read_file(path, schema_type, message, root)
        for path, message in zip(files, named, strict=True)
    )
    return compare(sides, rule, line_of(broker, "--broker"))


def _root_messages(messages: Sequence[str], count: int) -> list[str | None]:
    """The root message of each file."""
    match messages:
        case []:
            return [None] * count
        case [message]:
            return [message] * count
        case [old, new]:
            return [*[old] * (count - 1), new]
        case _:
            hint = "name it once, or that of the old files and then that of the new one"
            raise UsageError(f"--message names {len(messages)} messages", hint=hint)
