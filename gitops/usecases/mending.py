"""Patches for findings: one is offered if the finding is gone after it, and no error is new."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Final

from gitops.model.findings import Finding, Severity
from gitops.planning.renames import renames
from gitops.repository.definitions.edits import Definition
from gitops.usecases.fixes import Problem, edits

Said = Mapping[tuple[str, str], Severity]
"""Rule and message of each finding, and how bad it is."""

Judge = Callable[[str], Said]
"""From a text of the new definition to what would be said of it."""

_TRIED: Final = 2_000_000
"""About how many characters of definitions are compared again, all patches together."""

_FINDING: Final = 500
"""As many characters as a finding counts for: each is found again at every trial."""

_FEWEST: Final = 2
"""How many edits are tried however large the definitions are."""


_NO_MORE: Final = "no patch is tried from here on: too much has changed"


class Mending:
    """Of one comparison: edits of `new`, each tried once, as many as the time allows.

    `old` are the definitions that findings compare with, by file.
    """

    def __init__(self, new: Definition, old: Mapping[str, Definition], judge: Judge) -> None:
        self._new = new
        self._old = old
        self._judge = judge
        self._size = len(new.text) + sum(len(each.text) for each in old.values())
        self._left = _FEWEST
        self._told = False
        self._found: dict[str, Said] = {}
        self._offered: set[str] = set()

    def mended(self, findings: Sequence[Finding]) -> tuple[Finding, ...]:
        """The findings with the smallest patch that helps; each patch is offered once.

        The first one for which there is no time says so.
        """
        cost = self._size + _FINDING * len(findings)
        self._left = max(_FEWEST, _TRIED // max(1, cost))
        self._found[self._new.text] = severities_of(findings)
        renamed = renames(findings)
        return tuple(self._mended(one, renamed) for one in findings)

    def _mended(self, one: Finding, renamed: Mapping[str, Finding]) -> Finding:
        if one.location is None or one.location.file != self._new.file:
            return one
        if not self._left:
            return self._untried(one)
        rename = renamed.get(one.location.pointer)
        tried = [rename, one] if rename and rename is not one else [one]
        for edited in chain.from_iterable(map(self._edits, tried)):
            if self._helps(one, edited):
                offered = edited in self._offered
                self._offered.add(edited)
                return one if offered else replace(one, patch=self._new.patch(edited))
        return one

    def _untried(self, one: Finding) -> Finding:
        if self._told or next(self._edits(one), None) is None:
            return one
        self._told = True
        return replace(one, hint=f"{one.hint} ({_NO_MORE})")

    def _edits(self, one: Finding) -> Iterator[str]:
        if one.rule == "AVRO-W006" and '"aliases"' not in one.hint:
            return iter(())  # where an alias would help the new schema's readers alone
        old = self._old.get(one.compared.file) if one.compared else None
        return edits(_problem(one), self._new, old)

    def _helps(self, one: Finding, edited: str) -> bool:
        before, after = self._said(self._new.text), self._said(edited)
        if before is None or after is None or not after.keys().isdisjoint(severities_of([one])):
            return False
        errors = (key for key, severity in after.items() if severity is Severity.ERROR)
        return all(before.get(key) is Severity.ERROR for key in errors)

    def _said(self, text: str) -> Said | None:
        """None where there is no time left to ask."""
        if text not in self._found:
            if not self._left:
                return None
            self._left -= 1
            self._found[text] = self._judge(text)
        return self._found[text]


def severities_of(findings: Iterable[Finding]) -> Said:
    """What counts of findings: what one of several versions is the cause of counts by itself."""
    return {(each.rule, each.message): each.severity for one in findings for each in one.members}


def _problem(one: Finding) -> Problem:
    return Problem(
        rule=one.rule,
        pointer=one.location.pointer if one.location else "",
        old_pointer=one.compared.pointer if one.compared else "",
        new_reads=" cannot read what the new schema writes" not in one.message,
    )
