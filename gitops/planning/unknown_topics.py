"""Topics of clients that neither a manifest nor a snapshot has: one finding for each client."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from gitops.model.findings import Finding, group
from gitops.model.rollout_reason import name_list

_UNKNOWN: Final = "CLIENT-R010"
_STILL_USED: Final = "CLIENT-R005"
_LISTED: Final = 5


def group_unknown_topics(findings: Iterable[Finding]) -> list[Finding]:
    """The findings, with one for each client and cause, where the first of them was.

    A misspelt name is a cause of its own. Of topics that go away, the use is reported already.
    """
    findings = list(findings)
    places = {
        member.location
        for finding in findings
        if finding.rule == _STILL_USED
        for member in finding.members
    }
    reported = {
        (_file(finding), finding.subject)
        for finding in findings
        if finding.rule == _UNKNOWN and finding.location in places
    }
    by_cause: dict[object, list[Finding]] = {}
    for finding in findings:
        if finding.rule != _UNKNOWN:
            by_cause[finding] = [finding]
        elif (_file(finding), finding.subject) not in reported:
            misspelt = "" if finding.hint.startswith("add ") else finding.subject
            by_cause.setdefault((_file(finding), misspelt), []).append(finding)
    return [_finding(same) for same in by_cause.values()]


def _file(finding: Finding) -> str:
    return finding.location.file if finding.location else ""


def _finding(same: list[Finding]) -> Finding:
    topics = list(dict.fromkeys(finding.subject for finding in same))
    if len(topics) == 1:
        return group(same[0].message, same)
    finding = group(
        f"no manifest declares {len(topics):,} topics that this client uses, and no snapshot "
        f"records them: {name_list(topics, _LISTED)}",
        same,
    )
    hint = "add a manifest for each; without `schema:` its schema is not managed here"
    return replace(finding, hint=hint)
