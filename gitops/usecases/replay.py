"""Samples of a working tree's topics, or of a change's, with old and new schemas."""

from __future__ import annotations

import datetime
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gitops.changes.change import LoadedChange
from gitops.changes.impact import impact_of
from gitops.changes.known_versions import KnownVersions, VersionsRequest
from gitops.changes.new_findings import new_findings
from gitops.changes.registries import desired_state, former_name, registry_config
from gitops.changes.sample_files import is_external, place_of
from gitops.changes.working_tree import WorkingTreeHistory
from gitops.checks.withheld_samples import known_samples, withheld_samples
from gitops.model.broker_settings import with_known
from gitops.model.check import History, HistoryChoice
from gitops.model.config import SafetyConfig
from gitops.model.errors import UnreadableFileError, UsageError
from gitops.model.findings import Finding, Severity
from gitops.model.names import TopicName
from gitops.model.policy import BrokerSettings
from gitops.model.replay import ReplayReport
from gitops.model.state import RegistryState, Repository, Scope
from gitops.planning.plan import PlanInput, strategy_of
from gitops.planning.severities import rate_findings
from gitops.ports import FileTree, Progress, no_progress
from gitops.replay.replay_findings import no_samples_finding
from gitops.replay.replay_report import ReplayHistory, ReplayRequest, replay
from gitops.replay.topic_replays import Subject
from gitops.repository.loader import load
from gitops.repository.suggestions import did_you_mean

# Which topics are replayed: those of the files as they lie, or those that a change touches.


_NO_DAY: Final = datetime.date.min
"""Waivers are not asked for: what is let in all the same meets the same messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplaySelection:
    """The topics that a user names (all without any), the registry and where versions are from."""

    topics: tuple[str, ...] = ()
    registry: str | None = None
    history: HistoryChoice = HistoryChoice.AUTO


def replay_files(
    lying: WorkingTreeHistory,
    choice: ReplaySelection,
    replaying: ReplayRequest,
    progress: Progress = no_progress,
) -> ReplayReport:
    """The samples of all topics, or of the named ones, with the files as they lie.

    Raises UsageError for a topic that has no manifest, OutsideError.
    """
    repository = lying.repository
    named = _named_topics(choice.topics, repository)
    wanted = _topics_with_samples(named or repository.topics, repository)
    known = lying.known(_scope(wanted), choice.history, progress)
    question = _question(lying, known.state, known.broker)
    past = ReplayHistory(
        registry=lying.name,
        source=known.source,
        limits=known.limits,
        rules=repository.config.rules,
        findings=(*_without(named, repository), *_broken(wanted, repository)),
    )
    return replay(replaying, subjects_of(question, repository, wanted), past, progress)


def replay_change(
    loaded: LoadedChange,
    choice: ReplaySelection,
    replaying: ReplayRequest,
    progress: Progress = no_progress,
) -> ReplayReport:
    """The same of the topics that a change touches."""
    head = loaded.head
    name, config = registry_config(head, choice.registry)
    # A name may be that of a topic which the change leaves as it is, whose files were not read.
    whole = load(loaded.change.head_tree, progress) if choice.topics else head
    named = _named_topics(choice.topics, whole)
    touched = impact_of(loaded).topics
    wanted = _topics_with_samples(set(touched) & set(named) if named else touched, head)
    known_as = former_name(name, loaded.base.config, head.config)
    with ExitStack() as stack:
        histories = KnownVersions(loaded, _scope(wanted), stack, progress)
        observed = histories.read(
            VersionsRequest(
                name=name,
                former_name=known_as,
                config=loaded.base.config.registries.get(known_as),
                head_config=config,
                choice=choice.history,
            )
        )
    lying = WorkingTreeHistory(
        root=loaded.change.checkout.root,
        tree=loaded.head_tree,
        repository=head,
        name=name,
        config=config,
    )
    past = ReplayHistory(
        registry=name,
        source=observed.history.source.value,
        limits=observed.history.limits,
        rules=loaded.limits.rules,
        findings=(
            *(one for one in new_findings(loaded) if one.severity is Severity.ERROR),
            *_without(named, whole),
            *_broken(wanted, head),
            *withheld_samples(wanted, head, loaded.base),
        ),
    )
    question = _question(lying, observed.state, with_known(config.broker, observed.registry.broker))
    subjects = subjects_of(question, head, wanted, loaded.base)
    return replay(replaying, subjects, past, progress)


def subjects_of(
    question: PlanInput,
    repository: Repository,
    topics: Iterable[TopicName],
    base: Repository | None = None,
) -> Iterator[Subject]:
    """What is known of each; `question` says what the registry holds and what the files want.

    One whose definition no registry would take is left out, and so are samples that a change
    against `base` may not name yet.
    """
    for topic in topics:
        desired = question.desired.topics.get(topic)
        latest = desired.history.latest if desired else None
        observed = question.observed.topics.get(topic)
        if observed is not None and not _errors(topic, repository):
            yield Subject(
                topic=topic,
                history=observed.history,
                proposed=latest.info if latest else None,
                samples=known_samples(topic, repository, base or repository),
                strategy=strategy_of(question, topic),
                clients=repository.clients,
                knows_pins=question.registry == repository.config.default_registry,
            )


def _named_topics(names: Sequence[str], repository: Repository) -> tuple[TopicName, ...]:
    found = dict.fromkeys(TopicName.parse(name) for name in names)
    for topic in found:
        if topic not in repository.topics:
            known = [str(each) for each in repository.topics]
            raise UsageError(
                f"no manifest is about the topic '{topic}'",
                hint=did_you_mean(str(topic), known) or "topics are named tenant/namespace/topic",
            )
    return tuple(found)


def _topics_with_samples(
    topics: Iterable[TopicName], repository: Repository
) -> tuple[TopicName, ...]:
    known = repository.topics
    return tuple(sorted(topic for topic in topics if topic in known and known[topic].samples))


def _without(topics: Iterable[TopicName], repository: Repository) -> tuple[Finding, ...]:
    sources = ((topic, repository.topics[topic]) for topic in topics)
    return tuple(no_samples_finding(t, s.manifest) for t, s in sources if not s.samples)


def _broken(topics: Iterable[TopicName], repository: Repository) -> tuple[Finding, ...]:
    return tuple(one for topic in topics for one in _errors(topic, repository))


def _errors(topic: TopicName, repository: Repository) -> tuple[Finding, ...]:
    """Why a definition is none."""
    found = rate_findings(repository.topics[topic].findings, repository.config.rules)
    return tuple(one for one in found if one.severity is Severity.ERROR)


def _scope(topics: Sequence[TopicName]) -> Scope:
    spaces = frozenset(topic.namespace for topic in topics)
    return Scope(namespaces=spaces, topics=frozenset(topics))


def _question(
    lying: WorkingTreeHistory, observed: RegistryState, broker: BrokerSettings
) -> PlanInput:
    """What the strategies follow from."""
    return PlanInput(
        registry=lying.name,
        address="",
        files=lying.repository.digest,
        desired=desired_state(lying.repository, lying.config),
        observed=observed,
        broker=broker,
        safety=SafetyConfig(),
        locate=lambda _topic, _pointer: None,
        today=_NO_DAY,
    )


# The replay of a checked change, and where its samples lie.


_WILD: Final = "*?[{"


def replay_affected(
    replaying: ReplayRequest,
    loaded: LoadedChange,
    question: PlanInput,
    history: History,
    progress: Progress,
) -> ReplayReport:
    """What becomes of the samples of the topics that `question` is about.

    Raises OutsideError where the runner fails.
    """
    topics = [topic for topic in sorted(question.desired.topics) if topic in loaded.head.topics]
    past = ReplayHistory(
        registry=question.registry,
        source=history.source.value,
        limits=(),  # which the check tells
        rules=loaded.limits.rules,
        findings=withheld_samples(topics, loaded.head, loaded.base),
    )
    subjects = subjects_of(question, loaded.head, topics, loaded.base)
    return replay(replaying, subjects, past, progress)


@contextmanager
def samples_root(loaded: LoadedChange) -> Iterator[Path]:
    """The folder from which the files of manifests count.

    Of a change that is a commit, its samples are written to a temporary folder: the clone may
    have another one checked out.
    """
    if not loaded.change.head:
        yield loaded.change.checkout.root
        return
    with tempfile.TemporaryDirectory(prefix="pulsar-gitops-") as folder:
        _write_samples(loaded, Path(folder))
        yield Path(folder)


def sample_files(tree: FileTree, repository: Repository) -> Iterator[str]:
    """The files of a tree that manifests may mean as samples."""
    wanted: set[str] = set()
    for source in repository.topics.values():
        for sample in source.samples:
            if not is_external(sample):
                wanted.add(_fixed_part(place_of(source, sample)))
    for path in tree.paths() if wanted else ():
        if any(path == each or path.startswith(f"{each}/") for each in wanted):
            yield path


def _write_samples(loaded: LoadedChange, folder: Path) -> None:
    tree = loaded.change.head_tree
    for path in sample_files(tree, loaded.head):
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            place.write_bytes(tree.read(path))
        except UnreadableFileError:
            continue  # a sample that is not there is found by whoever reads it


def _fixed_part(pattern: str) -> str:
    """The file of a pattern, or the last folder before its first wildcard."""
    parts = pattern.split("/")
    wild = next((i for i, part in enumerate(parts) if any(c in part for c in _WILD)), len(parts))
    return "/".join(parts[:wild])
