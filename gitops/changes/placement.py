"""Where a change causes a finding: on one of its own lines, which reviewers look at."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from gitops.changes.change import LoadedChange
from gitops.git.changed_files import ChangedText, Hunk, changed_texts
from gitops.model.check import CheckReport, Impact, RegistryCheck
from gitops.model.errors import UnreadableFileError
from gitops.model.findings import Finding, Location
from gitops.repository.definitions.json_positions import positions_in

_STRATEGY: Final = "schemaCompatibilityStrategy"
_DEFINITIONS: Final = (".avsc", ".proto")


def placed_report(report: CheckReport, loaded: LoadedChange) -> CheckReport:
    """The report with the changed line of each finding whose own place is none."""
    places = _Placing(loaded=loaded, touched=report.touched)
    return replace(
        report,
        registries=tuple(map(places.locate_registry, report.registries)),
        findings=places.locate(report.findings),
    )


@dataclass(kw_only=True)
class _Placing:
    """Finds changed lines; git is asked once, and only where something was found."""

    loaded: LoadedChange
    touched: Impact

    @cached_property
    def _lines(self) -> ChangedLines:
        return ChangedLines(self.loaded)

    def locate_registry(self, registry_check: RegistryCheck) -> RegistryCheck:
        """A registry's answer with the places in all its findings."""
        refused = {
            topic: self.locate(findings)
            for topic, findings in registry_check.refused_before.items()
        }
        return replace(
            registry_check,
            plan=registry_check.plan.with_findings(self.locate),
            refused_before=refused,
        )

    def locate(self, findings: Iterable[Finding]) -> tuple[Finding, ...]:
        """The findings with their changed lines."""
        return tuple(replace(finding, changed=self._place(finding)) for finding in findings)

    def _place(self, finding: Finding) -> Location | None:
        """None where its own place is a changed line, or no line is known to cause it."""
        location = next(self._candidates(finding), None)
        return None if location == finding.location else location

    def _candidates(self, finding: Finding) -> Iterator[Location]:
        """The likely ones first: its own lines, what it comes from, its files, its subjects."""
        lines, word = self._lines, finding.origin.word if finding.origin else ""
        own = [member.location for member in finding.members if member.location]
        yield from (
            location for location in (finding.location, *own) if location and lines.has(location)
        )
        if finding.origin:
            yield from self._of_files(self._leads(finding.origin.subject), word)
        if finding.compared and lines.has(finding.compared):
            yield finding.compared
        yield from (near for location in own if (near := lines.nearest(location, word)))
        subjects = [path for subject in finding.subjects for path in self._leads(subject)]
        files = [path for subject in finding.subjects for path in self._leads_to_file(subject)]
        yield from self._of_files([*subjects, *files], word or _STRATEGY)

    def _of_files(self, files: Iterable[str], word: str) -> Iterator[Location]:
        """The lines that have the word; without any, the first changed ones."""
        paths = sorted(set(files), key=lambda path: (not path.endswith(_DEFINITIONS), path))
        for wanted in dict.fromkeys((word, "")):
            places = (self._lines.first(path, wanted) for path in paths)
            yield from (place for place in places if place)

    def _leads(self, subject: str) -> tuple[str, ...]:
        """The changed files that lead to a topic or a namespace."""
        return self._files.get(subject, ())

    def _leads_to_file(self, file: str) -> Iterator[str]:
        """The changed files that lead to a file that is a subject, or to topics that used it."""
        yield from self.loaded.leads.get(file, ())
        for topic, source in self.loaded.base.topics.items():
            if file in source.definitions:
                yield from self._leads(str(topic))

    @cached_property
    def _files(self) -> Mapping[str, tuple[str, ...]]:
        both = (self.touched.topics, self.touched.namespaces)
        return {str(name): files for mapping in both for name, files in mapping.items()}


class ChangedLines:
    """The lines that a change adds, and those beside which it removes some."""

    def __init__(self, loaded: LoadedChange) -> None:
        self._tree = loaded.head_tree
        change = loaded.change
        self._texts = dict(changed_texts(change.checkout, change.base, change.head))
        new = [file.after for file in change.files if file.after and not file.before]
        for path in new if not change.head else ():
            if path not in self._texts:  # git knows nothing of an untracked file
                whole = Hunk(old=0, new=1, added=tuple(self._text(path).splitlines()))
                self._texts[path] = ChangedText(before=None, hunks=(whole,))
        self._names = {text.before: path for path, text in self._texts.items()}

    def has(self, where: Location) -> bool:
        """Whether the place is a line that the change adds."""
        return not where.in_base and any(
            where.line in _added(hunk) for hunk in self._of(where.file)
        )

    def first(self, file: str, word: str) -> Location | None:
        """The first line with a word, or beside one that is removed; with no word the first."""
        for hunk in self._of(file):
            if (line := _line_with(hunk, word)) is not None:
                return Location(file=file, line=line)
        return None

    def nearest(self, where: Location, word: str) -> Location | None:
        """Of the same file: inside the value that is meant, with the word, or the nearest."""
        file = self._names.get(where.file, where.file) if where.in_base else where.file
        hunks = self._of(file)
        if not hunks:
            return None
        start, end = (where.line, where.line) if where.in_base else self._extent(where)
        inside = [hunk for hunk in hunks if _distance(hunk, start, end, where) == 0]
        named = next((hunk for hunk in inside if _line_with(hunk, word) is not None), None)
        best = named or min(hunks, key=lambda hunk: _distance(hunk, start, end, where))
        line = _line_with(best, word if named else "")
        return Location(file=file, line=line) if line else None

    def _of(self, file: str) -> tuple[Hunk, ...]:
        return self._texts[file].hunks if file in self._texts else ()

    def _extent(self, where: Location) -> tuple[int, int]:
        """The first and the last line of the value of a definition; else the line alone."""
        if not where.file.endswith(".avsc"):
            return where.line, where.line
        text = self._text(where.file)
        span = positions_in(where.file, text).nearest(where.pointer)
        if span is None:
            return where.line, where.line
        return where.line, text.count("\n", 0, span.end) + 1

    def _text(self, path: str) -> str:
        try:
            return self._tree.read(path).decode("utf-8", "replace")
        except UnreadableFileError:
            return ""


def _added(hunk: Hunk) -> range:
    return range(hunk.new, hunk.new + len(hunk.added))


def _line_with(hunk: Hunk, word: str) -> int | None:
    """The line of the head to show: of what is only removed, the one in front of the gap."""
    first = max(1, hunk.new)
    if not word:
        return first
    has = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)").search
    items = (hunk.new + number for number, text in enumerate(hunk.added) if has(text))
    return next(items, first if any(map(has, hunk.removed)) else None)


def _distance(hunk: Hunk, start: int, end: int, where: Location) -> int:
    """How many lines lie between a hunk and a value."""
    first, count = (hunk.old, len(hunk.removed)) if where.in_base else (hunk.new, len(hunk.added))
    last = first + max(count, 1) - 1
    return max(0, first - end, start - last)
