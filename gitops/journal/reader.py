"""Reads a journal: which applies there were, and what became of each action."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from gitops.journal.writer import check_version, is_start
from gitops.model.errors import UsageError
from gitops.model.journal import Attempt, JournalRun, Outcome

_Entry = Mapping[str, Any]
_INTERRUPTED: Final = "the process ended before the answer was written down"
_MOST_VERSIONS: Final = 1_000_000
"""A topic has fewer versions; a larger number in a journal is damage."""


def read_journal(path: Path) -> tuple[JournalRun, ...]:
    """All applies that the file tells of, in their order.

    A line that a crash has cut is left out. Raises UsageError where there is no file, or one that
    is no journal, or that a newer release has written.
    """
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        hint = "the journal lies beside the plan file; --journal names another"
        raise UsageError("there is no journal", where=str(path), hint=hint) from None
    except (OSError, ValueError) as error:
        raise UsageError("the journal cannot be read", where=str(path)) from error
    runs: dict[str, _Run] = {}
    for number, entry in _entries(text, path):
        try:
            if entry["entry"] == "start":
                runs[entry["run"]] = _Run(_begun(entry))
            else:
                runs[entry["run"]].add(entry)
        except (KeyError, TypeError, ValueError, IndexError):
            raise _damaged(path, number) from None
    return tuple(run.read() for run in runs.values())


class _Run:
    """An apply as far as it is read."""

    def __init__(self, start: JournalRun) -> None:
        self._start = start
        self._attempts: dict[int, Attempt] = {}

    def add(self, entry: _Entry) -> None:
        """Raises KeyError, TypeError, ValueError or IndexError for what no apply writes."""
        match entry["entry"]:
            case "intent":
                cut = Attempt(
                    action=entry["action"],
                    outcome=Outcome.UNKNOWN,
                    error=_INTERRUPTED,
                    closes=entry.get("closes", False),
                    forgotten=entry.get("forgotten"),
                )
                self._attempts[entry.get("attempt", len(self._attempts))] = cut
            case "outcome":
                # Lines of a release that wrote no numbers are in the order of the attempts.
                number = entry.get("attempt", len(self._attempts) - 1)
                self._attempts[number] = replace(
                    self._attempts[number],
                    outcome=Outcome(entry["outcome"]),
                    version=version_number(entry.get("version")),
                    error=entry.get("error", ""),
                )
            case "end":
                self._start = replace(self._start, ended=entry["time"], outcome=entry["outcome"])
            case other:
                raise ValueError(other)

    def read(self) -> JournalRun:
        """All of it."""
        return replace(self._start, attempts=tuple(self._attempts.values()))


def _entries(text: str, path: Path) -> Iterator[tuple[int, _Entry]]:
    lines = text.splitlines()
    for number, line in enumerate(lines, start=1):
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            # Where another apply begins, what is before it was cut.
            if number == len(lines) or is_start(lines[number]):
                continue
            raise _damaged(path, number) from None
        if not isinstance(entry, dict) or not isinstance(entry.get("run"), str):
            raise _damaged(path, number)
        if entry.get("entry") == "start":
            check_version(entry, path, number)
        yield number, entry


def _damaged(path: Path, number: int) -> UsageError:
    return UsageError(
        f"line {number} is no line of a journal",
        where=f"{path}:{number}",
        hint="restore the file; what the registry has is shown by `pulsar-gitops plan`",
    )


def version_number(value: object) -> int | None:
    """The number of a version in a journal; raises ValueError for what no registry answers."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < _MOST_VERSIONS:
        raise ValueError(value)
    return value


def _begun(entry: _Entry) -> JournalRun:
    """Raises KeyError, TypeError or ValueError for what no apply writes."""
    texts = [entry[name] for name in ("time", "plan", "registry", "address")]
    if not all(isinstance(text, str) for text in texts):
        raise TypeError(texts)
    return JournalRun(
        run=entry["run"],
        began=entry["time"],
        digest=entry["plan"],
        registry=entry["registry"],
        address=entry["address"],
        actions=entry["actions"],
        done_before=entry["doneBefore"],
        plan=entry.get("document"),
        command=entry.get("command", "apply"),
        namespaces=frozenset(entry.get("namespaces", ())),
    )
