"""Versions that were recorded and that a registry has no more: messages still carry their numbers.

A topic's history is lost by a forced deletion, with an inactive topic that the broker deletes, or
with the cluster. Its next version is v0 then, so a registration gives a number that stored messages
have to another schema, with which they decode wrongly or not at all (Pulsar 4.0.7).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from gitops.broker.lines.table import find_line, line_of
from gitops.model.findings import Finding, Severity
from gitops.model.names import NamespaceName, TopicName
from gitops.model.plan import Plan, RegisterSchema
from gitops.model.policy import BrokerSettings
from gitops.model.restore import HeldPolicy
from gitops.model.rollout_reason import name_list
from gitops.model.rules import make_finding
from gitops.model.schema import AcceptedLoss, SchemaEntry, SchemaHistory, SchemaInfo
from gitops.planning.fingerprints import is_same
from gitops.planning.plan import PlanInput
from gitops.planning.refusals import version_list
from gitops.schemas.types import TYPES

DefinitionReader = Callable[[Collection[TopicName]], Mapping[TopicName, SchemaHistory]]
"""Reads the definitions that git has of some topics, numbered from 0; of others nothing."""

SNAPSHOT: Final = "the snapshot"
_LISTED: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovedVersions:
    """Versions that a snapshot's `file` had at earlier commits and has no more.

    `commits` has for each of them the first commit with it.
    """

    file: str
    entries: tuple[SchemaEntry, ...] = ()
    commits: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class UncountedVersions:
    """Versions that a `file` has of a registry of the same name at another `address`."""

    file: str
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """A version of which `sources` have different schemas."""

    version: int
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedVersions:
    """What is known of the versions that a registry has had.

    `histories` are those of its snapshot, with the versions that only a journal has. `unreadable`
    are topics whose file in the snapshot is broken, with what is wrong. `accepted` are losses that
    `snapshot --accept-loss` recorded; `removed` are versions that somebody took out of the snapshot
    otherwise, so that they still count. `journals` are the journals that have more than the
    snapshot, by topic; `unreadable_journals` are those that are broken, with what is wrong.
    `former_records` are files of topics that nothing else records: of snapshots of registries that
    `gitops.yaml` does not have any more. `uncounted` are topics of which a journal has versions
    that do not count, since their registry had another address. `contradictions` are versions of
    which the records have different schemas. `held` are policies that a restore changed for its
    time and has not set back. `past_limit` is why git's history is not all there,
    empty where it is, `past_hint` what to do about it.
    """

    histories: Mapping[TopicName, SchemaHistory] = field(default_factory=dict)
    unreadable: Mapping[TopicName, str] = field(default_factory=dict)
    accepted: Mapping[TopicName, AcceptedLoss] = field(default_factory=dict)
    removed: Mapping[TopicName, RemovedVersions] = field(default_factory=dict)
    journals: Mapping[TopicName, str] = field(default_factory=dict)
    unreadable_journals: Mapping[str, str] = field(default_factory=dict)
    former_records: Mapping[TopicName, str] = field(default_factory=dict)
    uncounted: Mapping[TopicName, UncountedVersions] = field(default_factory=dict)
    contradictions: Mapping[TopicName, Contradiction] = field(default_factory=dict)
    held: tuple[HeldPolicy, ...] = ()
    past_limit: str = ""
    past_hint: str = ""

    def history(self, topic: TopicName) -> SchemaHistory:
        """All versions that the registry should have; a number that two schemas had is twice."""
        known = self.histories.get(topic, SchemaHistory())
        removed = self.removed.get(topic)
        if removed is None:
            return known
        entries = sorted((*known.entries, *removed.entries), key=lambda entry: entry.version)
        following = max(known.next_version, entries[-1].version + 1)
        return SchemaHistory(entries=tuple(entries), next_version=following)

    def is_known(self, topic: TopicName) -> bool:
        """Whether something recorded a version, or its loss."""
        return bool(self.history(topic).next_version) or topic in self.accepted


def journal_notes(recorded: RecordedVersions, address: str) -> tuple[str, ...]:
    """What is not known since journals are broken, and what does not count at this address."""
    unread = (
        f"Lost versions that only {file} has are not known: {reason}."
        for file, reason in sorted(recorded.unreadable_journals.items())
    )
    by_file: dict[tuple[str, str], list[str]] = {}
    for topic, versions in sorted(recorded.uncounted.items()):
        by_file.setdefault((versions.file, versions.address), []).append(str(topic))
    uncounted = (
        f"Versions of {name_list(topics, _LISTED)} in {file} do not count: they were registered "
        f"at {former}, and the registry is at {address}."
        for (file, former), topics in by_file.items()
    )
    return (*unread, *uncounted)


def redefined_notes(
    plan: Plan, recorded: RecordedVersions, definitions: DefinitionReader
) -> tuple[str, ...]:
    """What is not known of topics without a version of which git has another definition."""
    actions = [
        action
        for action in plan.actions
        if isinstance(action, RegisterSchema)
        and action.version == 0
        and not recorded.is_known(action.topic)
    ]
    return tuple(
        f"Git has an earlier definition of {topic}, and nothing has recorded whether the registry "
        "had it and lost it."
        for topic in _redefined_topics(actions, definitions)
    )


def is_same_version(recorded: SchemaInfo, info: SchemaInfo) -> bool:
    """Whether messages that were stored with the recorded schema decode alike with `info`.

    Pulsar's equality is not enough: it ignores properties (Pulsar 4.0.7).
    """
    if recorded == info:
        return True
    if not is_same(recorded, info):
        return False
    for name, default in TYPES.row_of(recorded.type).reading_properties.items():
        values = {schema.properties.get(name) or default for schema in (recorded, info)}
        if len(values - {None}) > 1:
            return False
    return True


def lost_versions(recorded: Iterable[SchemaEntry], live: SchemaHistory) -> Iterator[int]:
    """The recorded versions that are no more, or that are another schema now."""
    there = {entry.version: entry.info for entry in live.entries}
    for entry in recorded:
        info = there.get(entry.version)
        if info is None or not is_same_version(entry.info, info):
            yield entry.version


def lost_numbers(recorded: SchemaHistory, live: SchemaHistory, broker: BrokerSettings) -> set[int]:
    """The recorded versions that are no more, and recorded numbers that would be given anew.

    A broker that does not show tombstones shows nothing of the latter while it has no version. One
    without a profile is taken for one that shows them.
    """
    numbers = set(lost_versions(recorded.entries, live))
    line = find_line(broker.release)
    if live.entries or line is None or line.has_metadata:
        numbers.update(range(live.next_version, recorded.next_version))
    return numbers


def loss_findings(
    plan_input: PlanInput,
    plan: Plan,
    recorded: RecordedVersions,
    definitions: DefinitionReader,
) -> Iterator[Finding]:
    """Topics of a plan whose recorded versions the registry lost.

    A number that belongs to another schema already, or that the next version would get again, is an
    error, whatever the plan does with the topic. A registration that brings back exactly what was
    lost is no finding. After a deletion that left a tombstone the numbers go on, so that nothing
    decodes wrongly and this is a warning; so is a loss that was recorded. `definitions` reads what
    git has of topics that nothing records: another definition may have been v0.
    """
    registered = {item.topic: item for item in plan.actions if isinstance(item, RegisterSchema)}
    unknown: list[TopicName] = []
    unrecorded: list[RegisterSchema] = []
    formerly_recorded: list[TopicName] = []
    uncounted: list[TopicName] = []
    for topic in sorted(plan_input.desired.topics):
        action, live = registered.get(topic), plan_input.observed.topics[topic].history
        if topic in recorded.unreadable:
            finding: Finding | None = _unreadable_finding(plan_input, topic, live, recorded)
        else:
            finding = _loss_finding(plan_input, topic, live, recorded, action)
        if finding is None and action and action.latest_version is None:
            is_known = recorded.is_known(topic)
            if recorded.past_limit and not is_known:
                unknown.append(topic)
            elif topic in recorded.uncounted:
                uncounted.append(topic)
            elif topic in recorded.former_records:
                formerly_recorded.append(topic)
            elif not is_known and action.version == 0:
                unrecorded.append(action)
        if finding is None and action and topic in recorded.accepted:
            finding = _accepted_loss_finding(plan_input, action, recorded.accepted[topic])
        if finding:
            yield replace(finding, location=plan_input.locate(topic, ""))
    if unknown:
        yield _unknown_past_finding(plan_input, unknown, recorded)
    if uncounted:
        yield _uncounted_finding(plan_input, uncounted, recorded)
    if formerly_recorded:
        yield _formerly_recorded_finding(plan_input, formerly_recorded, recorded)
    if redefined := _redefined_finding(plan_input, unrecorded, definitions):
        yield redefined
    if any(action.latest_version is None for action in registered.values()):
        for file, reason in sorted(recorded.unreadable_journals.items()):
            yield make_finding(
                "PLAN-R023",
                f"whether the registry lost versions is unknown: {reason}",
                subject=file,
                hint="restore the file, or remove it if the registry has all versions",
            )


def _loss_finding(
    plan_input: PlanInput,
    topic: TopicName,
    live: SchemaHistory,
    recorded: RecordedVersions,
    action: RegisterSchema | None,
) -> Finding | None:
    history, source = recorded.history(topic), source_of(recorded, topic)
    after = _history_after(live, action)
    lost = set(lost_versions(history.entries, after))
    if not lost:
        return _lost_numbers_finding(plan_input, topic, after, recorded)
    reassigned = {entry.version for entry in live.entries} & lost
    is_reused = live.next_version < history.next_version
    facts = []
    if gone := sorted(lost - reassigned):
        facts.append(f"the registry lost {version_list(gone)}, which {source} has")
    if reassigned:
        numbers = version_list(sorted(reassigned))
        verb = "is another schema" if len(reassigned) == 1 else "are other schemas"
        facts.append(f"{numbers} {verb} in the registry than in {source}")
    if is_reused and not reassigned:
        facts.append(
            f"the next version is v{live.next_version}, a number that stored messages may carry, "
            "and these would decode wrongly or not at all"
        )
        if not live.entries and not line_of(plan_input.broker).has_metadata:
            facts.append("this broker does not show whether the numbers of deleted versions go on")
    else:
        effect = "decode wrongly or not at all" if reassigned else "cannot be decoded"
        facts.append(f"messages stored with {'it' if len(lost) == 1 else 'them'} {effect}")
    restore = restore_steps(recorded, topic, plan_input.registry)
    accept = accept_command(plan_input.registry)
    if is_reused or reassigned:
        hint = f"bring them back: {restore}; to begin anew instead: {accept}"
        return make_finding("PLAN-R023", "; ".join(facts), subject=str(topic), hint=hint)
    facts.append(f"they were deleted, and numbers go on: the next version is v{live.next_version}")
    forget = forget_command(topic, plan_input.registry)
    hint = f"bring them back: {forget}, then {restore}; to leave them deleted: {accept}"
    if live.entries:
        after_deletion = version_list([entry.version for entry in live.entries])
        hint = f"if no stored message needs {after_deletion}, {hint}"
    finding = make_finding("PLAN-R023", "; ".join(facts), subject=str(topic), hint=hint)
    return replace(finding, severity=Severity.WARNING)


def _lost_numbers_finding(
    plan_input: PlanInput,
    topic: TopicName,
    after: SchemaHistory,
    recorded: RecordedVersions,
) -> Finding | None:
    """Deleted versions that the registry forgot with their tombstone: numbers begin anew."""
    history, source = recorded.history(topic), source_of(recorded, topic)
    if not lost_numbers(history, after, plan_input.broker):
        return None
    return make_finding(
        "PLAN-R023",
        f"the next version is v{after.next_version}, and {source} has v{history.next_version}: "
        "the registry forgot deleted versions, whose numbers stored messages may carry, and these "
        "would decode wrongly",
        subject=str(topic),
        hint=f"let the numbers go on: {restore_steps(recorded, topic, plan_input.registry)}; to "
        f"begin anew instead: {accept_command(plan_input.registry)}",
    )


def _unknown_past_finding(
    plan_input: PlanInput, topics: Sequence[TopicName], recorded: RecordedVersions
) -> Finding:
    """Topics that get their first version, as far as is known: a warning."""
    others = f" and {len(topics) - 1} more" if len(topics) > 1 else ""
    finding = make_finding(
        "PLAN-R023",
        f"whether {topics[0]}{others} had versions before is unknown: {recorded.past_limit}, "
        "and git's history of the snapshot may have versions that the registry lost",
        subject=str(topics[0]),
        hint=recorded.past_hint,
    )
    location = plan_input.locate(topics[0], "")
    return replace(finding, severity=Severity.WARNING, location=location)


def _formerly_recorded_finding(
    plan_input: PlanInput, topics: Sequence[TopicName], recorded: RecordedVersions
) -> Finding:
    """Topics that get a first version, and that a registry of another name had: a warning."""
    topic = topics[0]
    others = f" and {len(topics) - 1} more" if len(topics) > 1 else ""
    verb = "has" if len(topics) == 1 else "have"
    file = recorded.former_records[topic]
    name = file.split("/")[1]
    finding = make_finding(
        "PLAN-R023",
        f"whether the registry lost versions is unknown: {topic}{others} {verb} none there, and "
        f"{file} has some, of a registry '{name}' that gitops.yaml does not have any more; if that "
        "is this one, v0 gets another schema, and stored messages decode wrongly or not at all",
        location=plan_input.locate(topic, ""),
        subject=str(topic),
        hint=f"if '{name}' was renamed: git mv snapshots/{name} snapshots/{plan_input.registry}, "
        "or bring that folder back from git under the new name; then plan again",
    )
    return replace(finding, severity=Severity.WARNING)


def _uncounted_finding(
    plan_input: PlanInput, topics: Sequence[TopicName], recorded: RecordedVersions
) -> Finding:
    """Topics that get a first version, and that have some in a journal of another address."""
    topic = topics[0]
    others = f" and {len(topics) - 1} more" if len(topics) > 1 else ""
    versions = recorded.uncounted[topic]
    finding = make_finding(
        "PLAN-R023",
        f"whether the registry lost versions is unknown: {versions.file} has some of "
        f"{topic}{others} that were registered at {versions.address}, and the registry is at "
        f"{plan_input.address}",
        location=plan_input.locate(topic, ""),
        subject=str(topic),
        hint=f"if that was another registry, remove {versions.file}; if it is this one, write its "
        f"address of today into {versions.file}; then plan again",
    )
    return replace(finding, severity=Severity.WARNING)


def _redefined_topics(
    actions: Sequence[RegisterSchema],
    definitions: DefinitionReader,
) -> list[TopicName]:
    """The topics whose v0 becomes another schema than a definition that git has."""
    if not actions:
        return []
    histories = definitions([action.topic for action in actions])
    return [
        action.topic
        for action in actions
        if any(
            not is_same_version(entry.info, action.info)
            for entry in histories.get(action.topic, SchemaHistory()).entries
        )
    ]


def _redefined_finding(
    plan_input: PlanInput, actions: Sequence[RegisterSchema], definitions: DefinitionReader
) -> Finding | None:
    """Topics without a version of which git has another definition."""
    topics = _redefined_topics(actions, definitions)
    if not topics:
        return None
    topic = topics[0]
    others = f" and {len(topics) - 1} more" if len(topics) > 1 else ""
    verb = "has" if len(topics) == 1 else "have"
    location = plan_input.locate(topic, "")
    file = location.file if location else "namespaces"
    return make_finding(
        "PLAN-R024",
        f"{topic}{others} {verb} no version in the registry, and git has an earlier definition: if "
        "that was registered and lost, v0 gets another schema, and stored messages decode wrongly "
        "or not at all",
        location=location,
        subject=str(topic),
        hint="if messages were stored, register the earlier definitions first, in their order, "
        f"with `pulsar-gitops schemas upload`; git has them: `git log -- {file}`",
    )


def _unreadable_finding(
    plan_input: PlanInput, topic: TopicName, live: SchemaHistory, recorded: RecordedVersions
) -> Finding:
    """An error where the registry lacks versions that are known otherwise, or has none at all."""
    finding = make_finding(
        "PLAN-R023",
        f"whether the registry lost versions is unknown: {recorded.unreadable[topic]}",
        subject=str(topic),
        hint="restore the file from git; if the registry has all versions, record it again: "
        f"pulsar-gitops snapshot --registry {plan_input.registry}",
    )
    if not live.entries or list(lost_versions(recorded.history(topic).entries, live)):
        return finding
    return replace(finding, severity=Severity.WARNING)


def _accepted_loss_finding(
    plan_input: PlanInput, action: RegisterSchema, loss: AcceptedLoss
) -> Finding | None:
    """A number that a lost version had, or a lower one."""
    lost = {
        entry.version
        for entry in loss.versions
        if entry.version > action.version
        or (entry.version == action.version and not is_same_version(entry.info, action.info))
    }
    if not lost:
        return None
    versions = version_list(sorted(lost))
    restore = restore_command(action.topic.namespace, plan_input.registry)
    finding = make_finding(
        "PLAN-R023",
        f"v{action.version} continues a new history: the registry lost {versions}, and messages "
        "stored with such a number would decode wrongly or not at all",
        subject=str(action.topic),
        hint="their loss was accepted, so this does not block; if messages of that time are still "
        f"needed, bring that snapshot back from git, then: {restore}",
    )
    return replace(finding, severity=Severity.WARNING)


def _history_after(live: SchemaHistory, action: RegisterSchema | None) -> SchemaHistory:
    if action is None:
        return live
    entry = SchemaEntry(version=action.version, info=action.info)
    return SchemaHistory(entries=(*live.entries, entry), next_version=action.version + 1)


def source_of(recorded: RecordedVersions, topic: TopicName) -> str:
    """What has more versions of a topic than the registry."""
    if removed := recorded.removed.get(topic):
        return f"{removed.file} at an earlier commit"
    journal = recorded.journals.get(topic)
    return f"the journal {journal}" if journal else SNAPSHOT


def restore_steps(recorded: RecordedVersions, topic: TopicName, registry: str) -> str:
    """How the recorded versions of a topic come back, removed ones too."""
    restore = restore_command(topic.namespace, registry)
    removed = recorded.removed.get(topic)
    if removed is None:
        return restore
    return f"take {removed.file} from a commit of `git log -- {removed.file}`, then {restore}"


def restore_command(namespace: NamespaceName, registry: str) -> str:
    """The command that brings the recorded versions of a namespace back."""
    return f"pulsar-gitops restore {namespace} --registry {registry}"


def forget_command(topic: TopicName | str, registry: str) -> str:
    """The command after which a topic's numbers begin at v0, as a restore needs it."""
    return f"pulsar-gitops schemas delete --force {topic} --registry {registry} --yes"


def accept_command(registry: str) -> str:
    """The command that records what a registry lost, so that numbers begin anew."""
    return f"pulsar-gitops snapshot --accept-loss --registry {registry}"
