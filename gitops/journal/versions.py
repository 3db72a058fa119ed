"""Which versions a registry has had, by the journals of the applies and restores on it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from gitops.journal.reader import read_journal, version_number
from gitops.journal.writer import is_journal
from gitops.model.errors import GitopsError, UsageError
from gitops.model.journal import Attempt, JournalRun, Outcome
from gitops.model.names import NamespaceName, TopicName
from gitops.model.plan import Hold
from gitops.model.policy import PolicyValue, SchemaCompatibilityStrategy
from gitops.model.restore import HeldPolicy, UnfinishedRestore
from gitops.model.schema import SchemaEntry, SchemaHistory, SchemaInfo, SchemaType
from gitops.repository.folder import require_inside

FOLDER: Final = ".gitops"
DELETIONS: Final = ".deletions.journal"
"""How the name ends of a journal that `schemas delete --force` writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JournaledVersions:
    """The versions that journals have of a registry, by topic; `files` are the journals.

    `forgotten` are topics that `schemas delete --force` removed. `unreadable` are journals that are
    broken, with what is wrong. `elsewhere` are versions that a registry of the same name had at
    other addresses, with the journal and the address. `unfinished` is what restores left.
    """

    histories: Mapping[TopicName, SchemaHistory] = field(default_factory=dict)
    files: Mapping[TopicName, str] = field(default_factory=dict)
    forgotten: frozenset[TopicName] = frozenset()
    unreadable: Mapping[str, str] = field(default_factory=dict)
    elsewhere: Mapping[TopicName, VersionsElsewhere] = field(default_factory=dict)
    unfinished: UnfinishedRestore = field(default_factory=UnfinishedRestore)


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionsElsewhere:
    """What a journal has of a topic in a registry of the same name at another address."""

    history: SchemaHistory
    file: str
    address: str


def read_versions(
    root: Path,
    registry: str,
    address: str = "",
    accepted: Mapping[TopicName, str] = MappingProxyType({}),
) -> JournaledVersions:
    """From the journals in `.gitops`, and from those of plan files at the root.

    What was registered at another address does not count: a rehearsal may have had the same name.
    Without `address` all of it counts. A journal elsewhere may be of another repository, whose
    registry has the same name. `accepted` is when the loss of a topic's versions was accepted, by
    the name of its keeper: what runs before that registered is not expected.
    """
    runs: list[tuple[JournalRun, str]] = []
    unreadable: dict[str, str] = {}
    for path in _journals(root):
        name = str(path.relative_to(root))
        try:
            runs += ((run, name) for run in read_journal(path) if run.registry == registry)
        except UsageError as error:
            unreadable[name] = error.what
    histories: dict[TopicName, SchemaHistory] = {}
    files: dict[TopicName, str] = {}
    elsewhere: dict[TopicName, VersionsElsewhere] = {}
    held: dict[tuple[str, str], HeldPolicy] = {}
    created: set[NamespaceName] = set()
    for run, name in sorted(runs, key=lambda item: item[0].began):
        is_elsewhere = bool(address) and run.address != address
        known: Mapping[TopicName, SchemaHistory] = histories
        if is_elsewhere:
            same = (item for item in elsewhere.items() if item[1].address == run.address)
            known = {topic: versions.history for topic, versions in same}
        try:
            changed = _histories_after(run, known, accepted)
            if not is_elsewhere:
                held = _held_after(run, held, name)
                created = _created_after(run, created)
        except (KeyError, TypeError, ValueError, AttributeError, GitopsError):
            unreadable[name] = "an action in it is none of an apply"
            continue
        if is_elsewhere:
            elsewhere |= {
                topic: VersionsElsewhere(history=history, file=name, address=run.address)
                for topic, history in changed.items()
            }
            continue
        histories |= changed
        files |= dict.fromkeys(changed, name)
    forgotten = frozenset(topic for topic, file in files.items() if file.endswith(DELETIONS))
    return JournaledVersions(
        histories=histories,
        files=files,
        forgotten=forgotten,
        unreadable=unreadable,
        elsewhere=elsewhere,
        unfinished=UnfinishedRestore(
            held=tuple(policy for _, policy in sorted(held.items())),
            created=frozenset(created),
        ),
    )


def _journals(root: Path) -> Iterator[Path]:
    """Other files that have such a name are left out, and what a link leads to elsewhere."""
    for path in chain(sorted((root / FOLDER).glob("*.journal")), sorted(root.glob("*.journal"))):
        with suppress(UsageError, OSError):
            require_inside(root, path)
            if is_journal(path):
                yield path


def _histories_after(
    run: JournalRun, known: Mapping[TopicName, SchemaHistory], accepted: Mapping[TopicName, str]
) -> dict[TopicName, SchemaHistory]:
    """The histories of the topics whose schemas the run changed, by the name of their keeper."""
    changed: dict[TopicName, SchemaHistory] = {}
    for attempt in run.attempts:
        is_answered = attempt.version is not None or attempt.forgotten is not None
        if not is_answered or attempt.action["action"] not in _ABOUT_SCHEMAS:
            continue
        topic = TopicName.parse(attempt.action["topic"]).keeper
        str(topic).encode()  # as below
        if run.began < accepted.get(topic, ""):
            continue
        before = changed.get(topic, known.get(topic, SchemaHistory()))
        if attempt.forgotten is not None:
            if (longer := add_journaled(before, _history(attempt.forgotten))) != before:
                changed[topic] = longer
            continue
        begins_anew = run.command == "apply" and _is_first(attempt)
        changed[topic] = _after(attempt, SchemaHistory() if begins_anew else before)
    return changed


def _held_after(
    run: JournalRun, held: Mapping[tuple[str, str], HeldPolicy], journal: str
) -> dict[tuple[str, str], HeldPolicy]:
    """The held policies by subject and key; each that was tried counts until another is set."""
    after = dict(held)
    for attempt in run.attempts:
        action = attempt.action
        if action["action"] != "SetPolicy" or attempt.outcome is Outcome.FAILED:
            continue
        place = action["subject"], action["key"]
        if action.get("hold") == Hold.BEGIN.value:
            policy = HeldPolicy(
                subject=_subject(action["subject"]),
                key=action["key"],
                value=_policy_value(action["after"]),
                before=_policy_value(action["before"]),
                journal=journal,
            )
            after.setdefault(place, policy)
        elif attempt.outcome is Outcome.DONE:
            after.pop(place, None)
    return after


def _created_after(run: JournalRun, created: Iterable[NamespaceName]) -> set[NamespaceName]:
    """The namespaces that a restore created, until a restore of them comes to its end."""
    if run.command != "restore":
        return set(created)
    if run.is_whole:
        return {name for name in created if str(name) not in run.namespaces}
    actions = (attempt.action for attempt in run.attempts if attempt.outcome is not Outcome.FAILED)
    own = (action for action in actions if action["action"] == "CreateNamespace")
    return {*created, *(NamespaceName.parse(action["namespace"]) for action in own)}


def _subject(name: str) -> NamespaceName | TopicName:
    """Raises ValueError or UsageError for what no plan contains."""
    kind, _, rest = name.partition(" ")
    return NamespaceName.parse(rest) if kind == "namespace" else TopicName.parse(rest)


def _policy_value(value: object) -> PolicyValue:
    """Of a policy that a restore holds; raises ValueError for what no plan contains."""
    if value is None or isinstance(value, bool):
        return value
    return SchemaCompatibilityStrategy(value)


def _is_first(attempt: Attempt) -> bool:
    """Whether the registry had no version before: an apply that was allowed to give it a number."""
    action = attempt.action
    is_registration = action["action"] == "RegisterSchema" and attempt.outcome is Outcome.DONE
    return is_registration and action["latestVersion"] is None


def _after(attempt: Attempt, history: SchemaHistory) -> SchemaHistory:
    """The registry's answer counts also where it could not be read back, but not its content."""
    number = attempt.version or 0
    following = max(history.next_version, number + 1)
    if attempt.action["action"] == "DeleteSchema":
        return SchemaHistory(next_version=following)
    entries = {entry.version: entry for entry in history.entries}
    if attempt.outcome is Outcome.DONE:
        entries[number] = SchemaEntry(version=number, info=_schema(attempt.action["schema"]))
    return SchemaHistory(
        entries=tuple(entries[version] for version in sorted(entries)), next_version=following
    )


def _history(document: Mapping[str, Any]) -> SchemaHistory:
    """What a forced deletion removed; raises as `_schema`."""
    entries = tuple(
        SchemaEntry(version=version_number(entry["version"]) or 0, info=_schema(entry["schema"]))
        for entry in document["versions"]
    )
    return SchemaHistory(entries=entries, next_version=version_number(document["nextVersion"]) or 0)


def _schema(document: Mapping[str, Any]) -> SchemaInfo:
    """Raises TypeError or ValueError for what no plan contains."""
    text, properties = document["schema"], document["properties"]
    for value in (text, *properties.keys(), *properties.values()):
        value.encode()  # half a surrogate pair can be stored nowhere
    return SchemaInfo(type=SchemaType(document["type"]), schema=text, properties=properties)


_ABOUT_SCHEMAS: Final = ("RegisterSchema", "DeleteSchema")


def forgotten_history(recorded: SchemaHistory, live: SchemaHistory) -> SchemaHistory | None:
    """What a forced deletion of `live` removes and is not recorded, None if there is nothing.

    Versions after a deletion that hides recorded ones are left out: a registry cannot have both
    again.
    """
    if not live.entries:
        is_known = recorded.next_version or not live.next_version
        return None if is_known else SchemaHistory(next_version=live.next_version)
    if recorded.next_version and live.entries[0].version > recorded.next_version:
        return None
    return live if add_journaled(recorded, live) != recorded else None


def add_journaled(recorded: SchemaHistory, journaled: SchemaHistory) -> SchemaHistory:
    """The recorded history with the versions that only journals have.

    The snapshot decides about its own numbers.
    """
    added = tuple(entry for entry in journaled.entries if entry.version >= recorded.next_version)
    return replace(
        recorded,
        entries=(*recorded.entries, *added),
        next_version=max(recorded.next_version, journaled.next_version),
    )
