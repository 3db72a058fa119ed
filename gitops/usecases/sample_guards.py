"""What a change takes from replays: samples, their files, what may fail in them, what is hidden.

Compared is what the base names with what the change names, whether a replay is asked for or not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from gitops.model.check import Touched
from gitops.model.errors import UnreadableFileError
from gitops.model.findings import Finding
from gitops.model.names import TopicName
from gitops.model.repository import TopicSource
from gitops.model.samples import Sample
from gitops.planning.sample_guards import (
    of_lost,
    of_no_samples,
    of_settings,
    of_shown,
    of_taken_out,
)
from gitops.ports import FileTree
from gitops.replay.sensitive import is_named, steps
from gitops.replay.sources.globbing import ListedFolders, matching
from gitops.usecases.change import LoadedChange
from gitops.usecases.own_findings import broken_topics
from gitops.usecases.sample_places import is_elsewhere, place_of

_LINES: Final = "json"
"""The format whose messages can be told apart without its library: a line is one."""

_PACKED: Final = (".gz", ".bz2", ".zst")
"""Its files that have no lines before they are unpacked."""


def sample_guards(loaded: LoadedChange, touched: Touched) -> Iterator[Finding]:
    """Of every topic that both versions have; a topic that is gone takes its samples along."""
    broken = broken_topics(loaded)
    base = {topic.keeper: source for topic, source in loaded.base.topics.items()}
    comparing = _Comparing(loaded)
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
        if is_elsewhere(sample):
            return [place]
        found = sorted(each.path for each in matching(self._folders, "", place))
        return found or [place]

    def by_file(self, source: TopicSource) -> dict[str, Sample]:
        """The sample that each file counts for, which is the first; also by their own paths."""
        found: dict[str, Sample] = {}
        for sample in source.samples:
            for path in self.files(source, sample):
                found.setdefault(path, sample)
        return {place_of(source, each): each for each in reversed(source.samples)} | found

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


class _Comparing:
    def __init__(self, loaded: LoadedChange) -> None:
        self._changed = loaded.changed
        self._renamed = loaded.renamed
        self._base = _Side(loaded.change.base_tree)
        self._head = _Side(loaded.change.head_tree)

    def of_topic(self, topic: TopicName, base: TopicSource, head: TopicSource) -> Iterator[Finding]:
        if not head.samples:
            yield of_no_samples(topic, base.samples[0])
            return
        there = self._head.by_file(head)
        for sample in base.samples:
            yield from self._of_sample(topic, sample, self._kept(base, sample, there), there, head)
        yield from _shown(topic, base, head)

    def _of_sample(
        self,
        topic: TopicName,
        sample: Sample,
        kept: _Kept,
        there: Mapping[str, Sample],
        head: TopicSource,
    ) -> Iterator[Finding]:
        same = there.get(place_of(head, sample))
        if kept.lost and not kept.samples and same is None:
            yield of_taken_out(topic, sample)
        elif kept.lost:
            where = same.location if same else replace(sample.location, in_base=True)
            yield of_lost(topic, sample, kept.lost, where)
        for other in kept.samples:
            yield from of_settings(topic, sample, other)

    def _kept(self, base: TopicSource, sample: Sample, there: Mapping[str, Sample]) -> _Kept:
        samples: dict[int, Sample] = {}
        lost = []
        its = self._base.by_file(base)
        for path in self._base.files(base, sample):
            if its[path] is not sample:
                continue
            found = self._now(path, sample, there)
            if found is None:
                lost.append(path)
            else:
                samples[id(found)] = found
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
    """Whether all messages are still there; of most formats only the whole file says it."""
    if old is None or new is None:
        return old is new
    if sample.format != _LINES or sample.path.endswith(_PACKED):
        return old == new
    return not Counter(old.splitlines()) - Counter(new.splitlines())


def _shown(topic: TopicName, base: TopicSource, head: TopicSource) -> Iterator[Finding]:
    """A field that one sample names is hidden in all of its topic."""
    hidden = {steps(name) for sample in head.samples for name in sample.sensitive}
    gone = {
        name: sample
        for sample in reversed(base.samples)
        for name in sample.sensitive
        if not is_named(steps(name), hidden)
    }
    if gone:
        names = sorted(gone)
        yield of_shown(topic, names, replace(gone[names[0]].location, in_base=True))
