"""Samples of a working tree's topics, or of a change's, with old and new schemas."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Final

from gitops.changes.change import LoadedChange
from gitops.changes.impact import impact_of
from gitops.changes.known_versions import KnownVersions, VersionsRequest
from gitops.changes.new_findings import new_findings
from gitops.changes.registries import desired_state, former_name, registry_config
from gitops.changes.working_tree import FILES, WorkingTreeHistory
from gitops.model.broker_settings import with_known
from gitops.model.check import HistoryChoice
from gitops.model.config import SafetyConfig
from gitops.model.errors import UsageError
from gitops.model.findings import Finding, Severity
from gitops.model.names import TopicName
from gitops.model.policy import BrokerSettings
from gitops.model.replay import ReplayReport
from gitops.model.schema import SchemaHistory
from gitops.model.state import RegistryState, Repository, Scope
from gitops.planning.plan import PlanInput
from gitops.ports import Progress, no_progress
from gitops.replay.captures import Captures, with_captured_samples
from gitops.replay.replay_findings import missing_sample_findings
from gitops.replay.replay_report import ReplayHistory, ReplayRequest, replay
from gitops.replay.topic_replays import Subject, definition_errors, subjects_of
from gitops.replay.withheld_samples import withheld_samples
from gitops.repository.loader import load
from gitops.repository.suggestions import did_you_mean

_NO_DAY: Final = datetime.date.min
"""Waivers are not asked for: what is let in all the same meets the same messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplaySelection:
    """The topics that a user names (all without any), the registry and where versions are from.

    `captures` take the place of the samples that manifests name.
    """

    topics: tuple[str, ...] = ()
    registry: str | None = None
    history: HistoryChoice = HistoryChoice.AUTO
    captures: Captures | None = None

    def sampled(self, repository: Repository) -> Repository:
        """The repository with the samples that are replayed."""
        if self.captures is None:
            return repository
        return with_captured_samples(repository, self.captures)

    def limits(self, repository: Repository) -> tuple[str, ...]:
        """What is captured and not replayed; raises UsageError where that is all."""
        unknown = [str(topic) for topic in self.captures or () if topic not in repository.topics]
        if self.captures and len(unknown) == len(self.captures):
            raise UsageError(
                f"no manifest declares a topic of the capture: {', '.join(unknown)}",
                hint="--repo names the repository with their manifests",
            )
        return tuple(f"{topic} is captured, and no manifest declares it." for topic in unknown)

    def with_versions(self, subjects: Iterable[Subject], source: str) -> Iterable[Subject]:
        """The subjects with the schemas that captures have.

        Where the versions are only assumed (`source` is `files`), those of a capture are the live
        ones.
        """
        for subject in subjects:
            captured = (self.captures or {}).get(subject.topic)
            assumed = source == FILES
            if captured and assumed and captured.schemas:
                yield replace(subject, captured=captured.schemas, history=SchemaHistory())
            else:
                yield replace(subject, captured=captured.schemas) if captured else subject


def replay_files(
    working_tree: WorkingTreeHistory,
    choice: ReplaySelection,
    request: ReplayRequest,
    progress: Progress = no_progress,
) -> ReplayReport:
    """The samples of all topics, or of the named ones, with the files as they lie.

    Raises UsageError for a topic that has no manifest, OutsideError.
    """
    repository = choice.sampled(working_tree.repository)
    named = _named_topics(choice.topics, repository)
    wanted = _topics_with_samples(named or repository.topics, repository)
    known = working_tree.known(_scope(wanted), choice.history, progress)
    plan_input = _plan_input(working_tree, known.state, known.broker)
    history = ReplayHistory(
        registry=working_tree.name,
        source=known.source,
        limits=(*known.limits, *choice.limits(repository)),
        rules=repository.config.rules,
        findings=(*missing_sample_findings(named, repository), *_broken(wanted, repository)),
    )
    subjects = choice.with_versions(subjects_of(plan_input, repository, wanted), history.source)
    return replay(request, subjects, history, progress)


def replay_change(
    loaded: LoadedChange,
    choice: ReplaySelection,
    request: ReplayRequest,
    progress: Progress = no_progress,
) -> ReplayReport:
    """The same of the topics that a change touches."""
    head, base = choice.sampled(loaded.head), choice.sampled(loaded.base)
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
    working_tree = WorkingTreeHistory(
        root=loaded.change.checkout.root,
        tree=loaded.head_tree,
        repository=head,
        name=name,
        config=config,
    )
    history = ReplayHistory(
        registry=name,
        source=observed.history.source.value,
        limits=observed.history.limits,
        rules=loaded.limits.rules,
        findings=(
            *(
                new_finding
                for new_finding in new_findings(loaded)
                if new_finding.severity is Severity.ERROR
            ),
            *missing_sample_findings(named, choice.sampled(whole)),
            *_broken(wanted, head),
            *withheld_samples(wanted, head, base),
        ),
    )
    plan_input = _plan_input(
        working_tree, observed.state, with_known(config.broker, observed.registry.broker)
    )
    subjects = choice.with_versions(subjects_of(plan_input, head, wanted, base), history.source)
    return replay(request, subjects, history, progress)


def _named_topics(names: Sequence[str], repository: Repository) -> tuple[TopicName, ...]:
    topics = dict.fromkeys(TopicName.parse(name) for name in names)
    for topic in topics:
        if topic not in repository.topics:
            known = [str(item) for item in repository.topics]
            raise UsageError(
                f"no manifest declares the topic '{topic}'",
                hint=did_you_mean(str(topic), known) or "topics are named tenant/namespace/topic",
            )
    return tuple(topics)


def _topics_with_samples(
    topics: Iterable[TopicName], repository: Repository
) -> tuple[TopicName, ...]:
    known = repository.topics
    return tuple(sorted(topic for topic in topics if topic in known and known[topic].samples))


def _broken(topics: Iterable[TopicName], repository: Repository) -> tuple[Finding, ...]:
    return tuple(
        definition_error
        for topic in topics
        for definition_error in definition_errors(topic, repository)
    )


def _scope(topics: Sequence[TopicName]) -> Scope:
    spaces = frozenset(topic.namespace for topic in topics)
    return Scope(namespaces=spaces, topics=frozenset(topics))


def _plan_input(
    working_tree: WorkingTreeHistory, observed: RegistryState, broker: BrokerSettings
) -> PlanInput:
    """What the strategies follow from."""
    return PlanInput(
        registry=working_tree.name,
        address="",
        files=working_tree.repository.digest,
        desired=desired_state(working_tree.repository, working_tree.config),
        observed=observed,
        broker=broker,
        safety=SafetyConfig(),
        locate=lambda _topic, _pointer: None,
        today=_NO_DAY,
    )
