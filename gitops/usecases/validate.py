"""Everything that can be told from the files alone."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from gitops.model.findings import Finding, Location, Severity
from gitops.model.names import TopicName
from gitops.model.schema import SchemaInfo
from gitops.model.state import Repository
from gitops.planning.fingerprints import is_same
from gitops.planning.severities import at_most_warning, rate_findings, worst
from gitops.planning.unknown_topics import group_unknown_topics
from gitops.planning.waiver_findings import expiry_findings
from gitops.repository.file_trees import is_selected

Recorded = Callable[[frozenset[TopicName]], Mapping[TopicName, Sequence[SchemaInfo]]]
"""From topics to the latest schemas that snapshots record of them."""


def validate(
    repository: Repository,
    paths: tuple[str, ...] = (),
    recorded: Recorded = lambda _: {},
    *,
    today: datetime.date,
) -> tuple[Finding, ...]:
    """All findings about the files, rated; with `paths` only those in these files or folders.

    `today` is the day in UTC, for waivers.

    What a registry holds already, as its snapshot records it, is reported and is no error.
    """
    rules = repository.config.rules
    content = {
        topic: rate_findings(source.findings, rules)
        for topic, source in repository.topics.items()
        if source.findings
    }
    bad = frozenset(topic for topic, members in content.items() if worst(members) is Severity.ERROR)
    for topic, held in (recorded(bad) if bad else {}).items():
        latest = repository.desired.topics[topic].history.latest
        if latest and any(is_same(latest.info, info) for info in held):
            content[topic] = tuple(at_most_warning(finding) for finding in content[topic])
    of_files = (
        *repository.findings,
        *expiry_findings(repository.waivers, today),
        *_sample_findings(repository),
    )
    findings = (*rate_findings(of_files, rules), *chain.from_iterable(content.values()))
    wanted = (
        finding
        for finding in findings
        if finding.location is None or is_selected(finding.location.file, paths)
    )
    in_order = sorted(wanted, key=lambda finding: (finding.sort_key, -finding.severity))
    return tuple(group_unknown_topics(_once(in_order)))


def _sample_findings(repository: Repository) -> Iterable[Finding]:
    """Definitions are parsed only where a name has to be looked for in them."""
    sources = repository.topics.values()
    if not any(sample.sensitive for source in sources for sample in source.samples):
        return ()
    from gitops.replay.sensitive_fields import likely_misspellings

    return likely_misspellings(repository)


def _once(findings: Iterable[Finding]) -> Iterator[Finding]:
    """A shared type is wrong once, however many topics use it; the first of them is named."""
    parts: set[tuple[str, str, Location]] = set()
    for finding in findings:
        if finding.location is None:
            yield finding
        elif (what := (finding.rule, finding.message, finding.location)) not in parts:
            parts.add(what)
            yield finding
