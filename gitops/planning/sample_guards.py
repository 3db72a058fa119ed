"""Guards of a change that makes a replay see less than before: findings, by rule CHECK-R008."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from gitops.model.findings import Finding, Location
from gitops.model.names import TopicName
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.model.rules import finding
from gitops.model.samples import Sample

_RULE: Final = "CHECK-R008"
_MOST_NAMED: Final = 3
_AGREE: Final = "whoever owns the topic should agree; `pulsar-gitops explain CHECK-R008` says more"


def of_no_samples(topic: TopicName, first: Sample) -> Finding:
    """None is left; `first` is the first of those that were there, in the base."""
    return _finding(
        topic,
        f"the samples of {topic} are taken out of its manifest: nothing of it is replayed any more",
        replace(first.location, in_base=True),
    )


def of_taken_out(topic: TopicName, sample: Sample) -> Finding:
    """One sample is gone, or stands for other data; `sample` is that of the base."""
    return _finding(
        topic,
        f"the sample {sample.path} is taken out, and no other one here has its messages",
        replace(sample.location, in_base=True),
    )


def of_lost(topic: TopicName, sample: Sample, files: Sequence[str], where: Location) -> Finding:
    """Some files of a sample, sorted, are gone or hold other messages than before."""
    one = len(files) == 1
    return _finding(
        topic,
        f"{'a file' if one else f'{len(files):,} files'} of the sample {sample.path} "
        f"{'is' if one else 'are'} gone, or {'holds' if one else 'hold'} other messages: "
        f"{_listed(files)}",
        where,
    )


def of_settings(topic: TopicName, base: Sample, head: Sample) -> Iterator[Finding]:
    """The same data before and after: more of it may fail, or it is read otherwise."""
    if _may_allow_more(base.max_failures, head.max_failures):
        limits = f"{_limit(base.max_failures)} → {_limit(head.max_failures)}"
        what = f"maxFailures of the sample {head.path} is raised: {limits}"
        yield _finding(topic, what, head.location)
    if (base.logical_types, head.logical_types) == ("java", "none"):
        what = (
            f"logicalTypes of the sample {head.path} is none: what fails in Java's classes passes"
        )
        yield _finding(topic, what, head.location)
    for key, old, new in (
        ("format", base.format, head.format),
        ("version", base.version, head.version),
        ("columns", _columns(base), _columns(head)),
    ):
        if old is not None and old != new:
            what = f"{key} of the sample {head.path} is another: {old} → {_said(new)}"
            yield _finding(topic, f"{what}; its messages are read otherwise", head.location)


def of_shown(topic: TopicName, names: Sequence[str], where: Location) -> Finding:
    """Fields that no report showed, and that it shows now; `where` the first of them stood."""
    plural = len(names) > 1
    listed = _listed([f"'{name}'" for name in names])
    return _finding(
        topic,
        f"the field{'s' * plural} {listed} {'are' if plural else 'is'} no longer sensitive: "
        f"reports of replays may show what {'they hold' if plural else 'it holds'}",
        where,
    )


def of_gates(
    topics: Sequence[TopicName],
    strategies: tuple[SchemaCompatibilityStrategy, SchemaCompatibilityStrategy],
    lost: str,
    where: Location | None,
) -> Finding:
    """Failures in a direction do not count any more; `lost` names it, `topics` are sorted."""
    before, after = strategies
    return _finding(
        topics[0],
        f"{lost} no longer count in replays of {_listed([str(one) for one in topics])}: the "
        f"strategy changes from {before.value} to {after.value}",
        where,
    )


def _finding(topic: TopicName, what: str, where: Location | None) -> Finding:
    return finding(_RULE, what, location=where, subject=str(topic), hint=_AGREE)


def _may_allow_more(before: float, after: float) -> bool:
    """A count and a share of unknown many rows cannot be compared, unless one of them is 0."""
    if isinstance(before, int) is isinstance(after, int) or 0 in (before, after):
        return after > before
    return True


def _limit(limit: float) -> str:
    return f"{limit:,}" if isinstance(limit, int) else f"{limit * 100:.10g} %"


def _columns(sample: Sample) -> str:
    said = ", ".join(f"{name}: {its}" for name, its in sorted(sample.columns.items()))
    return f"{{{said}}}" if said else "none"


def _said(value: object) -> object:
    return "none" if value is None else value


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")
