"""What follows from manifests that a change moves, told with the move.

Clients that use the topics, policies that no file has any more and files that lie in the wrong
place are no mistakes of their own: they go with the move.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from gitops.changes.change import LoadedChange
from gitops.changes.moved_topics import MovedTopics, moved_topics, unread_topics
from gitops.checks.changed_topics import changed_topics
from gitops.model.check import Impact
from gitops.model.findings import Finding, Location, Severity
from gitops.model.names import TopicName
from gitops.model.rollout_reason import name_list

_MOVE_RULES: Final = ("CHECK-R001", "CHECK-R002")
_LISTED: Final = 3


def fold_consequences(
    findings: Iterable[Finding], loaded: LoadedChange, touched: Impact
) -> list[Finding]:
    """The findings, without those that follow from a move; the move's names them.

    A move that is no error, as with `safety.allowDeletions`, stands for nothing but itself.
    """
    findings = list(findings)
    errors = {
        frozenset(finding.subjects): finding
        for finding in findings
        if finding.rule in _MOVE_RULES and finding.severity is Severity.ERROR
    }
    moves = {}
    for move in (*moved_topics(loaded, touched), *unread_topics(loaded, touched)):
        if finding := errors.get(frozenset(map(str, move.topics))):
            moves[finding] = move
    if not moves:
        return findings
    moved = _Moved.of(moves.values(), loaded, touched)
    folded = [finding for finding in findings if moved.leads_to(finding)]
    mapping = {
        finding: replace(finding, message=f"{finding.message}{moved.text(move, folded)}")
        for finding, move in moves.items()
    }
    return [mapping.get(finding, finding) for finding in findings if finding not in folded]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Moved:
    """The topics of the base and the files that moved, and what names them.

    `gone` are the names of the topics, and of their namespaces that the head does not have.
    `definitions` are files that only these topics used, `uses` the topics that clients use, by
    where. `is_all`: no other topic changes.
    """

    topics: frozenset[TopicName]
    files: frozenset[str]
    gone: frozenset[str]
    definitions: frozenset[str]
    uses: Mapping[Location, TopicName]
    is_all: bool

    @classmethod
    def of(cls, moves: Iterable[MovedTopics], loaded: LoadedChange, touched: Impact) -> _Moved:
        moves = list(moves)
        base = loaded.base
        topics = frozenset(topic for move in moves for topic in move.topics.values())
        namespaces = {topic.namespace for topic in topics} - loaded.head.namespaces.keys()
        used = {path for topic in topics for path in base.topics[topic].definitions}
        others = (source for topic, source in base.topics.items() if topic not in topics)
        uses: dict[Location, TopicName] = {}
        for client in (*base.clients, *loaded.head.clients):
            uses |= {use.location: use.topic for use in client.produces}
            uses |= {use.location: use.topic for use in client.consumes}
        return cls(
            topics=topics,
            files=frozenset(path for move in moves for path in move.files),
            gone=frozenset(map(str, (*topics, *namespaces))),
            definitions=frozenset(used.difference(*(source.definitions for source in others))),
            uses=uses,
            is_all=changed_topics(loaded, touched).keys() <= topics,
        )

    def leads_to(self, finding: Finding) -> bool:
        """Whether nothing but the moves causes a finding."""
        places = [member.location for member in finding.members if member.location]
        files = {place.file for place in places}
        match finding.rule:
            case "CLIENT-R005":
                return all(self.uses.get(place) in self.topics for place in places)
            case "CHECK-R003":  # no file has their policies any more
                return self.gone.issuperset(finding.subjects)
            case "CHECK-R005":
                return self.is_all
            case "REPO-R016":
                return self.files.issuperset(files)
            case "REPO-R023":
                return self.files.issuperset(files) or self.definitions.issuperset(files)
        return False

    def text(self, move: MovedTopics, folded: Iterable[Finding]) -> str:
        """Who still uses the topics of a move, and whose policies no file has any more."""
        old = set(move.topics.values())
        names = {str(name) for topic in old for name in (topic, topic.namespace)}
        clients: set[str] = set()
        used: set[TopicName] = set()
        unmanaged: set[str] = set()
        for member in (member for finding in folded for member in finding.members):
            topic = self.uses.get(member.location) if member.location else None
            if member.rule == "CLIENT-R005" and topic in old:
                clients.add(member.subject)
                used.add(topic)
            elif member.rule == "CHECK-R003":
                unmanaged |= {member.subject} & names
        parts = []
        if clients:
            verb = "uses" if len(clients) == 1 else "use"
            what = f"{len(used):,} of the topics" if len(old) > 1 else "the topic"
            parts.append(f"; {name_list(sorted(clients), _LISTED)} still {verb} {what}")
        if unmanaged:
            whose = name_list(sorted(unmanaged), _LISTED)
            parts.append(f"; the policies of {whose} are no longer managed")
        return "".join(parts)
