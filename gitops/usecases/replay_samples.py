"""Which topics are replayed: those of the files as they lie, or those that a change touches."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final

from gitops.model.config import SafetyConfig
from gitops.model.errors import UsageError
from gitops.model.findings import Finding, Severity
from gitops.model.names import TopicName
from gitops.model.replay import ReplayReport
from gitops.model.repository import Repository
from gitops.model.state import RegistryState, Scope
from gitops.planning.make import Question, strategy_of
from gitops.planning.registries import former_name
from gitops.ports import Progress, no_progress
from gitops.repository.loader import load
from gitops.repository.suggestions import did_you_mean
from gitops.usecases.change import LoadedChange
from gitops.usecases.desired import desired_of, registry_config
from gitops.usecases.histories import Histories, Wanted
from gitops.usecases.history_choice import HistoryChoice
from gitops.usecases.own_findings import own_findings
from gitops.usecases.replay import Past, Replaying, replay
from gitops.usecases.replay_findings import without_samples
from gitops.usecases.replay_histories import Lying
from gitops.usecases.replay_subjects import Subject
from gitops.usecases.replay_trust import held_back, known_samples
from gitops.usecases.severities import graded
from gitops.usecases.touching import touched_by

_NO_DAY: Final = datetime.date.min
"""Waivers are not asked for: what is let in all the same meets the same messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The topics that a user names (all without any), the registry and where versions are from."""

    topics: tuple[str, ...] = ()
    registry: str | None = None
    history: HistoryChoice = HistoryChoice.AUTO


def replay_files(
    lying: Lying, choice: Choice, replaying: Replaying, progress: Progress = no_progress
) -> ReplayReport:
    """The samples of all topics, or of the named ones, with the files as they lie.

    Raises UsageError for a topic that has no manifest, OutsideError.
    """
    repository = lying.repository
    named = _named(choice.topics, repository)
    wanted = _with_samples(named or repository.topics, repository)
    known = lying.known(_scope(wanted), choice.history, progress)
    question = _question(lying, known.state)
    past = Past(
        registry=lying.name,
        source=known.source,
        limits=known.limits,
        rules=repository.config.rules,
        findings=(*_without(named, repository), *_broken(wanted, repository)),
    )
    return replay(replaying, subjects_of(question, repository, wanted), past, progress)


def replay_change(
    loaded: LoadedChange, choice: Choice, replaying: Replaying, progress: Progress = no_progress
) -> ReplayReport:
    """The same of the topics that a change touches."""
    head = loaded.head
    name, config = registry_config(head, choice.registry)
    # A name may be that of a topic which the change leaves as it is, whose files were not read.
    whole = load(loaded.change.head_tree, progress) if choice.topics else head
    named = _named(choice.topics, whole)
    touched = touched_by(loaded).topics
    wanted = _with_samples(set(touched) & set(named) if named else touched, head)
    known_as = former_name(name, loaded.base.config, head.config)
    with ExitStack() as stack:
        histories = Histories(loaded, _scope(wanted), stack, progress)
        observed = histories.read(
            Wanted(
                name=name,
                former_name=known_as,
                config=loaded.base.config.registries.get(known_as),
                head_config=config,
                choice=choice.history,
            )
        )
    lying = Lying(
        root=loaded.change.checkout.root,
        tree=loaded.head_tree,
        repository=head,
        name=name,
        config=config,
    )
    past = Past(
        registry=name,
        source=observed.history.source.value,
        limits=observed.history.limits,
        rules=loaded.limits.rules,
        findings=(
            *(one for one in own_findings(loaded) if one.severity is Severity.ERROR),
            *_without(named, whole),
            *_broken(wanted, head),
            *held_back(wanted, head, loaded.base),
        ),
    )
    question = _question(lying, observed.state)
    subjects = subjects_of(question, head, wanted, loaded.base)
    return replay(replaying, subjects, past, progress)


def subjects_of(
    question: Question,
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


def _named(names: Sequence[str], repository: Repository) -> tuple[TopicName, ...]:
    found = dict.fromkeys(TopicName.parse(name) for name in names)
    for topic in found:
        if topic not in repository.topics:
            known = [str(each) for each in repository.topics]
            raise UsageError(
                f"no manifest is about the topic '{topic}'",
                hint=did_you_mean(str(topic), known) or "topics are named tenant/namespace/topic",
            )
    return tuple(found)


def _with_samples(topics: Iterable[TopicName], repository: Repository) -> tuple[TopicName, ...]:
    known = repository.topics
    return tuple(sorted(topic for topic in topics if topic in known and known[topic].samples))


def _without(topics: Iterable[TopicName], repository: Repository) -> tuple[Finding, ...]:
    sources = ((topic, repository.topics[topic]) for topic in topics)
    return tuple(without_samples(t, s.manifest) for t, s in sources if not s.samples)


def _broken(topics: Iterable[TopicName], repository: Repository) -> tuple[Finding, ...]:
    return tuple(one for topic in topics for one in _errors(topic, repository))


def _errors(topic: TopicName, repository: Repository) -> tuple[Finding, ...]:
    """Why a definition is none."""
    found = graded(repository.topics[topic].findings, repository.config.rules)
    return tuple(one for one in found if one.severity is Severity.ERROR)


def _scope(topics: Sequence[TopicName]) -> Scope:
    spaces = frozenset(topic.namespace for topic in topics)
    return Scope(namespaces=spaces, topics=frozenset(topics))


def _question(lying: Lying, observed: RegistryState) -> Question:
    """What the strategies follow from."""
    return Question(
        registry=lying.name,
        address="",
        files=lying.repository.digest,
        desired=desired_of(lying.repository, lying.config),
        observed=observed,
        defaults=lying.config.broker_defaults,
        safety=SafetyConfig(),
        locate=lambda _topic, _pointer: None,
        today=_NO_DAY,
    )
