"""Which samples of a change are opened: a change does not decide where data is fetched from.

Whoever checks a pull request may hold credentials for more places than its author does, and may
run inside a network that the author cannot reach. So a URI, or a table of Spark's, counts once the
base names it; files of the repository come with the change itself.
"""

from __future__ import annotations

from collections.abc import Iterable

from gitops.changes.sample_files import is_external
from gitops.model.findings import Finding
from gitops.model.names import TopicName
from gitops.model.replay import Sample
from gitops.model.rules import make_finding
from gitops.model.state import Repository


def known_samples(topic: TopicName, head: Repository, base: Repository) -> tuple[Sample, ...]:
    """The samples of a topic that lie in the repository, or that the base names for it, too."""
    return tuple(sample for sample in head.topics[topic].samples if _is_known(sample, topic, base))


def withheld_samples(
    topics: Iterable[TopicName], head: Repository, base: Repository
) -> tuple[Finding, ...]:
    """A finding for each of the others."""
    return tuple(
        make_finding(
            "REPLAY-R009",
            f"the base does not name {sample.shown_path}, and a change must not choose where "
            "data is fetched from",
            location=sample.location,
            subject=str(topic),
            hint="it is replayed once the manifest is merged; `replay` without --base opens it now",
        )
        for topic in topics
        for sample in head.topics[topic].samples
        if not _is_known(sample, topic, base)
    )


def _is_known(sample: Sample, topic: TopicName, base: Repository) -> bool:
    if not is_external(sample):
        return True
    source = base.topics.get(topic)
    return source is not None and any(item.path == sample.path for item in source.samples)
