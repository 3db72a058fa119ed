"""The findings of a replay, each at the sample that shows it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from gitops.model.findings import Finding, Location, Severity, group
from gitops.model.names import TopicName
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.model.replay import Direction, ReaderSchema, ReplayFailure, Sample, TopicReplay
from gitops.model.rules import make_finding
from gitops.model.state import Repository
from gitops.replay.counts import TOMBSTONE, Key, Tally, failures
from gitops.replay.job import DuplicateFiles, RunResult, UnreadSample
from gitops.replay.sensitive_fields import unknown_name_findings

_FEW: Final = 0.01
_MOST_NAMED: Final = 3
"""How many reasons and paths are named; the report has all."""
_VERSION: Final = re.compile(r"v\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class _SampleResult:
    """One reader's answer about one sample, all versions together."""

    topic: TopicName
    sample: Sample
    reader: ReaderSchema | None
    rows: int
    failed: int
    failures: tuple[ReplayFailure, ...]
    changed: tuple[tuple[str, int, int], ...]
    """Each path with how many values changed, and of how many."""
    versions: tuple[int, ...]
    strategy: SchemaCompatibilityStrategy

    @property
    def outcome(self) -> tuple[object, ...]:
        """What readers of a sample have in common that one finding is about."""
        how = (self.reader.direction, self.reader.gates) if self.reader else ()
        return (how, self.rows, self.failed, self.failures, self.changed)

    @property
    def known(self) -> str:
        """Which versions a message could have; says what to do where it has none of them."""
        numbers = _enumerate([str(version) for version in self.versions])
        return f"the topic's versions: {numbers or 'none yet'}"


def findings_of(replays: Iterable[TopicReplay], run: RunResult) -> tuple[Finding, ...]:
    """Everything, one finding for each sample and outcome; not yet rated by gitops.yaml."""
    replays = tuple(replays)
    tallies: dict[str, dict[Key, Tally]] = {}
    for key, tally in run.tallies.items():
        tallies.setdefault(key.topic, {})[key] = tally
    findings = [
        topic_finding
        for replay in replays
        for topic_finding in _topic_findings(
            replay, tallies.get(str(replay.topic), {}), complete=run.complete
        )
    ]
    findings += _unread_samples(run.unread)
    findings += map(_duplicate, run.twice)
    findings += [finding for replay in replays for finding in unknown_name_findings(replay)]
    if run.complete:
        findings += [
            empty_sample for replay in replays for empty_sample in _empty_samples(replay, run)
        ]
    else:
        findings.append(_interrupted(replays))
    return tuple(findings)


def missing_sample_findings(
    topics: Iterable[TopicName], repository: Repository
) -> tuple[Finding, ...]:
    """Of topics that the user named, those without samples."""
    sources = {topic: repository.topics[topic] for topic in topics}
    return tuple(
        make_finding(
            "REPLAY-R005",
            f"{topic} has no samples, so its messages are not replayed",
            location=source.manifest,
            subject=str(topic),
            hint="add some to its manifest: `samples: [{format: avro, path: samples/*.avro}]`",
        )
        for topic, source in sources.items()
        if not source.samples
    )


def is_above(failed: int, rows: int, limit: float) -> bool:
    """Whether more rows fail than a limit allows: a count (int), or a share of the rows (float).

    A share is what was written: 29 of 100 rows are 0.29 of them, which no binary number is.
    """
    return failed > (limit if isinstance(limit, int) else Fraction(str(limit)) * rows)


def _topic_findings(
    replay: TopicReplay, tallies: Mapping[Key, Tally], *, complete: bool
) -> Iterator[Finding]:
    readers = {(reader.name, reader.direction.value): reader for reader in replay.readers}
    parts: dict[tuple[int, str, str], list[Tally]] = {}
    for key, tally in tallies.items():
        parts.setdefault((key.sample, key.reader, key.direction), []).append(tally)
    read = {number for number, name, _ in parts if name}
    alike: dict[object, list[tuple[_SampleResult, ReaderSchema]]] = {}
    for (number, name, direction), members in sorted(parts.items(), key=lambda item: item[0]):
        result = _sample_result(replay, number, readers.get((name, direction)), members)
        if result.reader is None:
            yield from _not_replayed(result, whole=complete and number not in read)
        else:
            alike.setdefault((number, result.outcome), []).append((result, result.reader))
    for results in alike.values():
        yield from _readers_findings(results)


def _sample_result(
    replay: TopicReplay, number: int, reader: ReaderSchema | None, parts: list[Tally]
) -> _SampleResult:
    changed, values = Counter[str](), Counter[str]()
    for path, counts in (item for part in parts for item in part.fields.items()):
        changed[path] += counts.changed
        values[path] += max(counts.read + counts.defaulted, counts.changed)
    return _SampleResult(
        topic=replay.topic,
        sample=replay.samples[number],
        reader=reader,
        rows=sum(part.rows for part in parts),
        failed=sum(part.failed for part in parts),
        failures=failures((failure for part in parts for failure in part.failures), 0),
        changed=tuple((path, number, values[path]) for path, number in sorted((+changed).items())),
        versions=tuple(sorted(replay.versions)),
        strategy=replay.strategy,
    )


def _not_replayed(result: _SampleResult, *, whole: bool) -> Iterator[Finding]:
    """Messages that no reader was asked about; `whole`: the sample has no others.

    Tombstones are as they should be: they are named where nothing else is there to be read.
    """
    other_failures = tuple(failure for failure in result.failures if failure.reason != TOMBSTONE)
    if not other_failures and whole and result.failed:
        what = f"all of the {_messages(result.failed)} of {result.sample.path} are tombstones"
        yield _finding("REPLAY-R003", result, what, "capture more messages, with values")
    if not other_failures:
        return
    left = sum(other_failure.rows for other_failure in other_failures)
    messages, why = _messages(left), _reasons(other_failures)
    if whole:
        what = f"none of the {messages} of {result.sample.path} was replayed: {why}"
        yield _finding("REPLAY-R012", result, what, _advice("REPLAY-R012", result))
    else:
        verb = "was" if left == 1 else "were"
        what = f"{messages} {verb} not replayed: {why}"
        yield _finding("REPLAY-R003", result, what, _advice("REPLAY-R003", result))


def _advice(rule: str, result: _SampleResult) -> str:
    return f"{result.known}; see `pulsar-gitops explain {rule}`"


def _readers_findings(
    results: Sequence[tuple[_SampleResult, ReaderSchema]],
) -> Iterator[Finding]:
    """Of readers with the same outcome: each finding once, with all readers in it."""
    result, reader = results[0]
    everyone = replace(reader, name=_name_list([_spoken(reader) for _, reader in results]))
    findings = [tuple(_reader_findings(*pair)) for pair in results]
    for number, finding in enumerate(_reader_findings(result, everyone)):
        yield group(finding.message, [members[number] for members in findings])


def _spoken(reader: ReaderSchema) -> str:
    """`readers of v3`; a client by its name."""
    return f"readers of {reader.name}" if _VERSION.fullmatch(reader.name) else reader.name


def _name_list(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b, c, d and 9 more`."""
    shown = [*names[:_MOST_NAMED]] if len(names) > _MOST_NAMED + 1 else [*names]
    left = len(names) - len(shown)
    last = f"{left:,} more" if left else shown.pop()
    return f"{', '.join(shown)} and {last}" if shown else last


def _reader_findings(result: _SampleResult, reader: ReaderSchema) -> Iterator[Finding]:
    if result.failed:
        yield _failed(result, reader)
    # Whom the strategy leaves behind is told once that it is behind; the report counts the values.
    if result.changed and (reader.gates or reader.direction is Direction.BACKWARD):
        yield _changed(result, reader)


def _failed(result: _SampleResult, reader: ReaderSchema) -> Finding:
    above = is_above(result.failed, result.rows, result.sample.max_failures)
    of = f"{result.failed:,} of {result.rows:,} sample message{'' if result.rows == 1 else 's'}"
    what = f"{of} cannot be read by {_reader_name(reader)}: {_reasons(result.failures)}"
    if not reader.gates:
        return _finding("REPLAY-R002", result, what, _not_gating(result, reader))
    if not above:
        allowed = f"maxFailures allows {_limit(result.sample.max_failures)}"
        return _finding("REPLAY-R006", result, f"{what} ({allowed})", "")
    return _finding("REPLAY-R001", result, what, _remedy(result))


def _remedy(result: _SampleResult) -> str:
    """Failures are allowed where they are few; of many it would hide a broken change."""
    wrong = "if the sample is wrong, correct its format or version in the manifest"
    ways = ["change the schema so that it reads them", wrong]
    if not is_above(result.failed, result.rows, _FEW):
        ways.append(f"allow so few to fail: `maxFailures: {_FEW}`")
    return f"{', '.join(ways[:-1])}, or {ways[-1]}"


def _changed(result: _SampleResult, reader: ReaderSchema) -> Finding:
    paths = _enumerate([_changed_text(*change) for change in result.changed])
    if reader.direction is Direction.BACKWARD:
        what = (
            f"the proposed schema reads other values than were written at {paths}, without an error"
        )
    else:
        than = "than the proposed schema writes"
        what = f"{reader.name} would read other values {than} at {paths}, without an error"
    named = _enumerate([f"'{path}'" for path, *_ in result.changed if path])
    keep = f"keep the type and the logical type{named and f' of {named}'}"
    return _finding("REPLAY-R007", result, what, f"{keep}, or add a new field for the new values")


def _changed_text(path: str, changed: int, values: int) -> str:
    """`'total' (12 of 400 values)`."""
    what = f"'{path}'" if path else "the message itself"
    return f"{what} ({changed:,} of {values:,} value{'' if values == 1 else 's'})"


def _empty_samples(replay: TopicReplay, run: RunResult) -> Iterator[Finding]:
    """Of samples that could be read, and hold nothing; all of a topic's are worse than some."""
    topic = str(replay.topic)
    heard_of = [replay.samples[key.sample] for key in run.tallies if key.topic == topic]
    heard_of += [item.sample for item in run.unread if item.topic == replay.topic]
    heard_of += [duplicates.sample for duplicates in run.twice if duplicates.topic == replay.topic]
    hint = "take new samples, or remove the empty ones from the manifest"
    if not heard_of:
        what = f"no sample of {topic} contains a message, so nothing of it was replayed"
        where = replay.samples[0].location if replay.samples else None
        yield make_finding("REPLAY-R012", what, location=where, subject=topic, hint=hint)
        return
    for sample in replay.samples:
        if sample not in heard_of:
            what = f"{sample.path} contains no message of {topic}"
            finding = make_finding(
                "REPLAY-R012", what, location=sample.location, subject=topic, hint=hint
            )
            yield replace(finding, severity=Severity.WARNING)


def _unread_samples(unread: Iterable[UnreadSample]) -> Iterator[Finding]:
    """One for each sample: a wrong format is that of all files that a pattern means."""
    grouped: dict[tuple[TopicName, Location], list[UnreadSample]] = {}
    for sample in unread:
        grouped.setdefault((sample.topic, sample.sample.location), []).append(sample)
    for (topic, where), samples in grouped.items():
        named = (
            len({item.file for item in samples}) == 1
            and samples[0].file
            and samples[0].file in samples[0].why
        )
        yield make_finding(
            "REPLAY-R004",
            _reasons_unread(samples)
            if named
            else f"{samples[0].sample.shown_path}: {_reasons_unread(samples)}",
            location=where,
            subject=str(topic),
            hint=_hint(samples),
        )


def _hint(unread: list[UnreadSample]) -> str:
    """What helps with the first; that of others may be another."""
    if any("\\" in sample.sample.path for sample in unread):
        return "folders are separated by /, on Windows too: ../samples/orders.avro"
    if any(sample.missing for sample in unread):
        return "a path is relative to the manifest; or name a URI, such as s3a://bucket/orders/*.parquet"
    return next((sample.hint for sample in unread if sample.hint), "")


def _reasons_unread(unread: list[UnreadSample]) -> str:
    """Of the first files, those first that say something else than the files before them."""
    by_file: dict[str, UnreadSample] = {}
    for sample in sorted(unread, key=lambda item: (item.file, item.why)):
        by_file.setdefault(sample.file or sample.why, sample)
    if len(by_file) == 1:
        return next(iter(by_file.values())).why
    first: dict[str, UnreadSample] = {}
    for sample in by_file.values():
        first.setdefault(sample.why.replace(sample.file, "") if sample.file else sample.why, sample)
    named = list(first.values()) + [item for item in by_file.values() if item not in first.values()]
    return (
        f"{len(by_file):,} files cannot be read: {_enumerate([item.why for item in named], '; ')}"
    )


def _duplicate(duplicates: DuplicateFiles) -> Finding:
    """A remark where both would read the messages alike."""
    first, where = duplicates.first, f"the sample at {duplicates.first.location}"
    they, count = ("it is", "it") if len(duplicates.files) == 1 else ("they are", "them")
    pairs = _settings(first), _settings(duplicates.sample)
    grouped, other = (
        dict(values.items() - pairs[1 - at].items()) for at, values in enumerate(pairs)
    )
    finding = make_finding(
        "REPLAY-R011",
        f"{_enumerate(list(duplicates.files))}: {where} names {count} too, and {they} counted only "
        "there",
        location=duplicates.sample.location,
        subject=str(duplicates.topic),
        hint="remove the duplicate from one of the samples",
    )
    if not (grouped or other):
        return replace(finding, severity=Severity.INFO)
    first_text, other_text = _settings_text(grouped), _settings_text(other)
    how = f"{they} read with its settings ({first_text}), not with these ({other_text})"
    return replace(finding, message=f"{finding.message}; {how}", hint="declare the messages once")


def _settings(sample: Sample) -> dict[str, str]:
    """What decides how its messages are read, and how many of them may fail."""
    columns = {f"columns.{name}": value for name, value in sample.columns.items()}
    version = "none" if sample.version is None else str(sample.version)
    return {
        "format": sample.format,
        "version": version,
        "maxFailures": str(sample.max_failures),
        "logicalTypes": sample.logical_types,
        **columns,
    }


def _settings_text(settings: Mapping[str, str]) -> str:
    return ", ".join(f"{key}: {value}" for key, value in sorted(settings.items())) or "no columns"


def _interrupted(replays: tuple[TopicReplay, ...]) -> Finding:
    return make_finding(
        "REPLAY-R008",
        "the replay was interrupted: the numbers are of the messages that were replayed before",
        subject=str(replays[0].topic) if len(replays) == 1 else "replay",
    )


def _finding(rule: str, result: _SampleResult, what: str, hint: str) -> Finding:
    return make_finding(
        rule, what, location=result.sample.location, subject=str(result.topic), hint=hint
    )


def _reader_name(reader: ReaderSchema) -> str:
    """`the proposed schema`, or `v3 once they are written with the proposed schema`."""
    if reader.direction is Direction.BACKWARD:
        return "the proposed schema"
    return f"{reader.name} once they are written with the proposed schema"


def _not_gating(result: _SampleResult, reader: ReaderSchema) -> str:
    first = "consumers" if reader.direction is Direction.FORWARD else "producers"
    return (
        f"{result.strategy.value} does not guarantee this: {first} upgrade first; "
        "`--gate both` makes it an error"
    )


def _reasons(failed: tuple[ReplayFailure, ...]) -> str:
    return _enumerate([_reason(failure, counted=len(failed) > 1) for failure in failed])


def _reason(failure: ReplayFailure, *, counted: bool) -> str:
    where = f" at '{failure.path}'" if failure.path else ""
    return f"{failure.reason}{where}{f' ({failure.rows:,})' if counted else ''}"


def _enumerate(words: list[str], between: str = ", ") -> str:
    number = len(words) - _MOST_NAMED
    return between.join(words[:_MOST_NAMED]) + (f" and {number:,} more" if number > 0 else "")


def _messages(number: int) -> str:
    return f"{number:,} message{'' if number == 1 else 's'}"


def _limit(limit: float) -> str:
    return f"{limit:,}" if isinstance(limit, int) else f"{limit * 100:.10g} %"
