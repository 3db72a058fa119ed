"""What a change would do: to each registry, and to the repository as a whole."""

from __future__ import annotations

import datetime
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final

from gitops.changes.change import LoadedChange
from gitops.changes.edited_rollout import edited_rollout
from gitops.changes.impact import impact_of, topics_of_clients
from gitops.changes.known_names import KnownNames
from gitops.changes.known_versions import KnownRegistry, KnownVersions, VersionsRequest
from gitops.changes.locations import BaseLocations, policy_locator
from gitops.changes.new_findings import (
    broken_topics,
    earlier_errors,
    is_config_broken,
    new_findings,
)
from gitops.changes.placement import placed_report
from gitops.changes.registries import desired_state, former_config, former_name, registry_config
from gitops.changes.repository_plan import (
    PlanRequest,
    UnplannableError,
    find_losses,
    find_neighbours,
    plan_repository,
)
from gitops.changes.sample_files import write_samples
from gitops.checks.changed_registries import registry_guards
from gitops.checks.changed_topics import changed_topics, topic_guards
from gitops.checks.loosened_policies import former_strategies, policy_guards, refused_before
from gitops.checks.move_consequences import fold_consequences
from gitops.checks.weakened_limits import limit_guards
from gitops.checks.weakened_samples import gate_guards, sample_guards
from gitops.journal.versions import read_versions
from gitops.model.broker_settings import (
    announced_release,
    as_if_broker,
    former_settings,
    is_seen,
    with_known,
)
from gitops.model.check import (
    CheckReport,
    History,
    HistoryChoice,
    HistorySource,
    Impact,
    RegistryCheck,
)
from gitops.model.clients import Client, ObservedClients
from gitops.model.config import RegistryConfig
from gitops.model.errors import GitopsError
from gitops.model.findings import Finding, Severity
from gitops.model.names import TopicName
from gitops.model.plan import Plan, RegisterSchema
from gitops.model.policy import BrokerSettings
from gitops.model.replay import ReplayReport
from gitops.model.rules import apply_severities
from gitops.model.state import RegistryState, Repository, Scope
from gitops.model.waivers import Waiver, WaiverProposal
from gitops.planning.client_readers import ClientReader, client_readers
from gitops.planning.drift import LookUp, add_drift
from gitops.planning.limit_waivers import limit_proposal
from gitops.planning.lockout_findings import without_named_clients
from gitops.planning.plan import PlanInput, make_plan
from gitops.planning.plan_attribution import attributed_plan
from gitops.planning.severities import rate_findings, severity_in
from gitops.planning.unknown_topics import group_unknown_topics
from gitops.planning.waiver_findings import expiry_findings
from gitops.planning.waivers import fit_proposals, used_waivers, with_written_proposals
from gitops.ports import FileTree, Progress, no_progress
from gitops.registries.factory import open_registry
from gitops.registries.git.provenance import find_provenance
from gitops.registries.git.recorded_versions import SnapshotPast, VersionLookUp, find_recorded
from gitops.registries.snapshot import SnapshotRegistry
from gitops.replay.replay_report import ReplayHistory, ReplayRequest, replay
from gitops.replay.topic_replays import subjects_of
from gitops.replay.withheld_samples import withheld_samples
from gitops.repository.definitions.locations import Locator
from gitops.repository.loader import is_about_line_of, load, load_as_reported
from gitops.repository.plan_fixes import FixRequest, add_patches, fixed_files
from gitops.rollout.rollout import RolloutRequest, rollout_of

_LOCKOUT_RULES: Final = ("CLIENT-R002", "CLIENT-R003", "CLIENT-R004")
"""By these a declared client is named that a new version keeps out."""
_NO_DRIFT: Final = "The files of the base have errors, so only what the change affects is compared."


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRequest:
    """What to check, and how: the change, the registries (none: the default one), the history.

    `reference` is the base as the user names it, `command` repeats the check. With `drift` a live
    registry is compared with the whole base, with `replaying` the samples of the touched topics
    are replayed. `release` is that of another broker than the registries' own. `today` is the day
    in UTC, for waivers. With `fix`, the changed definitions are edited to be accepted.
    """

    loaded: LoadedChange
    reference: str
    today: datetime.date
    registries: tuple[str, ...] = ()
    choice: HistoryChoice = HistoryChoice.AUTO
    drift: bool = False
    release: str | None = None
    replaying: ReplayRequest | None = None
    command: str = ""
    fix: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOutcome:
    """The report, and the errors behind its failures, by registry.

    `fixes` are the new contents of files, where they were asked for.
    """

    report: CheckReport
    errors: Mapping[str, GitopsError] = field(default_factory=dict)
    fixes: Mapping[str, bytes] = field(default_factory=dict)


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
        write_samples(loaded.change.head_tree, loaded.head, Path(folder))
        yield Path(folder)


def check(checking: CheckRequest, progress: Progress = no_progress) -> CheckOutcome:
    """Every registry's answer, whatever becomes of the others.

    Raises UsageError for a registry that gitops.yaml does not name.
    """
    loaded = checking.loaded
    touched = impact_of(loaded)
    mine = [one for one in loaded.head.waivers if one.name in touched.waivers]
    of_waivers = expiry_findings(mine, checking.today)
    findings = [
        *new_findings(loaded),
        *earlier_errors(loaded),
        *of_waivers,
        *topic_guards(loaded, touched, checking.today),
        *expiry_findings(loaded.head.limit_waivers, checking.today),
        *sample_guards(loaded, touched),
    ]
    checks: list[RegistryCheck] = []
    fixes: dict[str, bytes] = {}
    errors: dict[str, GitopsError] = {}
    registries = [] if is_config_broken(loaded) else _registries(checking)
    if not is_config_broken(loaded):  # else a registry that cannot be read looks removed
        findings += registry_guards(loaded, {name for name, _ in registries})
    for name, config in registries:
        registry_answer = _RegistryAnswer(checking, touched, name, config, progress)
        try:
            one, more = registry_answer.answer()
        except GitopsError as error:
            errors[name] = error
        else:
            checks.append(one)
            findings += more
        fixes |= registry_answer.fixes
        if registry_answer.replay_error:
            errors[f"{name} (replay)"] = registry_answer.replay_error
    rated = group_unknown_topics(rate_findings(findings, loaded.limits.rules))
    all_of_it = (*fold_consequences(rated, loaded, touched), *limit_guards(loaded))
    report = CheckReport(
        base=loaded.change.base,
        head=loaded.change.head,
        reference=checking.reference,
        files=loaded.head.digest,
        touched=touched,
        registries=tuple(checks),
        waivers=used_waivers(loaded.head.waivers, [one.plan for one in checks]),
        failures={name: error.what for name, error in errors.items()},
        findings=tuple(sorted(dict.fromkeys(all_of_it), key=lambda each: each.sort_key)),
        limit_waiver=_limit_waiver(checking, touched, all_of_it),
        command=checking.command,
    )
    return CheckOutcome(report=placed_report(report, loaded), errors=errors, fixes=fixes)


def _without_first_versions(drift: Plan, plan: Plan) -> Plan:
    """Without first versions of topics that get theirs by the change, such as after a loss."""
    first = {
        action.topic
        for action in plan.actions
        if isinstance(action, RegisterSchema) and action.latest_version is None
    }
    actions = tuple(
        action
        for action in drift.actions
        if not (isinstance(action, RegisterSchema) and action.topic in first)
    )
    return replace(drift, actions=actions)


def _limit_waiver(
    checking: CheckRequest, touched: Impact, findings: Iterable[Finding]
) -> WaiverProposal | None:
    """A waiver for a change of too many topics, None for any other change."""
    if all(one.rule != "CHECK-R005" or one.severity is Severity.INFO for one in findings):
        return None
    return limit_proposal(changed_topics(checking.loaded, touched), checking.today)


def _registries(checking: CheckRequest) -> list[tuple[str, RegistryConfig]]:
    head = checking.loaded.head
    names: Iterable[str | None] = dict.fromkeys(checking.registries) or [None]
    return [registry_config(head, name) for name in names]


@dataclass(slots=True)
class _RegistryAnswer:
    """One registry's answer while it is made."""

    checking: CheckRequest
    touched: Impact
    name: str
    config: RegistryConfig
    progress: Progress
    replay_error: GitopsError | None = None
    fixes: Mapping[str, bytes] = field(default_factory=dict)

    def answer(self) -> tuple[RegistryCheck, list[Finding]]:
        """The answer, and the findings about the change that only this registry shows."""
        with ExitStack() as stack:
            histories = KnownVersions(self._loaded, self._scope(), stack, self.progress)
            observed = histories.read(
                VersionsRequest(
                    name=self.name,
                    former_name=self._former_name,
                    config=self._loaded.base.config.registries.get(self._former_name),
                    head_config=self.config,
                    choice=self.checking.choice,
                )
            )
            return self._compare(observed)

    @property
    def _loaded(self) -> LoadedChange:
        return self.checking.loaded

    @property
    def _former_name(self) -> str:
        return former_name(self.name, self._loaded.base.config, self._loaded.head.config)

    @property
    def _base_config(self) -> RegistryConfig:
        return former_config(self.name, self._loaded.base.config, self._loaded.head.config)

    def _compare(self, observed: KnownRegistry) -> tuple[RegistryCheck, list[Finding]]:
        loaded = self._loaded
        after = self._plan_input(observed, loaded.head, loaded.head_tree, self.config)
        before = self._plan_input(observed, loaded.base, loaded.base_tree, self._base_config)
        after = replace(after, former_broker=former_settings(before.broker, after.broker))
        if observed.history.source is not HistorySource.GIT:
            neighbours = find_neighbours(observed.registry, after, KnownNames(), self.progress)
            after = replace(after, neighbours=neighbours)
        drift = self._with_drift(make_plan(before), before, observed)
        plan = self._with_drift(make_plan(after, self.progress), after, observed)
        lost = apply_severities(self._losses(observed, after, plan), loaded.limits.rules)
        plan = replace(plan, findings=(*plan.findings, *lost))
        plan = attributed_plan(plan, drift)
        fixing = FixRequest(
            tree=loaded.head_tree,
            repository=loaded.head,
            plan_input=after,
            editable=loaded.changed,
            release=self.checking.release,
        )
        if self.checking.fix:
            self.fixes = fixed_files(plan, fixing)
        plan = add_patches(plan, fixing)
        strategies = former_strategies(loaded.base, before, after)
        refused = refused_before(before, after, plan, strategies)
        places = BaseLocations(loaded, observed.state)
        of_all, history = self._drift(observed, drift)
        if of_all:
            of_all = _without_first_versions(of_all, plan)
            touched_topics = {str(topic) for topic in self._names()}
            losses = [
                finding
                for finding in of_all.findings
                if finding.rule == "PLAN-R023" and finding.subject not in touched_topics
            ]
            plan = replace(plan, findings=(*plan.findings, *losses))
        mine, history = fit_proposals(plan.with_findings(places.of), history)
        mine = with_written_proposals(mine, loaded.head_paths)
        rolling = RolloutRequest(
            base=loaded.base,
            head=loaded.head,
            plan_input=self._known(after, history),
            plan=plan,
            before=before,
            paths=loaded.head_paths,
            reference=self.checking.reference,
        )
        rollout, of_clients = rollout_of(rolling)
        if all(severity_in(loaded.limits, rule) > Severity.INFO for rule in _LOCKOUT_RULES):
            findings = without_named_clients(mine.findings, rollout.locked_out)
            mine = replace(mine, findings=findings)
        replayed = self._replay(after, observed)
        found = RegistryCheck(
            plan=self._sorted(mine),
            history=history,
            strategies_before=strategies,
            refused_before={each.topic: places.of(each.findings) for each in refused},
            drift=of_all,
            rollout=rollout,
            replay=replayed,
            edited=None
            if strategies or len(self.checking.registries) > 1
            else edited_rollout(
                rolling, fixing, partial(self._plan_input, observed, config=self.config)
            ),
        )
        return found, [
            *policy_guards(loaded, self.name, (before, after), refused),
            *gate_guards(loaded, after, strategies),
            *of_clients,
            *(replayed.findings if replayed else ()),
        ]

    def _losses(
        self, observed: KnownRegistry, plan_input: PlanInput, plan: Plan
    ) -> tuple[Finding, ...]:
        """Versions that the registry lost, also where its file is gone and the history is another.

        Then only a journal, which stays beside the registry, proves the loss: in another clone, as
        in CI, the file never was.
        """
        look_up = self._look_up_versions(observed)
        root = self._loaded.change.checkout.root
        if observed.history.source is HistorySource.REGISTRY:
            return find_losses(look_up, plan_input, plan, self._loaded.base.desired)
        config = self._base_config
        is_gone = config.local_path is not None and not (root / config.local_path).exists()
        journaled = read_versions(root, self.name, config.address)
        was_here = any(topic.keeper in journaled.histories for topic in plan_input.desired.topics)
        if not (is_gone and was_here and self.checking.choice is HistoryChoice.AUTO):
            return ()
        with closing(open_registry(self._former_name, config, root)) as registry:
            state = registry.observe(self._scope(), self.progress)
        plan_input = replace(plan_input, observed=state, is_live=True)
        return find_losses(look_up, plan_input, make_plan(plan_input))

    def _look_up_versions(self, observed: KnownRegistry) -> VersionLookUp:
        change = self._loaded.change
        past = SnapshotPast(change.checkout, change.base, frozenset({self.name, self._former_name}))
        recorded = SnapshotRegistry(self.name, change.head_tree, observed.registry.broker)
        is_live = observed.history.source is HistorySource.REGISTRY
        return partial(
            find_recorded,
            recorded,
            past,
            root=change.checkout.root,
            registries=self._loaded.head.config.registries,
            address=observed.registry.address if is_live else self._base_config.address,
        )

    def _with_drift(self, plan: Plan, plan_input: PlanInput, observed: KnownRegistry) -> Plan:
        """With what the history of the base tells of versions that the registry holds."""
        if observed.history.source is HistorySource.GIT:
            return plan
        return add_drift(plan, plan_input, self._look_up(self._loaded.base))

    def _look_up(self, base: Repository) -> LookUp:
        change = self._loaded.change
        return partial(find_provenance, change.checkout, change.base, base.topics)

    def _known(self, plan_input: PlanInput, history: History) -> PlanInput:
        """Without the topics of which git knows nothing, since no manifest declares them."""
        if history.source is not HistorySource.GIT:
            return plan_input
        managed = {*self._loaded.base.desired.topics, *self._loaded.head.desired.topics}
        state = plan_input.observed
        topics = {name: topic for name, topic in state.topics.items() if name in managed}
        return replace(plan_input, observed=replace(state, topics=topics))

    def _replay(self, plan_input: PlanInput, observed: KnownRegistry) -> ReplayReport | None:
        """What became of the samples; a failure does not take the rest of the answer along."""
        replaying = self.checking.replaying
        if replaying is None:
            return None
        try:
            return self._replay_affected(replaying, plan_input, observed.history)
        except GitopsError as error:
            self.replay_error = error
            return None

    def _replay_affected(
        self, replaying: ReplayRequest, plan_input: PlanInput, history: History
    ) -> ReplayReport:
        """Raises OutsideError where the runner fails."""
        base, head = self._loaded.base, self._loaded.head
        topics = [topic for topic in sorted(plan_input.desired.topics) if topic in head.topics]
        known = ReplayHistory(
            registry=plan_input.registry,
            source=history.source.value,
            limits=(),  # which the check tells
            rules=self._loaded.limits.rules,
            findings=withheld_samples(topics, head, base),
        )
        subjects = subjects_of(plan_input, head, topics, base)
        return replay(replaying, subjects, known, self.progress)

    @property
    def _readers(self) -> Mapping[TopicName, tuple[ClientReader, ...]]:
        return client_readers(self._loaded.head.clients, self._observed_clients)

    @property
    def _clients(self) -> tuple[Client, ...]:
        """What is deployed and what the change declares; of other registries nobody says it."""
        base, head = self._loaded.base, self._loaded.head
        if self.name != head.config.default_registry:
            return ()
        return (*base.clients, *head.clients)

    @property
    def _observed_clients(self) -> ObservedClients | None:
        """The base's come first: a change must not be able to drop clients from the record."""
        base, head = self._loaded.base, self._loaded.head
        return base.observed_clients.get(self.name) or head.observed_clients.get(self.name)

    def _plan_input(
        self,
        observed: KnownRegistry,
        repository: Repository,
        tree: FileTree,
        config: RegistryConfig,
    ) -> PlanInput:
        """What the plan of one side of the change is made from, of what is touched only."""
        desired = desired_state(repository, config)
        broken = frozenset() if repository is self._loaded.base else broken_topics(self._loaded)
        names = self._names() - broken
        topics = {name: state for name, state in desired.topics.items() if name in names}
        spaces = {*self.touched.namespaces, *(topic.namespace for topic in self._names())}
        limits = self._loaded.limits
        broker = with_known(self._declared(config), observed.registry.broker)
        is_live = observed.history.source is HistorySource.REGISTRY
        former = {topic.keeper for topic in self._loaded.base.desired.topics}
        return PlanInput(
            registry=self.name,
            address=observed.registry.address,
            files=repository.digest,
            desired=RegistryState(
                namespaces={n: s for n, s in desired.namespaces.items() if n in spaces},
                topics=topics,
                tenants=desired.tenants,
                partitions={t: p for t, p in desired.partitions.items() if t in topics},
            ),
            observed=observed.state,
            broker=broker,
            # Its share is of all topics, which are not here: a guard of the change looks at them.
            safety=replace(limits.safety, max_changed_share=1.0),
            locate=Locator(tree, repository.topics).locate,
            today=self.checking.today,
            waivers=tuple(one for one in repository.waivers if self._is_reached(one)),
            content=self._content(observed, repository, tree, topics),
            rules=limits.rules,
            clients=self._clients,
            readers=self._readers,
            observed_clients=self._observed_clients,
            next_release=announced_release(self._declared(config), broker),
            locate_policy=policy_locator(tree, repository, self.name),
            is_live=is_live,
            new_topics=frozenset()
            if is_live and is_seen(broker, "release")
            else frozenset(topic for topic in topics if topic.keeper not in former),
        )

    def _content(
        self,
        observed: KnownRegistry,
        repository: Repository,
        tree: FileTree,
        topics: Collection[TopicName],
    ) -> dict[TopicName, tuple[Finding, ...]]:
        """Findings about definitions, by the broker line that the registry reports.

        What the line of another registry of this check refuses is in that registry's plan.
        """
        loaded, others = self._loaded, {*self.checking.registries} - {self.name}
        if observed.history.source is HistorySource.REGISTRY and not self.checking.release:
            is_limited = loaded.had_config and repository is not loaded.base
            least = loaded.base.config if is_limited else None
            broker = observed.registry.broker
            repository = load_as_reported(repository, tree, self.name, broker, least)
        return {
            topic: rate_findings(
                (
                    finding
                    for finding in source.findings
                    if not any(is_about_line_of(finding, name) for name in others)
                ),
                loaded.limits.rules,
            )
            for topic, source in repository.topics.items()
            if source.findings and topic in topics
        }

    def _declared(self, config: RegistryConfig) -> BrokerSettings:
        release = self.checking.release
        return as_if_broker(config.broker, release) if release else config.broker

    def _is_reached(self, waiver: Waiver) -> bool:
        """Others may be of topics that are not here, and are not the change's."""
        names = self._names()
        return (
            waiver.subject in names
            or waiver.subject in {name.namespace for name in names}
            or waiver.location.file in self._loaded.changed
        )

    def _names(self) -> frozenset[TopicName]:
        touched = self.touched
        return frozenset({*touched.topics, *touched.removed, *touched.renamed.values()})

    def _scope(self) -> Scope:
        """What is touched, and what the clients use that are changed or reached."""
        names = self._names() | topics_of_clients(self._loaded, self.touched.clients)
        spaces = {*self.touched.namespaces, *(topic.namespace for topic in names)}
        desired = self._loaded.head.desired
        return Scope(
            namespaces=frozenset(spaces),
            topics=names,
            tenants=frozenset(desired.tenants),
            partitions=names & desired.partitions.keys(),
        )

    def _sorted(self, plan: Plan) -> Plan:
        """Rated already; in the order of places."""
        return replace(plan, findings=tuple(sorted(plan.findings, key=lambda one: one.sort_key)))

    def _drift(self, observed: KnownRegistry, of_touched: Plan) -> tuple[Plan | None, History]:
        """What differs without the change, and the history with what that leaves open."""
        history = observed.history
        if history.source is HistorySource.GIT:
            return None, history
        if self.checking.drift and history.source is HistorySource.REGISTRY:
            try:
                return self._sorted(self._drift_of_all(observed)), history
            except UnplannableError:
                history = replace(history, limits=(*history.limits, _NO_DRIFT))
        return self._sorted(of_touched), history

    def _drift_of_all(self, observed: KnownRegistry) -> Plan:
        """The plan for the whole base; raises UnplannableError."""
        tree = self._loaded.change.base_tree
        repository = load(tree, self.progress)
        planning = PlanRequest(
            repository=repository,
            registry=observed.registry,
            config=self._base_config,
            locate=Locator(tree, repository.topics).locate,
            today=self.checking.today,
            look_up=self._look_up(repository),
            recorded=self._look_up_versions(observed),
        )
        return plan_repository(planning, self.progress)
