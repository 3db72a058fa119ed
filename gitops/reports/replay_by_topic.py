"""What a replay comes to, by topic: the words and the order that all its reports share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from gitops.model.findings import Finding, Severity
from gitops.model.names import TopicName
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.model.replay import Direction, ReaderReplay, ReplayReport
from gitops.reports.check_summary import count, name_list
from gitops.reports.replay_wording import reader_text, status_of, ways_text

SIGNS: Final = {Severity.ERROR: "✗", Severity.WARNING: "⚠"}
_GOOD: Final = "✓"
_MOST_PATHS: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicResult:
    """One topic: `asked` are the readers' answers, `aside` the messages that none was asked about.

    Of `asked`, those that fail and count come first. `findings` are those about the
    topic, the worst first.
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
    def messages(self) -> str:
        """`50,000 messages, 12 of which were not replayed`."""
        left = self.rows - self.replayed
        beside = (
            f", {left:,} of which {'was' if left == 1 else 'were'} not replayed" if left else ""
        )
        return f"{count(self.rows, 'message')}{beside if self.replayed else ''}"

    @property
    def worst(self) -> Severity:
        """The worst of the findings, OFF without any."""
        return max((finding.severity for finding in self.findings), default=Severity.OFF)

    @property
    def sign(self) -> str:
        """✗, ⚠ or ✓."""
        return SIGNS.get(self.worst, _GOOD)

    @property
    def worst_reader(self) -> tuple[ReaderReplay, ...]:
        """The answers, by version, of the reader that fares worst; none if none fails.

        One that counts is worse than one that does not; then one that more messages fail than are
        allowed is worse than one that more messages fail.
        """
        grouped: dict[tuple[str, Direction], list[ReaderReplay]] = {}
        for reader in self.asked:
            grouped.setdefault((reader_text(reader), reader.direction), []).append(reader)
        worst = max(grouped.values(), key=_badness, default=[])
        return tuple(worst) if any(item.failed for item in worst) else ()

    @property
    def failing(self) -> tuple[int, int] | None:
        """Failed and all rows of the reader that fares worst; None if none fails."""
        readers = self.worst_reader
        return (
            (sum(reader.failed for reader in readers), sum(reader.rows for reader in readers))
            if readers
            else None
        )

    @property
    def failing_way(self) -> str:
        """Which reader that is, and of which data: `v0, v1 → proposed (backward)`."""
        readers = sorted(self.worst_reader, key=lambda item: item.version or 0)
        if not readers:
            return ""
        reader = readers[0]
        way = ways_text(
            (item.version for item in readers), reader.direction, (reader_text(reader),)
        )
        return f"{way} ({reader.direction.value})"

    @property
    def is_held(self) -> bool:
        """Whether more messages fail than are allowed."""
        return self.worst is Severity.ERROR and any(reader.counted for reader in self.asked)

    @property
    def cell(self) -> str:
        """In a table: `12 of 50,000 messages fail`, `✓ 50,000 messages`; a dash for none read."""
        if self.is_held and self.failing:
            failed, rows = self.failing
            return _fail(failed, rows)
        if self.rows and not self.replayed:
            return f"{self.sign} not replayed"
        if self.worst is Severity.ERROR:
            return f"{self.sign} not {'all ' if self.rows else ''}replayed"
        if self.failing:
            failed, rows = self.failing
            if self.worst_reader[0].gates:
                return (
                    f"{self.sign} {count(self.rows, 'message')}, {failed:,} fail within maxFailures"
                )
            return f"{self.sign} {_fail(failed, rows)}, not blocking"
        return f"{self.sign} {count(self.rows, 'message')}{self._changed}" if self.rows else "–"

    @property
    def _changed(self) -> str:
        """`, other values at lines[].total and 2 more`; empty where no value is another one."""
        if self.worst < Severity.WARNING:
            return ""
        paths = {field.path for reader in self.asked for field in reader.fields if field.changed}
        names = name_list(sorted(path or "(message)" for path in paths), _MOST_PATHS)
        return f", other values at {names}" if paths else ""


def cell_text(topic: TopicResult) -> str:
    """The same where nothing else in the row has its sign."""
    return f"{topic.sign} {topic.cell.removeprefix(f'{topic.sign} ')}"


def _fail(failed: int, rows: int) -> str:
    return f"{failed:,} of {count(rows, 'message')} fail{'s' if failed == 1 else ''}"


def _badness(readers: list[ReaderReplay]) -> tuple[bool, int, int, int]:
    return (
        any(reader.gates and reader.failed for reader in readers),
        sum(reader.counted for reader in readers),
        sum(reader.failed for reader in readers),
        sum(reader.rows for reader in readers),
    )


def _messages(readers: Iterable[ReaderReplay]) -> int:
    return sum(reader.rows for reader in readers if reader.direction is Direction.BACKWARD)


def topics_of(report: ReplayReport) -> tuple[TopicResult, ...]:
    """Every topic that was replayed, or of which something is to be said; the worst first."""
    readers: dict[TopicName, list[ReaderReplay]] = {}
    for reader in report.readers:
        readers.setdefault(reader.topic, []).append(reader)
    findings: dict[str, list[Finding]] = {}
    for finding in report.findings:
        findings.setdefault(finding.subject, []).append(finding)
    results = [
        _topic(topic, strategy, readers.get(topic, []), findings.get(str(topic), []))
        for topic, strategy in report.strategies.items()
    ]
    return tuple(sorted(results, key=_order))


def _order(result: TopicResult) -> tuple[int, bool, float, TopicName]:
    """Of topics that are as bad as each other first the one of whose messages most fail."""
    failed, rows = result.failing or (0, 1)
    return -result.worst, not result.is_held, -failed / rows, result.topic


def other_findings(report: ReplayReport) -> tuple[Finding, ...]:
    """Those that are about none of the topics."""
    names = {str(topic) for topic in report.strategies}
    return tuple(finding for finding in report.findings if finding.subject not in names)


def verdict(report: ReplayReport) -> tuple[Severity, str]:
    """How bad it is, and that in one sentence of our own words and counts."""
    topics = topics_of(report)
    worst = max((finding.severity for finding in report.findings), default=Severity.OFF)
    messages = count(report.rows, "message")
    replayed = sum(topic.replayed for topic in topics)
    if not report.complete and worst is not Severity.ERROR:
        return Severity.WARNING, _interrupted(report.rows, replayed, len(topics))
    if not replayed:
        were = "was" if report.rows == 1 else "were"
        why = f"{messages} {were} skipped" if report.rows else "no message was read"
        return worst, f"Nothing was replayed: {why}"
    if worst is Severity.ERROR:
        after = "" if report.complete else f", interrupted after {messages}"
        return worst, f"{_bad(topics)}{after}"
    of = count(len(topics), "topic")
    if worst is Severity.WARNING:
        warned = sum(topic.worst is Severity.WARNING for topic in topics)
        were = f"{count(replayed, 'message')} of {of} {'was' if replayed == 1 else 'were'}"
        return worst, f"{were} replayed, with warnings about {warned:,}"
    failing = [topic.failing for topic in topics if topic.failing and topic.worst_reader[0].gates]
    if failing:
        return worst, f"{_failing(failing, len(topics))}, as maxFailures allows"
    return worst, f"{messages} of {of} can be read"


def _interrupted(rows: int, replayed: int, topics: int) -> str:
    if not rows:
        return "Interrupted before any message was read"
    of = f"Interrupted after {count(rows, 'message')} of {count(topics, 'topic')}"
    aside = "it was skipped" if rows == 1 else "all of them were skipped"
    return f"{of}: {'what was read is good' if replayed else aside}"


def _bad(topics: tuple[TopicResult, ...]) -> str:
    failing = [topic.failing for topic in topics if topic.is_held and topic.failing]
    if not failing:
        return "Not everything could be replayed"
    others = sum(topic.worst is Severity.ERROR and not topic.is_held for topic in topics)
    beside = f"; not everything of {count(others, 'other')} was replayed" if others else ""
    return f"{_failing(failing, len(topics))}{beside}"


def _failing(failing: list[tuple[int, int]], topics: int) -> str:
    if topics == 1:
        failed, rows = failing[0]
        return f"{failed:,} of {count(rows, 'message')} cannot be read"
    return f"Messages of {len(failing):,} of {count(topics, 'topic')} cannot be read"


def _topic(
    topic: TopicName,
    strategy: SchemaCompatibilityStrategy,
    readers: list[ReaderReplay],
    about: list[Finding],
) -> TopicResult:
    return TopicResult(
        topic=topic,
        strategy=strategy,
        asked=tuple(sorted((result for result in readers if result.reader), key=status_of)),
        aside=tuple(result for result in readers if not result.reader),
        findings=tuple(sorted(about, key=lambda finding: (-finding.severity, finding.sort_key))),
    )
