"""Patches for findings: one is offered if the finding is gone after it, and no error is new."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final

from gitops.model.findings import ELSEWHERE, LATER, UNDONE, Finding, Severity
from gitops.repository.definitions.patches import NULL, Edit, Problem, edits
from gitops.repository.definitions.text_edits import (
    Change,
    Definition,
    by_lines,
    change_of,
    is_apart,
    with_changes,
)

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

_SECONDS: Final = 10.0
"""As much of the processor's time: some definitions take far more than their length suggests."""

_FINDING: Final = 500
"""As many characters as a finding counts for: each is found again at every trial."""

_FEWEST: Final = 2
"""How many edits are tried however large the definitions are."""

_MEMBERS: Final = 4
"""Of so many findings of one place edits are made: the others are mostly of the same kind."""

_NO_MORE: Final = "no patch is tried from here on: too much has changed"

_CODE: Final = re.compile(r': \{"name": "[^"]*", "type": \["null", "[^"]+"\], "default": null\}')
_LOST: Final = re.compile(r"reader field '([^']+)'")
_OLD_READERS: Final = re.compile(
    r"(v\d+(?:(?:, | to )v\d+)*) cannot read messages of the new schema"
)


@dataclass(slots=True)
class Effort:
    """How much may still be tried, by all who share it."""

    characters: int = _TRIED
    seconds: float = _SECONDS
    fewest: int = _FEWEST
    is_end_told: bool = False

    def is_left(self, cost: int) -> bool:
        """Whether a trial of so many characters may be made."""
        return self.fewest > 0 or (self.characters >= cost and self.seconds > 0)

    def spend(self, cost: int, seconds: float) -> None:
        """Count one trial, which took so much of the processor's time."""
        self.fewest -= 1
        self.characters -= cost
        self.seconds -= seconds


@dataclass(slots=True)
class _Place:
    """The findings of one cause at one place of the new definition, and what became of edits."""

    findings: list[Finding]
    edit: Edit | None = None
    why: str = ""
    untried: bool = False
    note: str = ""

    def leave_to(self, place: _Place, note: str) -> None:
        """Have the edit of another place instead; a note says where that is."""
        there, self.edit = place.findings[0].location, None
        is_same = note == ELSEWHERE and there == self.findings[0].location
        self.note = "" if is_same or there is None else note.format(there.line, there.column)


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
    _offered: dict[str, _Place] = field(default_factory=dict, init=False)

    def with_patches(self, findings: Sequence[Finding]) -> tuple[Finding, ...]:
        """The findings with the smallest patch that helps; each is offered at one place.

        Edits of one line are one patch. An error that no edit helps against says why. The first
        place for which there is no time says so.
        """
        places = self._places(findings)
        for place in places.values():
            self._solve(place)
            if place.untried:
                place.untried, self.effort.is_end_told = not self.effort.is_end_told, True
        self._join([place for place in places.values() if place.edit])
        return tuple(
            self._told(finding, places[key]) if (key := self._key(finding)) else finding
            for finding in findings
        )

    def first_edit(self, findings: Sequence[Finding]) -> str | None:
        """The text after the first edit that helps; None where none does."""
        for place in self._places(findings).values():
            self._solve(place)
            if place.edit:
                return place.edit.text
        return None

    def _places(self, findings: Sequence[Finding]) -> dict[tuple[str, str, str, bool], _Place]:
        self.size += len(self.new.text) + _FINDING * len(findings)
        if not self.by_subject:
            self._found[self.new.text] = self._severities(findings)
        places: dict[tuple[str, str, str, bool], _Place] = {}
        for finding in sorted(findings, key=lambda item: -item.severity):  # a patch is for an error
            if key := self._key(finding):
                places.setdefault(key, _Place([])).findings.append(finding)
        return places

    def _key(self, finding: Finding) -> tuple[str, str, str, bool] | None:
        """What one edit would help against; None for a finding elsewhere."""
        if finding.location is None or finding.location.file != self.new.file:
            return None
        first = finding.members[0]
        is_new, lost = _problem(first).new_reads, _LOST.search(first.message)
        return finding.rule, finding.location.pointer, "" if is_new or not lost else lost[1], is_new

    def _solve(self, place: _Place) -> None:
        """Find the smallest edit that helps, or why there is none."""
        if not self.effort.is_left(self.size):  # each edit is a copy of the text
            place.untried = True
            return
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
                if self._offered.setdefault(edit.text, place) is place:
                    place.edit = edit
                else:
                    place.leave_to(self._offered[edit.text], ELSEWHERE)
                place.why = ""
                return

    def _join(self, places: Iterable[_Place]) -> None:
        """Have one edit of each line: where several differ in their places, all in one."""
        text = self.new.text
        changes = {change_of(text, place.edit.text): place for place in places if place.edit}
        for group in by_lines(text, changes):
            self._join_on_line([(change, changes[change]) for change in group])

    def _join_on_line(self, group: Sequence[tuple[Change, _Place]]) -> None:
        (change, first), *other_changes = group
        apart = [change]
        for items, _ in other_changes:
            apart += [items] if is_apart(items, apart) else []
        joined = [place for entries, place in group if entries in apart]
        edited = with_changes(self.new.text, apart)
        is_good = len(joined) > 1 and self._helps(edited, joined)
        if is_good and first.edit:
            first.edit = replace(first.edit, text=edited)
        for _, place in other_changes:
            place.leave_to(first, ELSEWHERE if is_good and place in joined else LATER)

    def _helps(self, text: str, places: Iterable[_Place]) -> bool:
        """Whether a text has none of these findings, and no new error."""
        findings = [finding for place in places for finding in place.findings]
        after = self._after(text)
        return (
            after is not None
            and after.keys().isdisjoint(self._severities(findings))
            and not self._new_errors(after)
        )

    def _told(self, finding: Finding, place: _Place) -> Finding:
        if place.untried:
            return replace(finding, hint=f"{finding.hint} ({_NO_MORE})")
        if place.why and finding.severity is Severity.ERROR:
            return replace(finding, hint=place.why)
        # What the patch shows, the hint need not repeat.
        hint = _CODE.sub("", finding.hint)
        if place.note:
            return replace(finding, hint=hint + place.note)
        if not place.edit:
            return finding
        patch = self.new.patch(place.edit.text)
        return replace(finding, patch=patch, hint=hint + (UNDONE if place.edit.is_old else ""))

    def _edits(self, place: _Place) -> Iterator[Edit]:
        """What may help, each text once."""
        seen: set[str] = set()
        for finding in islice(place.findings, _MEMBERS):
            for edit in self._edits_for(finding):
                if edit.text not in seen:
                    seen.add(edit.text)
                    yield edit

    def _edits_for(self, finding: Finding) -> Iterator[Edit]:
        """Of one that is about readers of both schemas, what helps these and those.

        One edit does if it is no rename.
        """
        sides = {item.new_reads: item for item in map(_problem, reversed(finding.members))}
        first, *other_problems = [sides[key] for key in sorted(sides, reverse=True)]
        if not first.is_rename:
            yield from self._edits_of(first, finding, self.new)
        for problem in other_problems if self.effort.is_left(self.size) else ():
            for edit in self._edits_of(first, finding, self.new):
                for both in self._edits_of(problem, finding, self.new.with_text(edit.text)):
                    yield replace(both, attempt=edit.attempt)
        if first.is_rename:
            yield from self._edits_of(first, finding, self.new)

    def _edits_of(self, problem: Problem, finding: Finding, new: Definition) -> Iterator[Edit]:
        """What may help; a rename explains what is missing, and comes first."""
        old = self.old(finding)
        if problem.is_rename and '"aliases"' in finding.hint:  # else it helps the new readers alone
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
            begin = time.process_time()
            self._found[text] = self.judge(text)
            self.effort.spend(self.size, time.process_time() - begin)
        return self._found[text]


def severities_of(findings: Iterable[Finding], *, by_subject: bool = False) -> Said:
    """What counts of findings: what one of several versions is the cause of counts by itself."""
    return {
        (member.rule, member.message, *([member.subject] if by_subject else [])): member.severity
        for finding in findings
        for member in finding.members
    }


def _why(edit: Edit, errors: Iterable[Key]) -> str:
    """Why an edit is none that helps, as a hint; empty where no version is the reason."""
    messages = [message for rule, message, *_ in errors if rule.startswith("AVRO-R")]
    readers = next(filter(None, map(_OLD_READERS.match, messages)), None)
    if edit.attempt == NULL and readers:
        return (
            f"consumers on {readers[1]} cannot read null: keep the type with its own default, "
            "or add a new nullable field"
        )
    return f"{edit.attempt} does not help, add a new field: {messages[0]}" if messages else ""


def _problem(finding: Finding) -> Problem:
    """Of a finding that is about readers of one schema."""
    return Problem(
        rule=finding.rule,
        pointer=finding.location.pointer if finding.location else "",
        old_pointer=finding.compared.pointer if finding.compared else "",
        new_reads=" cannot read messages of the new schema" not in finding.message,
    )
