"""What a replay comes to, by topic: the words and the order that all its reports share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from gitops.model.findings import Finding, Severity
from gitops.model.names import TopicName
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.model.replay import (
    Direction,
    FailureExample,
    FieldReplay,
    ReaderReplay,
    ReplayFailure,
    ReplayReport,
)
from gitops.reporters.tally import count

SIGNS: Final = {Severity.ERROR: "✗", Severity.WARNING: "⚠"}
_GOOD: Final = "✓"
_HUNDREDTH: Final = 0.01
_WHAT: Final = ("defaulted", "dropped", "promoted", "changed")


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicResult:
    """One topic: `asked` are the readers' answers, `aside` the messages that none was asked about.

    `findings` are those about the topic, the worst first.
    """

    topic: TopicName
    strategy: SchemaCompatibilityStrategy
    asked: tuple[ReaderReplay, ...]
    aside: tuple[ReaderReplay, ...]
    findings: tuple[Finding, ...]

    @property
    def rows(self) -> int:
        """The messages, each once."""
        return _messages((*self.asked, *self.aside))

    @property
    def replayed(self) -> int:
        """Those that were given to a reader."""
        return _messages(self.asked)

    @property
    def worst(self) -> Severity:
        """The worst of the findings, OFF without any."""
        return max((one.severity for one in self.findings), default=Severity.OFF)

    @property
    def sign(self) -> str:
        """✗, ⚠ or ✓."""
        return SIGNS.get(self.worst, _GOOD)

    @property
    def failing(self) -> tuple[int, int] | None:
        """Failed and all rows of the reader that counts and fares worst; None if none fails."""
        sums: dict[tuple[str, Direction], tuple[int, int]] = {}
        for one in self.asked:
            if one.gates:
                failed, rows = sums.get((one.reader, one.direction), (0, 0))
                sums[one.reader, one.direction] = failed + one.failed, rows + one.rows
        worst = max(sums.values(), default=(0, 0))
        return worst if worst[0] else None

    @property
    def cell(self) -> str:
        """In a table: `12 of 50,000 rows fail`, `✓ 50,000 rows`; a dash where nothing was read."""
        if self.worst is Severity.ERROR and self.failing:
            failed, rows = self.failing
            return f"{failed:,} of {count(rows, 'row')} fail{'s' if failed == 1 else ''}"
        if self.worst is Severity.ERROR or (self.rows and not self.replayed):
            return f"{self.sign} not replayed"
        if self.failing:
            return f"{self.sign} {count(self.rows, 'row')}, {self.failing[0]:,} of which may fail"
        return f"{self.sign} {count(self.rows, 'row')}" if self.rows else "–"


def _messages(readers: Iterable[ReaderReplay]) -> int:
    return sum(one.rows for one in readers if one.direction is Direction.BACKWARD)


def topics_of(report: ReplayReport) -> tuple[TopicResult, ...]:
    """Every topic that was replayed, or of which something is to be said; the worst first."""
    readers: dict[TopicName, list[ReaderReplay]] = {}
    for one in report.readers:
        readers.setdefault(one.topic, []).append(one)
    findings: dict[str, list[Finding]] = {}
    for each in report.findings:
        findings.setdefault(each.subject, []).append(each)
    found = [
        _topic(topic, strategy, readers.get(topic, []), findings.get(str(topic), []))
        for topic, strategy in report.strategies.items()
    ]
    return tuple(sorted(found, key=lambda one: (-one.worst, one.topic)))


def other_findings(report: ReplayReport) -> tuple[Finding, ...]:
    """Those that are about none of the topics."""
    names = {str(topic) for topic in report.strategies}
    return tuple(one for one in report.findings if one.subject not in names)


def verdict(report: ReplayReport) -> tuple[Severity, str]:
    """How bad it is, and that in one sentence of our own words and counts."""
    topics = topics_of(report)
    worst = max((one.severity for one in report.findings), default=Severity.OFF)
    messages = count(report.rows, "message")
    replayed = sum(one.replayed for one in topics)
    if not report.complete and worst is not Severity.ERROR:
        return Severity.WARNING, _interrupted(messages if replayed else "", len(topics))
    if not replayed:
        why = f"{messages} were left aside" if report.rows else "no message was read"
        return worst, f"Nothing was replayed: {why}"
    if worst is Severity.ERROR:
        after = "" if report.complete else f", interrupted after {messages}"
        return worst, f"{_bad(topics)}{after}"
    of = count(len(topics), "topic")
    if worst is Severity.WARNING:
        warned = sum(one.worst is Severity.WARNING for one in topics)
        messages = count(replayed, "message")
        return worst, f"{messages} of {of} were replayed, with warnings about {warned:,}"
    failing = [one.failing for one in topics if one.failing]
    if failing:
        return worst, f"{_failing(failing, len(topics))}, as maxFailures allows"
    return worst, f"{messages} of {of} can be read"


def _interrupted(messages: str, topics: int) -> str:
    if not messages:
        return "Interrupted before any message was read"
    return f"Interrupted after {messages} of {count(topics, 'topic')}: what was read is good"


def _bad(topics: tuple[TopicResult, ...]) -> str:
    failing = [one.failing for one in topics if one.worst is Severity.ERROR and one.failing]
    if not failing:
        return "Not everything could be replayed"
    return _failing(failing, len(topics))


def _failing(failing: list[tuple[int, int]], topics: int) -> str:
    if topics == 1:
        failed, rows = failing[0]
        return f"{failed:,} of {count(rows, 'message')} cannot be read"
    return f"Messages of {len(failing):,} of {count(topics, 'topic')} cannot be read"


def _topic(
    topic: TopicName,
    strategy: SchemaCompatibilityStrategy,
    mine: list[ReaderReplay],
    about: list[Finding],
) -> TopicResult:
    return TopicResult(
        topic=topic,
        strategy=strategy,
        asked=tuple(one for one in mine if one.reader),
        aside=tuple(one for one in mine if not one.reader),
        findings=tuple(sorted(about, key=lambda one: (-one.severity, one.sort_key))),
    )


def way_text(one: ReaderReplay) -> str:
    """The way of the data: `v3 → proposed`, or `v3 → proposed → billing` where it is rewritten."""
    data = "other messages" if one.version is None else f"v{one.version}"
    if not one.reader:
        return f"{data} → proposed → written" if one.direction is Direction.FORWARD else data
    through = " → proposed" if one.direction is Direction.FORWARD else ""
    return f"{data}{through} → {one.reader}"


def message_text(example: FailureExample, failure: ReplayFailure) -> str:
    """What is to be said of a message beside the reason; empty if that says it all."""
    said = example.message.removeprefix(f"{failure.path}: ")
    return "" if said == failure.reason else said


def share_text(part: int, whole: int) -> str:
    """`0.024 %`, with as many digits as it needs to be no zero; empty without a whole."""
    if not whole or not part:
        return ""
    share = 100 * part / whole
    return f"{share:.2f} %" if share >= _HUNDREDTH else "< 0.01 %"


def altered(fields: Iterable[FieldReplay]) -> tuple[FieldReplay, ...]:
    """The fields of which values are filled in, not taken, promoted or changed."""
    return tuple(one for one in fields if any(getattr(one, what) for what in _WHAT))


def altered_text(field: FieldReplay) -> str:
    """`defaulted 50,000, changed 12`."""
    said = ((what, getattr(field, what)) for what in _WHAT)
    return ", ".join(f"{what} {number:,}" for what, number in said if number)
