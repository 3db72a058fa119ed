"""Drift in words: one entry for each, for every format that people read."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, assert_never

from gitops.model.drift import (
    DefinitionAnswer,
    Drift,
    DriftReport,
    NamespaceDeletion,
    PartitionDrift,
    PolicyDrift,
    Recording,
    SchemaDeletion,
    UnmanagedNamespace,
    UnmanagedTopic,
    VersionDrift,
    VersionLoss,
    VersionOutsideGit,
)
from gitops.model.names import NamespaceName, TopicName
from gitops.model.plan import SchemaChange
from gitops.model.policy import PolicyChange
from gitops.planning.client_readers import client_names
from gitops.planning.creations import counted
from gitops.planning.drift import moment_text
from gitops.planning.lost_versions import accept_command, forget_command
from gitops.planning.policies import direction, policy_text
from gitops.reports.check_summary import count, name_list

_MOST_VERSIONS = 10
_MOST_NAMESPACES = 10
_MOST_TOPICS = 5
_ALIKE: Final = 3
"""So many subjects that have drifted alike are one entry."""
_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC")

if TYPE_CHECKING:
    from gitops.repository.writing.adoption import Adoption


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftLine:
    """A sentence, and the differences of two schemas that it is about."""

    text: str
    changes: tuple[SchemaChange, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftEntry:
    """One drift: a sign, the subject, what happened in a few words, and the details.

    Of several subjects that have drifted alike, `subject` is their number and `names` are theirs.
    """

    sign: str
    subject: str
    title: str
    lines: tuple[DriftLine, ...] = ()
    names: tuple[str, ...] = ()


def drift_entries(report: DriftReport) -> list[DriftEntry]:
    """All drift in words; subjects that have drifted alike are one entry.

    The policies of one subject are one entry, too, and so are the topics of a new client.
    """
    alike: dict[tuple[object, ...], list[DriftEntry]] = {}
    for entry in _subject_entries(report):
        is_namespace = entry.subject.count("/") == 1
        lines = tuple((_MOMENT.sub("\0", line.text), line.changes) for line in entry.lines)
        alike.setdefault((is_namespace, entry.sign, entry.title, lines), []).append(entry)
    entries: list[DriftEntry] = []
    for same in alike.values():
        entries += [_shared_entry(same)] if len(same) >= _ALIKE else same
    return [*entries, *_new_client_entries(report)]


def _shared_entry(entries: Sequence[DriftEntry]) -> DriftEntry:
    """One entry for subjects that have drifted alike, with the first and the last moment."""
    lines: list[DriftLine] = []
    for same in zip(*(entry.lines for entry in entries), strict=True):
        text, *rest = _MOMENT.split(same[0].text)
        by_subject = [_MOMENT.findall(line.text) for line in same]
        for moments, following in zip(zip(*by_subject, strict=True), rest, strict=True):
            first, last = min(moments), max(moments)
            text += f"{first if first == last else f'{first} to {last}'}{following}"
        lines.append(replace(same[0], text=text))
    names = tuple(entry.subject for entry in entries)
    word = "namespace" if names[0].count("/") == 1 else "topic"
    return replace(entries[0], subject=count(len(names), word), lines=tuple(lines), names=names)


def names_text(entry: DriftEntry) -> str:
    """The first subjects of an entry that has several, and how many are left."""
    return name_list(entry.names, _MOST_TOPICS)


def _subject_entries(report: DriftReport) -> list[DriftEntry]:
    entries: list[DriftEntry] = []
    for drift in report.drifts:
        entry, last = _drift_entry(drift, report.recording), entries[-1] if entries else None
        if isinstance(drift, PolicyDrift) and last and _names(last) == _names(entry):
            entries[-1] = replace(last, lines=(*last.lines, *entry.lines))
        else:
            entries.append(entry)
    return entries


def _new_client_entries(report: DriftReport) -> Iterator[DriftEntry]:
    topics: dict[str, list[str]] = {}
    for topic, clients in sorted((report.new_clients or {}).items()):
        for name in client_names(clients):
            topics.setdefault(name, []).append(str(topic))
    for name, names in sorted(topics.items()):
        line = DriftLine(text=name_list(names, _MOST_TOPICS))
        title = f"new client of {count(len(names), 'topic')}"
        yield DriftEntry(sign="+", subject=name, title=title, lines=(line,))


def _names(entry: DriftEntry) -> tuple[str, str]:
    return entry.subject, entry.title


def _drift_entry(drift: Drift, recording: Recording | None) -> DriftEntry:
    match drift:
        case VersionDrift():
            title = f"{count(len(drift.versions), 'version')} outside git"
            return _entry("!", drift, title, _version_lines(drift))
        case PolicyDrift() | PartitionDrift():
            return _change_entry(drift, recording)
        case SchemaDeletion():
            title = "schema deleted" if drift.topic_exists else "topic deleted"
            return _entry("-", drift, title, [DriftLine(text=_deletion_text(drift))])
        case VersionLoss():
            return _entry("-", drift, "versions lost", [DriftLine(text=_loss_text(drift))])
        case NamespaceDeletion():
            text = "the snapshot has it, and the registry has it no more"
            return _entry("-", drift, "namespace deleted", [DriftLine(text=text)])
        case UnmanagedTopic():
            return _entry("+", drift, "unmanaged topic", [DriftLine(text=_topic_text(drift))])
        case UnmanagedNamespace():
            text = "in the registry, not in git; earlier files had it"
            return _entry("+", drift, "unmanaged namespace", [DriftLine(text=text)])
        case _:
            assert_never(drift)


def _change_entry(drift: PolicyDrift | PartitionDrift, recording: Recording | None) -> DriftEntry:
    if isinstance(drift, PolicyDrift):
        return _entry("~", drift, "policy changed", _policy_lines(drift, recording))
    lines = [DriftLine(text=_partition_text(drift, recording))]
    return _entry("~", drift, "partitions changed", lines)


def _entry(sign: str, drift: Drift, title: str, lines: Sequence[DriftLine]) -> DriftEntry:
    return DriftEntry(sign=sign, subject=str(drift.subject), title=title, lines=tuple(lines))


def _version_lines(drift: VersionDrift) -> list[DriftLine]:
    lines = [
        DriftLine(text=_version_text(version), changes=version.changes)
        for version in drift.versions
    ]
    latest = drift.versions[-1].version
    lines.append(DriftLine(text=_answer_text(drift.definition, latest)))
    if drift.definition.consumers:
        why = drift.definition.consumers
        lines.append(DriftLine(text=f"consumers with git's definition are refused: {why}"))
    if drift.limit:
        lines.append(DriftLine(text=f"whether git contained it is unknown: {drift.limit}"))
    return lines


def _version_text(version: VersionOutsideGit) -> str:
    since = {True: ", in the snapshot too", False: ", not in the snapshot", None: ""}
    moment = moment_text(version.timestamp)
    return f"v{version.version} was registered {moment}{since[version.recorded]}"


def _answer_text(answer: DefinitionAnswer, latest: int) -> str:
    if answer.version is None:
        why = f": {'; '.join(answer.reasons)}" if answer.reasons else ""
        return f"git's definition is refused after v{latest}{why}"
    if answer.is_new:
        return f"git's definition is accepted after v{latest}, as v{answer.version}"
    return f"git's definition is v{answer.version}: accepted, and v{latest} stays the latest"


def _policy_lines(drift: PolicyDrift, recording: Recording | None) -> list[DriftLine]:
    live = f"{policy_text(drift.live)} in the registry"
    if drift.files is None:
        text = f"{drift.key}: {live}, not managed in git"
    else:
        change = PolicyChange(key=drift.key, before=drift.files, after=drift.live)
        text = f"{drift.key}: {policy_text(drift.files)} in git, {live} ({direction(change)})"
    lines = [DriftLine(text=f"{text}; {_recorded_text(drift, recording)}")]
    for finding in drift.lockouts:
        topics = [name for name in finding.subjects if name != str(drift.subject)]
        where = f"{name_list(topics, _MOST_TOPICS)}: " if topics else ""
        lines.append(DriftLine(text=f"{where}{finding.message}"))
    return lines


def _recorded_text(drift: PolicyDrift, recording: Recording | None) -> str:
    """Pulsar has no time of a policy (4.0.7), so the snapshot's is all that is known."""
    return _since_text(policy_text(drift.recorded) if drift.was_recorded else "", recording)


def _since_text(recorded: str, recording: Recording | None) -> str:
    if not recorded:
        return "in no snapshot, so since when is unknown"
    taken = recording.taken if recording else ""
    after = taken.replace("T", " ").replace("Z", " UTC") or "that"
    return f"{recorded} in the snapshot, so changed after {after}"


def _partition_text(drift: PartitionDrift, recording: Recording | None) -> str:
    since = _since_text("" if drift.recorded is None else str(drift.recorded), recording)
    return f"{counted(drift.files)} in git, {drift.live or 'none'} in the registry; {since}"


def _deletion_text(drift: SchemaDeletion) -> str:
    source = f"the journal {drift.journal}" if drift.journal else "the snapshot"
    if not drift.versions and drift.begins_anew:
        return f"the registry forgot its versions and their tombstone, which {source} has"
    deletion = ""
    if drift.next_version:
        number = drift.next_version - 1
        deletion = f"a deletion is v{number} in the registry: the next version is v{number + 1}"
    if not drift.versions:
        return deletion
    gone = "" if drift.topic_exists else "the topic is gone with its schema; "
    known = f"{gone}{source} has {_versions(drift.versions)}"
    return f"{known}; {deletion}" if deletion else known


def _loss_text(drift: VersionLoss) -> str:
    verb = "is" if len(drift.versions) == 1 else "are"
    named = _versions(drift.versions)
    source = f"the journal {drift.journal}" if drift.journal else "the snapshot"
    return f"{named} of {source} {verb} not in the registry any more, or another schema there"


def _topic_text(drift: UnmanagedTopic) -> str:
    parts = ["in the registry, not in git"]
    if drift.type is not None:
        since = moment_text(drift.since)
        parts.append(f"{drift.type.value}, {_versions(drift.versions)}, first registered {since}")
    parts += [f"{key}: {policy_text(value)}" for key, value in drift.policies.items()]
    return "; ".join(parts)


def _versions(versions: Sequence[int]) -> str:
    return name_list([f"v{version}" for version in versions], _MOST_VERSIONS)


# The whole report: its first line, what it was compared with, what is no drift, and what to do.


def verdict_text(report: DriftReport) -> str:
    """`✗ production: 2 topics and 1 namespace have drifted`."""
    unread = f"; {count(len(report.unread), 'topic')} cannot be read" if report.unread else ""
    if report.new_clients:
        number = len(report.new_clients)
        unread = (
            f"; {count(number, 'topic')} {'has' if number == 1 else 'have'} new clients{unread}"
        )
    if not report.drifts:
        if not report.namespaces and not report.topics:
            number = report.other_topics
            state = f"{count(number, 'topic')} {'is' if number == 1 else 'are'} not managed"
            return f"⚠ {report.registry}: {state if number else 'the files manage nothing'}"
        sign = "⚠" if report.unread else "✓"
        sign = "✗" if report.new_clients else sign
        return f"{sign} {report.registry}: no drift{unread}"
    subjects = {drift.subject for drift in report.drifts}
    topics = sum(isinstance(subject, TopicName) for subject in subjects)
    spaces = sum(isinstance(subject, NamespaceName) for subject in subjects)
    counted = [count(topics, "topic")] if topics else []
    counted += [count(spaces, "namespace")] if spaces else []
    verb = "has" if len(subjects) == 1 else "have"
    return f"✗ {report.registry}: {' and '.join(counted)} {verb} drifted{unread}"


def scope_text(report: DriftReport) -> str:
    """`production · http://… · 12 topics, 3 namespaces · snapshot of 2026-11-20 (4f1c9e2)`."""
    address = [] if report.address == report.registry else [report.address]
    size = f"{count(report.topics, 'topic')}, {count(report.namespaces, 'namespace')}"
    return " · ".join([report.registry, *address, size, _recording_text(report)])


def _recording_text(report: DriftReport) -> str:
    if report.recording is None:
        return "no snapshot"
    if not report.recording.commit:
        return "snapshot of an unknown day"
    return f"snapshot of {report.recording.day} ({report.recording.commit[:7]})"


def other_lines(report: DriftReport, options: Sequence[str] = ()) -> Iterator[str]:
    """What is no drift, and what is not known."""
    if report.pending:
        changes = count(report.pending, "topic or namespace", "topics and namespaces")
        verb = "has" if report.pending == 1 else "have"
        plan = command("plan", report, options)
        yield f"{changes} {verb} changes that are not applied, which is no drift: {plan}"
    if number := report.without_schema:
        verb = "has" if number == 1 else "have"
        yield f"{count(number, 'topic')} without a manifest {verb} no schema, which is no drift"
    if other_namespaces := report.other_namespaces:
        names = name_list(
            [str(other_namespace) for other_namespace in other_namespaces], _MOST_NAMESPACES
        )
        verb = "is" if len(other_namespaces) == 1 else "are"
        of_tenants = " of the same tenants" if report.namespaces else ""
        text = f"{count(len(other_namespaces), 'other namespace')}{of_tenants} {verb} not in git"
        yield f"{text}, which is no drift: {names}; `pulsar-gitops import NAMESPACE` adopts one"
    if losses := report.recorded_losses:
        names = name_list(
            [f"{topic} ({_versions(versions)})" for topic, versions in sorted(losses.items())],
            _MOST_VERSIONS,
        )
        verb = "has" if len(losses) == 1 else "have"
        yield (
            f"{count(len(losses), 'topic')} {verb} lost versions, which was accepted and is no "
            f"drift: {names}; messages that were stored with them decode wrongly or not at all, "
            f"and their schemas are in snapshots/{report.registry}, under acceptedLoss"
        )
    if report.unlisted:
        names = ", ".join(map(str, report.unlisted))
        yield f"unmanaged topics are unknown where none can be listed or read: {names}"
    yield from (f"not read: {topic}: {why}" for topic, why in sorted(report.unread.items()))
    yield from report.limits


def next_steps(report: DriftReport, options: Sequence[str] = ()) -> Iterator[str]:
    """Both ways out of drift, and what to do about new clients."""
    if report.new_clients:
        record = command("snapshot", report, options)
        yield (
            "new clients are in no manifest and no record, and statistics do not show which "
            "schemas they use: declare them in clients/ (`pulsar-gitops import --clients` proposes "
            f"manifests), or record that they are there: `{record} --clients`"
        )
    if not report.drifts:
        return
    begins_anew = any(
        isinstance(drift, SchemaDeletion) and drift.begins_anew for drift in report.drifts
    )
    if begins_anew:
        restore = command("restore", report, options)
        yield (
            f"if messages of deleted schemas are still stored: `{restore}`; until then, or until "
            f"`{accept_command(report.registry)}` records the loss, `apply` gives their numbers to "
            "no other schema"
        )
    adopt = f"{command('drift', report, options)} --adopt"
    yield f"if the registry is right: `{adopt}` writes it into the files"
    hidden = [
        drift
        for drift in report.drifts
        if isinstance(drift, SchemaDeletion) and drift.versions and not drift.begins_anew
    ]
    if hidden:
        topic = str(hidden[0].topic) if len(hidden) == 1 else "TOPIC"
        yield (
            "a deletion hides the versions before it; to have them back under their numbers, "
            f"before any `apply`: `{forget_command(topic, report.registry)}`, then "
            f"`{command('restore', report, options)}`"
        )
    first = f"`{command('restore', report, options)}`, " if begins_anew else ""
    yield f"if git is right: {first}`{command('plan', report, options)}`, then `apply`"
    if any(isinstance(drift, VersionDrift) for drift in report.drifts):
        yield "a version stays in the registry: `pulsar-gitops explain PLAN-R010`"
    if any(isinstance(drift, UnmanagedTopic) for drift in report.drifts):
        yield "unmanaged topics: `plan --prune` deletes their schemas"
    if any(
        isinstance(drift, UnmanagedTopic) and drift.topic.is_of_subscription
        for drift in report.drifts
    ):
        yield (
            "dead-letter and retry topics (…-DLQ, …-RETRY): declare them with the schema of the "
            "topic whose messages they get"
        )
    if any(isinstance(drift, VersionLoss) for drift in report.drifts):
        record = command("snapshot", report, options)
        restore = command("restore", report, options)
        yield (
            f"lost versions cannot be adopted: `{restore} --dry-run` shows whether they can be "
            f"made again, `{record} --accept-loss` records that they are lost"
        )


def adoption_lines(adoption: Adoption) -> Iterator[str]:
    """What was written, what was not and why, and what comes next."""
    yield from (f"wrote {path}" for path in sorted(adoption.files))
    yield from (f"removed {path}" for path in adoption.removed)
    yield from (f"kept {path}, which nothing uses any more" for path in adoption.unused)
    for topic, why in sorted(adoption.kept_as_base64.items()):
        yield f"wrote the PROTOBUF_NATIVE of {topic} as base64: {why}"
    for subject, error in sorted(adoption.refused.items(), key=lambda items: str(items[0])):
        where = f" ({error.where})" if error.where else ""
        yield f"not adopted: {subject}: {error.what}{where}; {error.hint}"
    if adoption.files or adoption.removed:
        yield "read the changes (git diff), and commit them"


def left_lines(report: DriftReport, adoption: Adoption, options: Sequence[str]) -> Iterator[str]:
    """What has drifted and was not asked for, and what cannot be read."""
    handled = {*adoption.adopted, *adoption.refused}
    left = len({drift.subject for drift in report.drifts} - handled)
    if left:
        verb = "has" if left == 1 else "have"
        subjects = count(left, "other topic or namespace", "other topics and namespaces")
        yield f"{subjects} {verb} drifted: {command('drift', report, options)}"
    yield from (f"not read: {topic}: {why}" for topic, why in sorted(report.unread.items()))
    if not report.drifts:
        yield "nothing to adopt: no drift"


def command(name: str, report: DriftReport, options: Sequence[str] = ()) -> str:
    """A command line about the same files and the same registry."""
    return shlex.join(["pulsar-gitops", name, *options, "--registry", report.registry])
