"""Which files a command wrote, in lines for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from gitops.model.names import TopicName
from gitops.reports.check_summary import count
from gitops.reports.formats import Output
from gitops.reports.operation_results import SnapshotResult
from gitops.reports.results import CaptureResult, ImportResult
from gitops.reports.text.plain import safe

_NEVER_CREATED: Final = (
    "a cluster does not list a topic that was never created: import finds it only where a "
    "manifest, git's history or a snapshot names it"
)


def import_text(result: ImportResult) -> Output:
    """How many files for how many topics, and what was kept or written otherwise."""
    made = result.files
    files, topics = count(len(made.files), "file"), count(len(result.topics), "topic")
    return _note(
        f"wrote {files} for {topics} of {result.registry.name}",
        _NEVER_CREATED,
        *result.limits,
        *(f"kept the manifest of {topic}, which exists already" for topic in result.kept),
        *_kept_as_base64(made.kept_as_base64),
        *_unshared(made.unshared),
        *map(safe, made.notes),
    )


def snapshot_text(result: SnapshotResult) -> Output:
    """How many files, and how many of them changed."""
    written = f"{count(len(result.files), 'file')} under {result.folder}"
    return _note(
        "\n".join([f"{written}, {result.changed} of them changed", *map(safe, result.notes)])
    )


def capture_text(result: CaptureResult) -> Output:
    """A line for each topic, and one for each reason why messages were left out."""
    lines = []
    for restore in result.topics:
        manifest = restore.manifest
        number = sum(item.messages for item in manifest.partitions)
        end = "" if manifest.is_complete else " so far: --resume goes on"
        lines.append(f"{restore.topic}: {count(number, 'message')} in {restore.folder}{end}")
        left_out: Counter[str] = Counter()
        for partition in manifest.partitions:
            left_out.update(partition.left_out)
        lines += [f"  left out: {count(n, 'message')} {why}" for why, n in left_out.items()]
        if compacted := sum(item.compacted for item in manifest.partitions):
            lines.append(f"  {_compacted(compacted)}")
        if missing := manifest.without_schema:
            lines.append(f"  {_without_schema(missing)}")
        if manifest.masking:
            lines.append(f"  masked: {', '.join(manifest.masking.fields)}")
    return _note(*lines)


def _compacted(number: int) -> str:
    return (
        f"compacted: {count(number, 'message')} of before the oldest that is kept, the latest of "
        "each key; the others were deleted"
    )


def _without_schema(missing: Mapping[int, int]) -> str:
    versions = ", ".join(f"v{version} ({number:,})" for version, number in missing.items())
    return (
        f"without a schema: {count(sum(missing.values()), 'message')} of versions that the "
        f"registry no longer has: {versions}"
    )


def _note(*lines: str) -> Output:
    return Output(body="".join(f"{line}\n" for line in lines), is_note=True)


def _unshared(topics: Mapping[TopicName, Iterable[str]]) -> Iterator[str]:
    for topic, types in sorted(topics.items()):
        yield (
            f"wrote the definition of {topic} as .json: it defines {', '.join(types)} differently "
            "from files that others use"
        )


def _kept_as_base64(topics: Mapping[TopicName, str]) -> Iterator[str]:
    """A line for each reason, with the topics that it is for."""
    for reason in sorted(set(topics.values())):
        names = ", ".join(str(topic) for topic in sorted(topics) if topics[topic] == reason)
        yield f"wrote PROTOBUF_NATIVE as base64 for {names}: {reason}"
