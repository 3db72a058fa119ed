"""The plan for the topics that use a file, as it would be after an edit of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from gitops.broker.lines.line import BrokerLine
from gitops.broker.lines.table import line_of
from gitops.broker.registration import register
from gitops.model.findings import Finding, Location
from gitops.model.names import TopicName
from gitops.model.plan import Plan, RefusedSchema, RegisterSchema
from gitops.model.rules import make_finding
from gitops.model.schema import SchemaInfo
from gitops.model.state import RegistryState, Repository
from gitops.planning.plan import LocateIn, PlanInput, make_plan, strategy_of
from gitops.planning.severities import rate_findings
from gitops.ports import FileTree, no_progress
from gitops.repository.definitions.locations import Locator
from gitops.repository.definitions.schema_builder import SchemaBuilder
from gitops.repository.definitions.shared_types import SharedTypes
from gitops.repository.file_trees import CachedTree, OverlaidTree
from gitops.repository.loader import definition_lines
from gitops.repository.loading.topics import LoadedTopics, load_topics
from gitops.repository.tracked_files import TrackedFiles
from gitops.schemas.payload import PayloadError, stored_history

_MANIFEST: Final = 4_000
"""As many characters as reading one manifest counts for."""

Edited = Mapping[str, bytes]
"""Path → new content."""


@dataclass(frozen=True, kw_only=True)
class TrialPlans:
    """Plans of `plan_input` with some files edited, each for the topics that use one file.

    `release` is that of another broker than the registries' own.
    """

    tree: CachedTree
    repository: Repository
    plan_input: PlanInput
    release: str | None = None

    def plan(self, file: str, edited: Edited) -> Plan:
        """The plan with its places."""
        loaded = self._loaded(file, edited)
        locator = Locator(OverlaidTree(self.tree, edited), loaded.sources)
        return make_plan(self._plan_input(file, loaded, locator.locate))

    def findings(self, file: str, edited: Edited) -> Iterator[Finding]:
        """All that is found in the files and by the plan, without places."""
        loaded = self._loaded(file, edited)
        yield from rate_findings(loaded.findings, self.plan_input.rules)
        plan_input = self._plan_input(file, loaded, _nowhere)
        plan = make_plan(plan_input)
        yield from plan.findings
        yield from _unregistrable(plan_input, plan)

    def size(self, file: str) -> int:
        """About how many characters of definitions such a plan compares, or could meanwhile."""
        states = self.plan_input.desired, self.plan_input.observed
        histories = (state.topics[topic].history for topic in self._users(file) for state in states)
        compared = sum(len(entry.info.schema) for history in histories for entry in history.entries)
        return compared + _MANIFEST * len(self._users(file))

    @cached_property
    def shared(self) -> SharedTypes:
        """The shared types of the files as they are."""
        return SharedTypes(TrackedFiles(self.tree))

    def _plan_input(self, file: str, loaded: LoadedTopics, locate: LocateIn) -> PlanInput:
        plan_input = self.plan_input
        desired, observed = plan_input.desired, plan_input.observed
        users = self._users(file) & loaded.states.keys()
        spaces = {topic.namespace for topic in users}
        return replace(
            plan_input,
            desired=RegistryState(
                namespaces={
                    name: state for name, state in desired.namespaces.items() if name in spaces
                },
                topics={
                    topic: replace(desired.topics[topic], history=loaded.states[topic].history)
                    for topic in users
                },
            ),
            observed=replace(observed, topics={topic: observed.topics[topic] for topic in users}),
            # Its share is of all topics, which are not here.
            safety=replace(plan_input.safety, max_changed_share=1.0),
            locate=locate,
            content={
                topic: rate_findings(source.findings, plan_input.rules)
                for topic, source in loaded.sources.items()
                if source.findings
            },
            prune=False,
        )

    def _loaded(self, file: str, edited: Edited) -> LoadedTopics:
        """The topics that use a file, as they are with these files edited."""
        sources = TrackedFiles(OverlaidTree(self.tree, edited))
        lines, assumed = self._lines
        shared = SharedTypes(sources, self.shared, edited)
        topics = self.repository.topics
        manifests = sorted({topics[topic].manifest.file for topic in self._users(file)})
        with closing(SchemaBuilder(sources, lines, assumed, shared)) as builder:
            return load_topics(manifests, sources, builder, no_progress)

    def _users(self, file: str) -> frozenset[TopicName]:
        return self._users_by_file.get(file, frozenset())

    @cached_property
    def _users_by_file(self) -> dict[str, frozenset[TopicName]]:
        grouped: dict[str, set[TopicName]] = {}
        for topic, source in self.repository.topics.items():
            files = (source.manifest.file, *source.definitions)
            for file in files if topic in self.plan_input.desired.topics else ():
                grouped.setdefault(file, set()).add(topic)
        return {file: frozenset(topics) for file, topics in grouped.items()}

    @cached_property
    def _lines(self) -> tuple[Mapping[str, BrokerLine], frozenset[str]]:
        return definition_lines(self.tree, self.repository.config, self.release)


def trial_plans(
    tree: FileTree, repository: Repository, plan_input: PlanInput, release: str | None
) -> TrialPlans:
    """Of the files in `tree`, each of which is read once."""
    return TrialPlans(
        tree=CachedTree(tree), repository=repository, plan_input=plan_input, release=release
    )


def _unregistrable(plan_input: PlanInput, plan: Plan) -> Iterator[Finding]:
    """What the broker refuses although nothing is to be registered: the topic has it already."""
    asked = RegisterSchema | RefusedSchema
    planned = {item.topic for item in (*plan.actions, *plan.notices) if isinstance(item, asked)}
    for topic, desired in plan_input.desired.topics.items():
        if topic not in planned and desired.history.latest:
            reason = _refusal(plan_input, topic, desired.history.latest.info)
            if reason:
                yield make_finding("PLAN-R001", reason, subject=str(topic))


def _refusal(plan_input: PlanInput, topic: TopicName, info: SchemaInfo) -> str:
    """Why the broker does not accept a schema, empty where it does."""
    try:
        history = stored_history(plan_input.observed.topics[topic].history)
    except PayloadError as error:
        return str(error)
    strategy = strategy_of(plan_input, topic)
    decision = register(history, info, strategy, line_of(plan_input.broker))
    return "" if decision.accepted else decision.reason


def _nowhere(_topic: TopicName, _pointer: str) -> Location | None:
    return None
