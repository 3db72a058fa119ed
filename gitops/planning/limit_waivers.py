"""Waivers for a big change: which topics do not count for the limit on changed topics."""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from gitops.model.config import SafetyConfig
from gitops.model.findings import Finding, Severity
from gitops.model.names import TopicName
from gitops.model.rules import make_finding
from gitops.model.schema import SchemaInfo
from gitops.model.waivers import LimitWaiver, WaiverProposal
from gitops.planning.fingerprints import schema_fingerprint
from gitops.planning.waivers import DIGITS, PROPOSED_DAYS, has_expired, quoted_name

HINT: Final = (
    "split the change; or have it approved once: `--waivers waivers/` writes a waiver for it"
)

_NAMED: Final = 8


def changed_topic_fingerprint(topic: TopicName, info: SchemaInfo | None) -> str:
    """32 hex digits of a topic and the schema that it gets, None where its schema goes."""
    content = [str(topic), None if info is None else schema_fingerprint(info)]
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedChanges:
    """Changed topics with their fingerprints: those that count, and those that `waivers` cover."""

    counted: Mapping[TopicName, str]
    waived: Mapping[TopicName, str]
    waivers: tuple[LimitWaiver, ...] = ()

    @property
    def total(self) -> int:
        """How many topics change."""
        return len(self.counted) + len(self.waived)

    @property
    def approval(self) -> str:
        """Who approved the covered topics, until when, and why."""
        return "; ".join(
            f"waived until {waiver.expires} by {waiver.file}, approved by {waiver.approved_by}, "
            f'with the reason "{" ".join(waiver.reason.split())}"'
            for waiver in self.waivers
        )


def count_changes(
    changed: Mapping[TopicName, str], waivers: Iterable[LimitWaiver], today: datetime.date
) -> CountedChanges:
    """Split changed topics by whether a waiver that has not expired names exactly this change."""
    valid = [waiver for waiver in waivers if not has_expired(waiver, today)]
    used = [w for w in valid if any(w.topics.get(t) == print_ for t, print_ in changed.items())]
    waived = {
        topic: print_
        for topic, print_ in changed.items()
        if any(waiver.topics.get(topic) == print_ for waiver in used)
    }
    counted = {topic: print_ for topic, print_ in changed.items() if topic not in waived}
    return CountedChanges(counted=counted, waived=waived, waivers=tuple(used))


@dataclass(frozen=True, slots=True, kw_only=True)
class ExceededShare:
    """More topics change than allowed; a note where a waiver lets them pass."""

    message: str
    hint: str
    is_waived: bool

    def rate(self, finding: Finding) -> Finding:
        """The finding as it counts."""
        return replace(finding, severity=Severity.INFO) if self.is_waived else finding


def exceeded_share(
    changes: CountedChanges, topics: int, safety: SafetyConfig, change: str
) -> ExceededShare | None:
    """What is wrong with so many changes of `topics`; `change` says what becomes of them."""
    allowed = topics * safety.max_changed_share
    if topics < safety.min_topics or changes.total <= allowed:
        return None
    number = "topic" if topics == 1 else "topics"
    limit = f"more than {safety.max_changed_share:.0%}"
    if len(changes.counted) > allowed:
        beside = f", beside {len(changes.waived)} that are waived" if changes.waived else ""
        message = f"{len(changes.counted)} of {topics} {number} {change}{beside}, {limit}"
        return ExceededShare(message=message, hint=HINT, is_waived=False)
    message = f"{changes.total} of {topics} {number} {change}, {limit}"
    return ExceededShare(message=message, hint=changes.approval, is_waived=True)


def limit_proposal(changed: Mapping[TopicName, str], today: datetime.date) -> WaiverProposal:
    """The file of a waiver for these topics; reason and approval are empty."""
    lines = (
        "# yaml-language-server: $schema=../.schemas/limit-waiver.schema.json",
        "apiVersion: pulsar-gitops/v1",
        "kind: LimitWaiver",
        "limit: maxChangedShare",
        "topics:",
        *(f'  {quoted_name(topic)}: "{print_}"' for topic, print_ in sorted(changed.items())),
        'reason: "" # why so many topics may change',
        'approvedBy: "" # who approves it',
        f"expires: {today + datetime.timedelta(days=PROPOSED_DAYS)}",
    )
    text = "".join(f"{line}\n" for line in lines)
    digest = hashlib.sha256("".join(sorted(changed.values())).encode()).hexdigest()
    return WaiverProposal(file=f"waivers/limit-{digest[:_NAMED]}.yaml", text=text)


def unneeded_limit_findings(
    waivers: Iterable[LimitWaiver], changed: Mapping[TopicName, str], today: datetime.date
) -> Iterator[Finding]:
    """Waivers none of whose topics changes as they say."""
    for waiver in waivers:
        is_needed = any(changed.get(topic) == print_ for topic, print_ in waiver.topics.items())
        if not is_needed and not has_expired(waiver, today):
            yield make_finding(
                "WAIVER-R003",
                "none of its topics changes to the schema that it names",
                location=waiver.location,
                subject=waiver.file,
                hint="remove the file",
            )
