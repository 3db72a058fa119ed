"""Patches for findings: one is offered if the finding is gone after it, and no error is new."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final

from gitops.model.findings import UNDONE, Finding, Severity
from gitops.repository.definitions.patches import NULL, Edit, Problem, edits
from gitops.repository.definitions.text_edits import Definition

Key = tuple[str, ...]
"""Rule and message of a finding, and its subject where there are several."""

Said = Mapping[Key, Severity]
"""Each finding, and how bad it is."""

Judge = Callable[[str], Said]
"""From a text of the new definition to what would be found in it."""

OldDefinition = Callable[[Finding], Definition | None]
"""The definition that a finding compares with."""

_TRIED: Final = 2_000_000
"""About how many characters of definitions are compared again, all patches together."""

_FINDING: Final = 500
"""As many characters as a finding counts for: each is found again at every trial."""

_FEWEST: Final = 2
"""How many edits are tried however large the definitions are."""

_MEMBERS: Final = 4
"""Of so many findings of one place edits are made: the others are mostly of the same kind."""

_NO_MORE: Final = "no patch is tried from here on: too much has changed"

_CODE: Final = re.compile(r': \{"name": "[^"]*", "type": \["null", "[^"]+"\], "default": null\}')
_OLD_READERS: Final = re.compile(
    r"(v\d+(?:(?:, | to )v\d+)*) cannot read messages of the new schema"
)


@dataclass(slots=True)
class Effort:
    """How much may still be tried, by all who share it."""

    characters: int = _TRIED
    fewest: int = _FEWEST
    is_end_told: bool = False

    def is_left(self, cost: int) -> bool:
        """Whether a trial of so many characters may be made."""
        return self.fewest > 0 or self.characters >= cost

    def spend(self, cost: int) -> None:
        """Count one trial."""
        self.fewest -= 1
        self.characters -= cost


@dataclass(slots=True)
class _Place:
    """The findings of one cause at one place of the new definition, and what became of edits."""

    findings: list[Finding]
    edit: Edit | None = None
    why: str = ""
    untried: bool = False


@dataclass(slots=True, kw_only=True)
class PatchSuggester:
    """Of one definition: edits of `new`, each tried once, as many as the effort allows.

    `old` finds the definition that a finding compares with, which is `size` characters in all.
    `by_subject`: findings are of several subjects, and each must be gone; what is found in the
    definition as it is, is asked too. Without it these are the findings.
    """

    new: Definition
    old: OldDefinition
    judge: Judge
    size: int = 0
    effort: Effort = field(default_factory=Effort)
    by_subject: bool = False
    _found: dict[str, Said] = field(default_factory=dict, init=False)
    _offered: set[str] = field(default_factory=set, init=False)

    def with_patches(self, findings: Sequence[Finding]) -> tuple[Finding, ...]:
        """The findings with the smallest patch that helps; each is offered at one place.

        An error that no edit helps against says why. The first place for which there is no time
        says so.
        """
        places = self._places(findings)
        for place in places.values():
            self._solve(place)
            if place.untried:
                place.untried, self.effort.is_end_told = not self.effort.is_end_told, True
        return tuple(
            self._told(one, places[key]) if (key := self._key(one)) else one for one in findings
        )

    def first_edit(self, findings: Sequence[Finding]) -> str | None:
        """The text after the first edit that helps; None where none does."""
        for place in self._places(findings).values():
            self._solve(place)
            if place.edit:
                return place.edit.text
        return None

    def _places(self, findings: Sequence[Finding]) -> dict[tuple[str, str, bool], _Place]:
        self.size += len(self.new.text) + _FINDING * len(findings)
        if not self.by_subject:
            self._found[self.new.text] = self._severities(findings)
        places: dict[tuple[str, str, bool], _Place] = {}
        for one in sorted(findings, key=lambda each: -each.severity):  # a patch is for an error
            if key := self._key(one):
                places.setdefault(key, _Place([])).findings.append(one)
        return places

    def _key(self, one: Finding) -> tuple[str, str, bool] | None:
        """What one edit would help against; None for a finding elsewhere."""
        if one.location is None or one.location.file != self.new.file:
            return None
        return one.rule, one.location.pointer, _problem(one.members[0]).new_reads

    def _solve(self, place: _Place) -> None:
        """Find the smallest edit that helps, or why there is none."""
        for edit in self._edits(place):
            before, after = self._after(self.new.text), self._after(edit.text)
            if before is None or after is None:
                place.untried = True
                return
            if not after.keys().isdisjoint(self._severities(place.findings)):
                continue
            errors = self._new_errors(after)
            if errors:
                place.why = place.why or _why(edit, errors)
            else:
                if edit.text not in self._offered:
                    self._offered.add(edit.text)
                    place.edit = edit
                place.why = ""
                return

    def _told(self, one: Finding, place: _Place) -> Finding:
        if place.untried:
            return replace(one, hint=f"{one.hint} ({_NO_MORE})")
        if place.why and one.severity is Severity.ERROR:
            return replace(one, hint=place.why)
        if not place.edit:
            return one
        # What the patch shows, the hint need not repeat.
        hint = _CODE.sub("", one.hint) + (UNDONE if place.edit.is_old else "")
        return replace(one, patch=self.new.patch(place.edit.text), hint=hint)

    def _edits(self, place: _Place) -> Iterator[Edit]:
        """What may help, each text once."""
        seen: set[str] = set()
        for one in islice(place.findings, _MEMBERS):
            for edit in self._edits_for(one):
                if edit.text not in seen:
                    seen.add(edit.text)
                    yield edit

    def _edits_for(self, one: Finding) -> Iterator[Edit]:
        """Of one that is about readers of both schemas, first what helps these and those."""
        sides = {each.new_reads: each for each in map(_problem, reversed(one.members))}
        first, *others = [sides[key] for key in sorted(sides, reverse=True)]
        for other in others:
            for edit in self._edits_of(first, one, self.new):
                for both in self._edits_of(other, one, self.new.with_text(edit.text)):
                    yield replace(both, attempt=edit.attempt)
        yield from self._edits_of(first, one, self.new)

    def _edits_of(self, problem: Problem, one: Finding, new: Definition) -> Iterator[Edit]:
        """What may help; a rename explains what is missing, and comes first."""
        old = self.old(one)
        if problem.is_rename and '"aliases"' in one.hint:  # else it helps the new readers alone
            yield from edits(replace(problem, rule="AVRO-W006"), new, old)
        if problem.rule != "AVRO-W006":
            yield from edits(problem, new, old)

    def _new_errors(self, after: Said) -> list[Key]:
        """The errors that are none in the definition as it is."""
        before = self._found[self.new.text]
        return [
            key
            for key, severity in after.items()
            if severity is Severity.ERROR and before.get(key) is not Severity.ERROR
        ]

    def _severities(self, findings: Iterable[Finding]) -> Said:
        return severities_of(findings, by_subject=self.by_subject)

    def _after(self, text: str) -> Said | None:
        """None where there is no time left to ask."""
        if text not in self._found:
            if not self.effort.is_left(self.size):
                return None
            self.effort.spend(self.size)
            self._found[text] = self.judge(text)
        return self._found[text]


def severities_of(findings: Iterable[Finding], *, by_subject: bool = False) -> Said:
    """What counts of findings: what one of several versions is the cause of counts by itself."""
    return {
        (each.rule, each.message, *([each.subject] if by_subject else [])): each.severity
        for one in findings
        for each in one.members
    }


def _why(edit: Edit, errors: Iterable[Key]) -> str:
    """Why an edit is none that helps, as a hint; empty where no version is the reason."""
    messages = [message for rule, message, *_ in errors if rule.startswith("AVRO-R")]
    readers = next(filter(None, map(_OLD_READERS.match, messages)), None)
    if edit.attempt == NULL and readers:
        return (
            f"consumers on {readers[1]} cannot read null: keep the type with a default of its own, "
            "or add a new nullable field"
        )
    return f"{edit.attempt} does not help, add a new field: {messages[0]}" if messages else ""


def _problem(one: Finding) -> Problem:
    """Of a finding that is about readers of one schema."""
    return Problem(
        rule=one.rule,
        pointer=one.location.pointer if one.location else "",
        old_pointer=one.compared.pointer if one.compared else "",
        new_reads=" cannot read messages of the new schema" not in one.message,
    )
