"""Everything that can be told from the files alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gitops.model.findings import Finding, Location
from gitops.model.repository import Repository
from gitops.usecases.severities import graded


def validate(repository: Repository, paths: tuple[str, ...] = ()) -> tuple[Finding, ...]:
    """All findings about the files, graded; with `paths` only those in these files or folders."""
    content = (f for source in repository.topics.values() for f in source.findings)
    findings = graded((*repository.findings, *content), repository.config.rules)
    return tuple(_once(finding for finding in findings if _is_in(finding, paths)))


def _once(findings: Iterable[Finding]) -> Iterator[Finding]:
    """A shared type is wrong once, however many topics use it; the first of them is named."""
    told: set[tuple[str, str, Location]] = set()
    for finding in findings:
        if finding.location is None:
            yield finding
        elif (what := (finding.rule, finding.message, finding.location)) not in told:
            told.add(what)
            yield finding


def _is_in(finding: Finding, paths: tuple[str, ...]) -> bool:
    if not paths or finding.location is None:
        return True
    file = finding.location.file
    return any(path in (".", file) or file.startswith(f"{path}/") for path in paths)
