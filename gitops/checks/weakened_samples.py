"""What a change takes from replays: samples, their files, limits, hidden fields, directions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from gitops.changes.change import LoadedChange
from gitops.changes.locations import place_of_policy
from gitops.changes.new_findings import broken_topics
from gitops.changes.sample_files import is_external, place_of
from gitops.model.check import Impact
from gitops.model.errors import UnreadableFileError
from gitops.model.findings import Finding, Location
from gitops.model.names import TopicName
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.model.replay import Sample
from gitops.model.rules import make_finding
from gitops.model.sample_formats import SAMPLE_FORMATS
from gitops.model.state import TopicSource
from gitops.planning.plan import PlanInput, strategy_of
from gitops.ports import FileTree
from gitops.replay.gates import Versions, gates_of
from gitops.replay.sensitive_fields import matches_name, split_path
from gitops.repository.globs import ListedFolders, matching_entries

# Guards of a change that makes a replay see less than before: findings, by rule CHECK-R008.

_RULE: Final = "CHECK-R008"
_MOST_NAMED: Final = 3
_AGREE: Final = "get the topic owner's approval; see `pulsar-gitops explain CHECK-R008`"


def samples_missing(topic: TopicName, first: Sample) -> Finding:
    """None is left; `first` is the first of those that were there, in the base."""
    return _finding(
        topic,
        f"the samples of {topic} are removed from its manifest: its messages are no longer "
        "replayed",
        replace(first.location, in_base=True),
    )


def sample_removed(topic: TopicName, sample: Sample) -> Finding:
    """One sample is gone, or stands for other data; `sample` is that of the base."""
    return _finding(
        topic,
        f"the sample {sample.path} is removed, and no other sample contains its messages",
        replace(sample.location, in_base=True),
    )


def sample_files_lost(
    topic: TopicName, sample: Sample, files: Sequence[str], where: Location
) -> Finding:
    """Some files of a sample, sorted, are gone or hold other messages than before."""
    is_single = len(files) == 1
    return _finding(
        topic,
        f"{'a file' if is_single else f'{len(files):,} files'} of the sample {sample.path} "
        f"{'is' if is_single else 'are'} missing, or {'contains' if is_single else 'contain'} "
        f"other messages: {_list_text(files)}",
        where,
    )


def sample_settings_weakened(topic: TopicName, base: Sample, head: Sample) -> Iterator[Finding]:
    """The same data before and after: more of it may fail, or it is read otherwise."""
    if _may_allow_more(base.max_failures, head.max_failures):
        limits = f"{_limit(base.max_failures)} → {_limit(head.max_failures)}"
        what = f"maxFailures of the sample {head.path} is raised: {limits}"
        yield _finding(topic, what, head.location)
    if (base.logical_types, head.logical_types) == ("java", "none"):
        what = (
            f"logicalTypes of the sample {head.path} is none: values that Java's classes refuse "
            "now pass"
        )
        yield _finding(topic, what, head.location)
    for key, old, new in (
        ("format", base.format, head.format),
        ("version", base.version, head.version),
        ("columns", _columns(base), _columns(head)),
    ):
        if old is not None and old != new:
            what = f"{key} of the sample {head.path} changes: {old} → {_setting_text(new)}"
            yield _finding(topic, f"{what}; its messages are read differently", head.location)


def hidden_fields_shown(topic: TopicName, names: Sequence[str], where: Location) -> Finding:
    """Fields that no report showed, and that it shows now; `where` the first of them stood."""
    plural = len(names) > 1
    listed = _list_text([f"'{name}'" for name in names])
    return _finding(
        topic,
        f"the field{'s' * plural} {listed} {'are' if plural else 'is'} no longer sensitive: "
        f"reports of replays may show {'their values' if plural else 'its values'}",
        where,
    )


def gates_weakened(
    topics: Sequence[TopicName],
    strategies: tuple[SchemaCompatibilityStrategy, SchemaCompatibilityStrategy],
    lost: str,
    where: Location | None,
) -> Finding:
    """Failures in a direction do not count any more; `lost` names it, `topics` are sorted."""
    before, after = strategies
    return _finding(
        topics[0],
        f"{lost} no longer block the merge in replays of "
        f"{_list_text([str(topic) for topic in topics])}: "
        f"the strategy changes from {before.value} to {after.value}",
        where,
    )


def _finding(topic: TopicName, what: str, where: Location | None) -> Finding:
    return make_finding(_RULE, what, location=where, subject=str(topic), hint=_AGREE)


def _may_allow_more(before: float, after: float) -> bool:
    """A count and a share of unknown many rows cannot be compared, unless one of them is 0."""
    if isinstance(before, int) is isinstance(after, int) or 0 in (before, after):
        return after > before
    return True


def _limit(limit: float) -> str:
    return f"{limit:,}" if isinstance(limit, int) else f"{limit * 100:.10g} %"


def _columns(sample: Sample) -> str:
    text = ", ".join(f"{name}: {value}" for name, value in sorted(sample.columns.items()))
    return f"{{{text}}}" if text else "none"


def _setting_text(value: object) -> object:
    return "none" if value is None else value


def _list_text(names: Sequence[str]) -> str:
    number = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {number:,} more" if number > 0 else "")


# What a change takes from replays: samples, their files, what may fail in them, what is hidden.
#
# Compared is what the base names with what the change names, whether a replay is asked for or
# not.


def sample_guards(loaded: LoadedChange, touched: Impact) -> Iterator[Finding]:
    """Of every topic that both versions have; a topic that is gone takes its samples along."""
    broken = broken_topics(loaded)
    base = {topic.keeper: source for topic, source in loaded.base.topics.items()}
    comparing = _SampleComparison(loaded)
    for topic, source in sorted(loaded.head.topics.items()):
        before = base.get(touched.renamed.get(topic, topic).keeper)
        if before and before.samples and topic not in broken:
            yield from comparing.of_topic(topic, before, source)


class _Side:
    """The samples of one version of the files."""

    def __init__(self, tree: FileTree) -> None:
        self._tree = tree

    @cached_property
    def _folders(self) -> ListedFolders:
        return ListedFolders(self._tree.paths())

    def files(self, source: TopicSource, sample: Sample) -> list[str]:
        """The files of a sample, sorted; its own place where git has none of them."""
        place = place_of(source, sample)
        if is_external(sample):
            return [place]
        texts = sorted(
            matching_entry.path for matching_entry in matching_entries(self._folders, "", place)
        )
        return texts or [place]

    def by_file(self, source: TopicSource) -> dict[str, Sample]:
        """The sample that each file counts for, which is the first; also by their own paths."""
        samples: dict[str, Sample] = {}
        for sample in source.samples:
            for path in self.files(source, sample):
                samples.setdefault(path, sample)
        return {place_of(source, item): item for item in reversed(source.samples)} | samples

    def read(self, path: str) -> bytes | None:
        """The content of a file, None where there is none to be read."""
        try:
            return self._tree.read(path)
        except UnreadableFileError:
            return None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    """What is left of a sample: the head's samples that have its files, and the files they lack."""

    samples: tuple[Sample, ...]
    lost: tuple[str, ...]


class _SampleComparison:
    def __init__(self, loaded: LoadedChange) -> None:
        self._changed = loaded.changed
        self._renamed = loaded.renamed
        self._base = _Side(loaded.change.base_tree)
        self._head = _Side(loaded.change.head_tree)

    def of_topic(self, topic: TopicName, base: TopicSource, head: TopicSource) -> Iterator[Finding]:
        if not head.samples:
            yield samples_missing(topic, base.samples[0])
            return
        there = self._head.by_file(head)
        for sample in base.samples:
            yield from self._sample_findings(
                topic, sample, self._kept(base, sample, there), there, head
            )
        yield from _shown(topic, base, head)

    def _sample_findings(
        self,
        topic: TopicName,
        sample: Sample,
        kept: _Kept,
        there: Mapping[str, Sample],
        head: TopicSource,
    ) -> Iterator[Finding]:
        same = there.get(place_of(head, sample))
        if kept.lost and not kept.samples and same is None:
            yield sample_removed(topic, sample)
        elif kept.lost:
            where = same.location if same else replace(sample.location, in_base=True)
            yield sample_files_lost(topic, sample, kept.lost, where)
        for other_sample in kept.samples:
            yield from sample_settings_weakened(topic, sample, other_sample)

    def _kept(self, base: TopicSource, sample: Sample, there: Mapping[str, Sample]) -> _Kept:
        samples: dict[int, Sample] = {}
        lost = []
        values = self._base.by_file(base)
        for path in self._base.files(base, sample):
            if values[path] is not sample:
                continue
            result = self._now(path, sample, there)
            if result is None:
                lost.append(path)
            else:
                samples[id(result)] = result
        return _Kept(samples=tuple(samples.values()), lost=tuple(lost))

    def _now(self, path: str, sample: Sample, there: Mapping[str, Sample]) -> Sample | None:
        """The sample that has the messages of a file now."""
        if path not in self._changed:
            return there.get(path)
        old = self._base.read(path)
        moved = [new for new, was in self._renamed.items() if was == path]
        for place in (path, *moved):
            if place in there and _keeps(sample, old, self._head.read(place)):
                return there[place]
        others = (place for place in sorted(there) if place in self._changed)
        alike = (place for place in others if old is not None and self._head.read(place) == old)
        return next((there[place] for place in alike), None)


def _keeps(sample: Sample, old: bytes | None, new: bytes | None) -> bool:
    """Whether all messages are still there; only lines, not compressed, can be compared."""
    if old is None or new is None:
        return old is new
    row = SAMPLE_FORMATS[sample.format]
    if not row.is_lines or sample.path.endswith(row.unpacks):
        return old == new
    return not Counter(old.splitlines()) - Counter(new.splitlines())


def _shown(topic: TopicName, base: TopicSource, head: TopicSource) -> Iterator[Finding]:
    """A field that one sample names is hidden in all of its topic."""
    hidden = {split_path(name) for sample in head.samples for name in sample.sensitive}
    gone = {
        name: sample
        for sample in reversed(base.samples)
        for name in sample.sensitive
        if not matches_name(split_path(name), hidden)
    }
    if gone:
        names = sorted(gone)
        yield hidden_fields_shown(topic, names, replace(gone[names[0]].location, in_base=True))


# Which directions a replay no longer counts, because a change alters strategies.


_Strategies = tuple[SchemaCompatibilityStrategy, SchemaCompatibilityStrategy]
_KEY: Final = "schemaCompatibilityStrategy"
_READERS: Final = {
    Versions.LATEST: "readers with the latest version",
    Versions.ALL: "readers with any version",
}


def gate_guards(
    loaded: LoadedChange,
    plan_input: PlanInput,
    before: Mapping[TopicName, SchemaCompatibilityStrategy],
) -> Iterator[Finding]:
    """By the strategies of one registry; `before` are those that the change alters."""
    grouped: dict[tuple[str, _Strategies], list[TopicName]] = {}
    for topic, old in sorted(before.items()):
        source, new = loaded.head.topics.get(topic), strategy_of(plan_input, topic)
        for lost in _lost_gates(old, new) if source and source.samples else ():
            grouped.setdefault((lost, (old, new)), []).append(topic)
    for (lost, strategies), topics in grouped.items():
        where = place_of_policy(loaded, topics[0], _KEY, plan_input.registry) or place_of_policy(
            loaded, topics[0].namespace, _KEY, plan_input.registry
        )
        yield gates_weakened(topics, strategies, lost, where)


def _lost_gates(
    old: SchemaCompatibilityStrategy, new: SchemaCompatibilityStrategy
) -> Iterator[str]:
    was, now = gates_of(old), gates_of(new)
    if was.backward and not now.backward:
        yield "stored messages that the new schema cannot read"
    order = list(Versions)
    if order.index(now.forward) < order.index(was.forward):
        yield f"new messages that {_READERS[was.forward]} cannot read"
