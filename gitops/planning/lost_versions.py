"""Versions that a snapshot recorded and a registry has no more: messages still carry their numbers.

A topic's history is lost by a forced deletion, with an inactive topic that the broker deletes, or
with the cluster. Its next version is v0 then, so a registration gives a number that stored messages
have to another schema, with which they decode wrongly or not at all (Pulsar 4.0.7).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from gitops.model.findings import Finding, Severity
from gitops.model.names import TopicName
from gitops.model.plan import RegisterSchema
from gitops.model.rules import make_finding
from gitops.model.schema import SchemaEntry, SchemaHistory
from gitops.model.state import RegistryState
from gitops.planning.fingerprints import is_same
from gitops.planning.refusals import version_list


def lost_versions(recorded: Iterable[SchemaEntry], live: SchemaHistory) -> Iterator[int]:
    """The recorded versions that are no more, or that are another schema now."""
    there = {entry.version: entry.info for entry in live.entries}
    for entry in recorded:
        if entry.version not in there or not is_same(entry.info, there[entry.version]):
            yield entry.version


def loss_findings(
    registry: str,
    actions: Iterable[RegisterSchema],
    observed: RegistryState,
    recorded: Mapping[TopicName, SchemaHistory],
) -> Iterator[Finding]:
    """One for each topic that a plan registers a schema for while recorded versions are lost.

    No finding where the registration brings back exactly what was lost. After a deletion that left
    a tombstone the numbers go on, so nothing decodes wrongly and this is a warning.
    """
    for action in actions:
        live = observed.topics[action.topic].history
        entry = SchemaEntry(version=action.version, info=action.info)
        after = replace(live, entries=(*live.entries, entry))
        before = recorded[action.topic]
        lost = sorted(lost_versions(before.entries, after), reverse=True)
        if not lost:
            continue
        versions = version_list(lost)
        is_reused = action.version in lost or action.version < before.next_version
        effect = (
            f"v{action.version} would be a number that stored messages may have already, and these "
            "would decode wrongly or not at all"
            if is_reused
            else "messages stored with them cannot be decoded"
        )
        finding = make_finding(
            "PLAN-R023",
            f"the registry lost {versions}, which the snapshot has: {effect}",
            subject=str(action.topic),
            hint=f"bring them back: pulsar-gitops restore --registry {registry}; to begin anew "
            f"instead: pulsar-gitops snapshot --accept-loss --registry {registry}",
        )
        yield finding if is_reused else replace(finding, severity=Severity.WARNING)
