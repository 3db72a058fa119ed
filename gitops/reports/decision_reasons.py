"""Why a change is decided as it is: what the files change, then what follows from it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple, final

from gitops.model.findings import Finding
from gitops.model.plan import ChangeKind, SchemaChange
from gitops.model.rollout_reason import last_name, name_list
from gitops.model.rules import RULES
from gitops.reports.check_summary import CLIENTS_FIRST, OTHER_VALUES, claim
from gitops.reports.topic_rows import Row

_SHOWN: Final = 3
"""How many reasons are given; the report has all."""
_TOPICS: Final = 2
_NAMES: Final = 10
_AT: Final = re.compile(r" at '([^']*)'")
_CLIENTS: Final = " (clients first)"
"""Behind the topic of those who cannot reconnect, where other reasons stand beside that."""
_REFUSED: Final = " (refused)"
_EDITED: Final = " (even when edited)"
_NO_DEFAULT: Final = "AVRO-R002"
_SYMBOL: Final = "symbol "
_LOGICAL: Final = "logicalType "
RENAME: Final = "if it is a rename, "
"""So begins the hint of a finding about a field that is missing and may have another name now."""


def more_text(left: int) -> str:
    """`and 6 more below`."""
    return f"and {left:,} more below"


def subject_text(finding: Finding) -> str:
    """Its topics; many share a place, such as the line of a shared type."""
    names, where = finding.subjects, finding.location
    if len(names) <= _TOPICS or not where:
        return name_list(names, _TOPICS)
    return f"{where.file}:{where.line} ({len(names):,} topics)"


class _Reason(NamedTuple):
    """What the files change of a topic, if it is known, and what follows from it."""

    topic: str
    change: str
    effect: str


@final
class Reasons:
    """The reasons of a report, with what the topics' rows change."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._changes = {str(row.topic): row.changes for row in rows}
        self._refused = {str(row.topic) for row in rows if row.is_refused}

    def texts(self, findings: Sequence[Finding]) -> Iterator[str]:
        """One is given whole; of several what they claim, and what the rest is about."""
        if len(findings) == 1:
            yield self.text(findings[0], findings[0].message)
            return
        is_mixed = len({finding.rule == CLIENTS_FIRST for finding in findings}) > 1
        yield from self._brief(findings[:_SHOWN], is_mixed=is_mixed)
        left = findings[_SHOWN:]
        if left and all(finding.rule == CLIENTS_FIRST for finding in left):
            yield from self._brief(left[:_SHOWN], is_mixed=is_mixed)
            if len(left) > _SHOWN:
                yield more_text(len(left) - _SHOWN)
        elif left:
            titles = dict.fromkeys(
                RULES[finding.rule].title for finding in left if finding.rule in RULES
            )
            number = f"{len(left):,} more finding{'' if len(left) == 1 else 's'}"
            yield f"{number}: {'; '.join(titles)}" if titles else more_text(len(left))

    def text(self, finding: Finding, text: str) -> str:
        """`a/b/c: 'email' string → bytes; v0 cannot read messages of the new schema`.

        Beside what the files change no details are needed.
        """
        return _text(self._reason(finding, text))

    def of_warning(self, finding: Finding, findings: Iterable[Finding]) -> str:
        """Where its rule says the same of both sides, as one: each reads what the other writes."""
        same = [
            item
            for item in findings
            if (item.rule, item.subjects) == (finding.rule, finding.subjects)
        ]
        first = self._reason(finding, claim(finding))
        if finding.rule != OTHER_VALUES or len(same) == 1:
            return _text(first)
        _, at, counted = first.effect.partition(" (")
        effect = f"old and new schemas read each other's values wrong{at}{counted}"
        return _text(first._replace(effect=effect))

    def _brief(self, findings: Iterable[Finding], *, is_mixed: bool) -> Iterator[str]:
        """What they claim; what follows from one change is one reason."""
        merged: dict[tuple[str, str], list[tuple[bool, str]]] = {}
        for finding in findings:
            is_late = finding.rule == CLIENTS_FIRST
            reason = self._locked_out(finding) if is_late else self._reason(finding, claim(finding))
            key = (reason.topic, reason.change or reason.effect)
            merged.setdefault(key, []).append((is_late, reason.effect if reason.change else ""))
        for (topic, change), effects in merged.items():
            first = sorted(
                effects, key=lambda texts: not texts[0]
            )  # who reads it, then why it passes
            effect = "; ".join(filter(None, dict.fromkeys(text for _, text in first)))
            is_late = all(late for late, _ in effects)
            marks = (_REFUSED, _EDITED) if topic in self._refused else ("", _CLIENTS)
            mark = marks[is_late]
            yield _text(_Reason(f"{topic}{mark if topic and is_mixed else ''}", change, effect))

    def _reason(self, finding: Finding, text: str) -> _Reason:
        change = self._change(finding, text)
        if change:
            topic = finding.subjects[0]
            text = _AT.sub("", claim(finding), count=1).removeprefix(f"{topic} is ")
            return _Reason(subject_text(finding), change, text)
        named = any(subject in text for subject in finding.subjects)
        return _Reason("" if named else subject_text(finding), "", text)

    def _locked_out(self, finding: Finding) -> _Reason:
        """`a/b/c: 'count' int → long; crm and audit cannot reconnect after the merge`."""
        clients, late = name_list(finding.subjects, _NAMES), "cannot reconnect after the merge"
        origin = finding.members[0].origin
        if origin is None:
            return _Reason("", "", f"{clients} {late}")
        changes = self._changes.get(origin.subject, ())
        for change in changes:
            if origin.word and last_name(change.path) == origin.word:
                need = "needs" if len(finding.subjects) == 1 else "need"
                so = f"{need} it and " if change.kind is ChangeKind.REMOVED else ""
                return _Reason(origin.subject, change_text(change), f"{clients} {so}{late}")
        return _Reason(origin.subject, "", f"{clients} {late}")

    def _change(self, finding: Finding, text: str) -> str:
        """What the files change at the place that the finding names."""
        first = finding.members[0]
        match = _AT.search(text) or _AT.search(first.message)
        if not match:
            return ""
        changes = self._changes.get(first.subject, ())
        at = [change for change in changes if change.path == match[1] and not change.ignored]
        if len(at) != 1:
            return ""
        if len(finding.subjects) > 1:  # each has it at another place
            at = [replace(at[0], path=last_name(at[0].path))]
        gone = [
            change
            for change in changes
            if change.kind is ChangeKind.REMOVED and _parent(change) == _parent(at[0])
        ]
        if finding.hint.startswith(RENAME) and len(gone) == 1:
            return f"'{gone[0].path}' is gone, and '{at[0].path}' is new and has no default"
        if finding.rule == _NO_DEFAULT and at[0].kind is not ChangeKind.CHANGED:
            return f"{change_text(at[0])} and has no default"
        return change_text(at[0])


def _text(reason: _Reason) -> str:
    text = "; ".join(filter(None, (reason.change, reason.effect)))
    return f"{reason.topic}: {text}" if reason.topic else text


def change_text(change: SchemaChange) -> str:
    """`'email' (string) is new`, `'email' is removed`, `'email' string → bytes`."""
    match change.kind:
        case ChangeKind.ADDED if change.after.startswith(_SYMBOL):
            return f"'{change.path}' gets the {change.after}"
        case ChangeKind.ADDED:
            return f"'{change.path}' ({change.after}) is new"
        case ChangeKind.REMOVED if change.before.startswith(_SYMBOL):
            return f"'{change.path}' loses the {change.before}"
        case ChangeKind.REMOVED:
            return f"'{change.path}' is removed"
        case _:
            both = change.before.startswith(_LOGICAL) and change.after.startswith(_LOGICAL)
            after = change.after.removeprefix(_LOGICAL) if both else change.after
            return f"'{change.path}' {change.before} → {after}"


def _parent(change: SchemaChange) -> str:
    return change.path.rpartition(".")[0]
