"""Findings: every expected problem is one of these values, collected and shown at once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Final


class Severity(IntEnum):
    """How bad a finding is; higher is worse."""

    OFF = 0
    INFO = 1
    WARNING = 2
    ERROR = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """A place in a file of the repository.

    `file` is relative to the repository's root, with `/`. `line` and `column` count from 1; 0
    means the file as a whole. `length` is how many characters of that line are meant. `pointer`
    is an RFC 6901 JSON pointer into the document. A `sensitive` place may hold a secret: no output
    shows the text that stands there. `in_base`: the line is that of the base of a change, where
    something stood that is removed.
    """

    file: str
    line: int = 0
    column: int = 0
    length: int = 1
    pointer: str = ""
    sensitive: bool = False
    in_base: bool = False

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """What is a finding's own among those of one cause: the words, whom it is about, and where.

    `rule` is empty where it is that of all.
    """

    message: str
    subject: str = ""
    location: Location | None = None
    compared: Location | None = None
    rule: str = ""
    clients: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """What leads to a finding beside its own place: a subject, and a word of the lines there."""

    subject: str
    word: str = ""


UNDONE: Final = " (the edit undoes this change)"
"""Behind the hint of a patch that has the old definition back, and nothing else."""

ELSEWHERE: Final = " (the edit at line {}, column {} contains this)"
"""Behind the hint of a finding that the patch of another one takes away too."""

LATER: Final = " (make the edit at line {}, column {} first, then run this again)"
"""Behind the hint of a finding whose edit would change what another patch changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One problem: what (rule, message), how bad, where, about whom, and what to do next.

    `subject` is the name of the topic, namespace, client, … or the file's path. `compared` is the
    place on the other side of a comparison: its `file` is a file, or a version such as `v3`.
    `patch` is a unified diff that mends it, empty where no such edit is known. `cause` is what it
    has in common with findings about other subjects, as a sentence; empty where that is the
    message. `variants` are the findings that this one stands for (see `group`), empty where it
    stands for itself. `origin` is what it comes from where that is not its subject, and `changed`
    the line of a change that causes it, None where its own place is one, or nobody knows.
    `clients` are declared clients that it is about beside its subject.
    """

    rule: str
    severity: Severity
    message: str
    location: Location | None = None
    subject: str = ""
    hint: str = ""
    compared: Location | None = None
    patch: str = ""
    cause: str = ""
    variants: tuple[Variant, ...] = ()
    origin: Origin | None = None
    changed: Location | None = None
    clients: tuple[str, ...] = ()

    @property
    def subjects(self) -> tuple[str, ...]:
        """Whom it and its variants are about, each once, in their order."""
        return tuple(dict.fromkeys(member.subject for member in self.members))

    @property
    def members(self) -> tuple[Finding, ...]:
        """The findings that it stands for, each as it would read alone."""
        if not self.variants:
            return (self,)
        return tuple(
            replace(
                self,
                rule=variant.rule or self.rule,
                message=variant.message,
                subject=variant.subject,
                location=variant.location,
                compared=variant.compared,
                clients=variant.clients,
                variants=(),
            )
            for variant in self.variants
        )

    @property
    def is_mended_elsewhere(self) -> bool:
        """Whether the patch of another finding takes it away too."""
        start, _, end = ELSEWHERE.partition("{}")
        return start in self.hint and self.hint.endswith(end.rpartition("}")[2])

    @property
    def place(self) -> Location | None:
        """Where a change shows it: on its own lines if it can."""
        return self.changed or self.location

    @property
    def other_places(self) -> tuple[Location, ...]:
        """Where else it and its variants stand; a whole file is nothing beside its line."""
        place = self.place
        places = dict.fromkeys(member.location for member in self.members if member.location)
        return tuple(
            location
            for location in places
            if place and location != place and (location.file != place.file or location.line > 1)
        )

    def from_origin(self, subject: str, word: str = "") -> Finding:
        """The finding with what it comes from."""
        return replace(self, origin=Origin(subject=subject, word=word))

    @property
    def fingerprint(self) -> str:
        """12 hex digits of rule, subject, file, pointer and message: a moved line keeps them.

        One that stands for several has that of the first: it keeps it when further ones join.
        """
        if self.variants:
            return self.members[0].fingerprint
        where = self.location
        parts = (
            self.rule,
            self.subject,
            where.file if where else "",
            where.pointer if where else "",
            self.message,
        )
        return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:12]

    @property
    def sort_key(self) -> tuple[str, int, int, str, str]:
        """By place, then by rule: the order in which a person would fix them."""
        where = self.location
        if where is None:
            return (self.subject, 0, 0, self.rule, self.message)
        return (where.file, where.line, where.column, self.rule, self.message)


def group(message: str, findings: Sequence[Finding]) -> Finding:
    """One finding for several that have one cause, which `message` names; at least one.

    The rest of it is the first one's: rule, severity, place, hint and patch.
    """
    first = findings[0]
    if len(findings) == 1:
        return first
    variants = tuple(
        Variant(
            message=finding.message,
            subject=finding.subject,
            location=finding.location,
            compared=finding.compared,
            rule=finding.rule if finding.rule != first.rule else "",
            clients=finding.clients,
        )
        for finding in findings
    )
    return replace(first, message=message, variants=variants)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """Findings that have one cause, and the one that stands for them."""

    finding: Finding
    members: tuple[Finding, ...]

    @property
    def is_shared(self) -> bool:
        """Whether several subjects have it."""
        return len({member.subject for member in self.members}) > 1


def causes_of(findings: Iterable[Finding]) -> tuple[Cause, ...]:
    """The causes of findings, in the order of their first ones.

    One cause: the same rule, severity, place in the files and remedy, and the same sentence in
    common; the subjects may be many.
    """
    causes: dict[tuple[object, ...], list[Finding]] = {}
    for finding in dict.fromkeys(findings):
        common = finding.cause or finding.message
        key = (
            finding.rule,
            finding.severity,
            finding.location,
            finding.hint,
            finding.patch,
            common,
        )
        causes.setdefault(key, []).append(finding)
    return tuple(
        Cause(finding=_standing_for(key[-1], same), members=tuple(same))
        for key, same in causes.items()
    )


def _standing_for(cause: object, same: Sequence[Finding]) -> Finding:
    if len(same) == 1:
        return same[0]
    return group(str(cause), [member for finding in same for member in finding.members])
