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
    outdated_findings,
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
from gitops.model.clients import Client, Consumes, ObservedClients, Produces
from gitops.model.config import RegistryConfig
from gitops.model.errors import GitopsError
from gitops.model.findings import Finding, Location, Severity
from gitops.model.names import TopicName
from gitops.model.plan import Plan, RegisterSchema
from gitops.model.policy import BrokerSettings
from gitops.model.replay import ReplayReport
from gitops.model.rules import apply_severities
from gitops.model.state import RegistryState, Repository, Scope
from gitops.model.waivers import Waiver, WaiverProposal
from gitops.planning.client_readers import client_readers
from gitops.planning.drift import LookUp, add_drift
from gitops.planning.limit_waivers import limit_proposal
from gitops.planning.lockout_findings import (
    clients_named_by_plan,
    lockouts_of_new_clients,
    without_named_clients,
)
from gitops.planning.lost_versions import DefinitionReader
from gitops.planning.plan import PlanInput, make_plan
from gitops.planning.plan_attribution import attributed_plan
from gitops.planning.severities import rate_findings, severity_in
from gitops.planning.unknown_topics import group_unknown_topics
from gitops.planning.waiver_findings import expiry_findings
from gitops.planning.waivers import fit_proposals, used_waivers, with_written_proposals
from gitops.ports import FileTree, Progress, no_progress
from gitops.registries.factory import open_registry
from gitops.registries.git.earlier_definitions import earlier_definitions
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
_STATE_RULES: Final = ("PLAN-R023", "PLAN-R024", "PLAN-R025")
"""About what a registry has, whatever a change does."""
_NO_DRIFT: Final = "The files of the base have errors, so only what the change affects is compared."


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRequest:
    """What to check: the change from the merge base with `base` to `head`, None for the folder.

    Without `registries` the default one is asked. With `drift` a live registry is compared with
    the whole base, with `replay` the samples of the affected topics are replayed. `release` is
    that of another broker than the registries' own. With `fix`, the changed definitions are edited
    to be accepted. `today` is the day in UTC, for waivers. `command` repeats the check.
    """

    base: str
    head: str | None = None
    registries: tuple[str, ...] = ()
    history: HistoryChoice = HistoryChoice.AUTO
    drift: bool = False
    release: str | None = None
    replay: ReplayRequest | None = None
    fix: bool = False
    today: datetime.date
    command: str = ""


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
    """The folder that paths in manifests are relative to.

    The samples of a commit are written to a temporary folder: the clone may have another one
    checked out.
    """
    if not loaded.change.head:
        yield loaded.change.checkout.root
        return
    with tempfile.TemporaryDirectory(prefix="pulsar-gitops-") as folder:
        write_samples(loaded.change.head_tree, loaded.head, Path(folder))
        yield Path(folder)


def check(
    loaded: LoadedChange, request: CheckRequest, progress: Progress = no_progress
) -> CheckOutcome:
    """Check the files, then compare them with each registry; one that fails stops no other.

    Raises UsageError for a registry that gitops.yaml does not name.
    """
    impact = impact_of(loaded)
    affected_waivers = [waiver for waiver in loaded.head.waivers if waiver.name in impact.waivers]
    findings = [
        *new_findings(loaded),
        *earlier_errors(loaded),
        *outdated_findings(loaded, impact, request.base),
        *expiry_findings(affected_waivers, request.today),
        *topic_guards(loaded, impact, request.today),
        *expiry_findings(loaded.head.limit_waivers, request.today),
        *sample_guards(loaded, impact),
    ]
    registries: list[tuple[str, RegistryConfig]] = []
    if not is_config_broken(loaded):  # else a registry that cannot be read looks removed
        names: Iterable[str | None] = dict.fromkeys(request.registries) or [None]
        registries = [registry_config(loaded.head, name) for name in names]
        findings += registry_guards(loaded, {name for name, _ in registries})

    others = loaded.head.config.registries.keys() - {name for name, _ in registries}
    if not registries:
        others = set()
    checks: list[RegistryCheck] = []
    fixes: dict[str, bytes] = {}
    errors: dict[str, GitopsError] = {}
    for name, config in registries:
        comparison = _RegistryComparison(loaded, request, impact, name, config, progress)
        try:
            registry_check, registry_findings = comparison.run()
        except GitopsError as error:
            errors[name] = error
        else:
            checks.append(registry_check)
            findings += registry_findings
        fixes |= comparison.fixes
        if comparison.replay_error:
            errors[f"{name} (replay)"] = comparison.replay_error

    rated = group_unknown_topics(rate_findings(findings, loaded.limits.rules))
    all_findings = (*fold_consequences(rated, loaded, impact), *limit_guards(loaded))
    report = CheckReport(
        base=loaded.change.base,
        head=loaded.change.head,
        reference=request.base,
        files=loaded.head.digest,
        touched=impact,
        registries=tuple(checks),
        waivers=used_waivers(loaded.head.waivers, [check.plan for check in checks]),
        failures={name: error.what for name, error in errors.items()},
        unchecked=tuple(sorted(others)),
        findings=tuple(sorted(dict.fromkeys(all_findings), key=lambda finding: finding.sort_key)),
        limit_waiver=_limit_waiver(loaded, impact, all_findings, request.today),
        command=request.command,
    )
    return CheckOutcome(report=placed_report(report, loaded), errors=errors, fixes=fixes)


def _limit_waiver(
    loaded: LoadedChange, impact: Impact, findings: Iterable[Finding], today: datetime.date
) -> WaiverProposal | None:
    """A waiver for a change of too many topics, None for any other change."""
    exceeds_limit = any(
        finding.rule == "CHECK-R005" and finding.severity is not Severity.INFO
        for finding in findings
    )
    return limit_proposal(changed_topics(loaded, impact), today) if exceeds_limit else None


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


@dataclass(slots=True)
class _RegistryComparison:
    """Compares the change with one registry."""

    loaded: LoadedChange
    request: CheckRequest
    impact: Impact
    name: str
    config: RegistryConfig
    progress: Progress
    replay_error: GitopsError | None = None
    fixes: Mapping[str, bytes] = field(default_factory=dict)

    def run(self) -> tuple[RegistryCheck, list[Finding]]:
        """The check of this registry, and the findings about the change that only it shows."""
        loaded, request = self.loaded, self.request
        with ExitStack() as stack:
            known = KnownVersions(loaded, self._scope(), stack, self.progress).read(
                VersionsRequest(
                    name=self.name,
                    former_name=self._former_name,
                    config=loaded.base.config.registries.get(self._former_name),
                    head_config=self.config,
                    choice=request.history,
                )
            )
            after = self._plan_input(known, loaded.head, loaded.head_tree, self.config)
            before = self._plan_input(known, loaded.base, loaded.base_tree, self._base_config)
            after = replace(after, former_broker=former_settings(before.broker, after.broker))
            if known.history.source is not HistorySource.GIT:
                neighbours = find_neighbours(known.registry, after, KnownNames(), self.progress)
                after = replace(after, neighbours=neighbours)
            base_drift = self._with_drift(make_plan(before), before, known)
            plan = self._with_drift(make_plan(after, self.progress), after, known)
            losses = apply_severities(self._losses(known, after, plan), loaded.limits.rules)
            plan = replace(plan, findings=(*plan.findings, *losses))
            plan = attributed_plan(plan, base_drift)

            fix_request = FixRequest(
                tree=loaded.head_tree,
                repository=loaded.head,
                plan_input=after,
                editable=loaded.changed,
                release=request.release,
            )
            if request.fix:
                self.fixes = fixed_files(plan, fix_request)
            plan = add_patches(plan, fix_request)

            strategies = former_strategies(loaded.base, before, after)
            refused = refused_before(before, after, plan, strategies)
            places = BaseLocations(loaded, known.state)
            drift, history = self._drift(known, base_drift)
            if drift:
                drift = _without_first_versions(drift, plan)
                plan = replace(plan, findings=(*plan.findings, *self._losses_elsewhere(drift)))
            plan, history = fit_proposals(plan.with_findings(places.locate), history)
            plan = with_written_proposals(plan, loaded.head_paths)

            rollout_request = RolloutRequest(
                base=loaded.base,
                head=loaded.head,
                plan_input=self._managed(after, history),
                plan=plan,
                before=before,
                paths=loaded.head_paths,
                reference=request.base,
            )
            rollout, client_findings = rollout_of(rollout_request)
            if all(severity_in(loaded.limits, rule) > Severity.INFO for rule in _LOCKOUT_RULES):
                findings = without_named_clients(plan.findings, rollout.locked_out)
                plan = replace(plan, findings=findings)
            named = rollout.locked_out | clients_named_by_plan(plan.findings)
            pending = [*self._pending_lockouts(known, named)]
            edited = None
            if not strategies and len(request.registries) <= 1:
                edited_input = partial(self._plan_input, known, config=self.config)
                edited = edited_rollout(rollout_request, fix_request, edited_input)

            replayed = self._replay(after, known)
            registry_check = RegistryCheck(
                plan=_sorted_findings(plan),
                history=history,
                strategies_before=strategies,
                refused_before={
                    refusal.topic: places.locate(refusal.findings) for refusal in refused
                },
                drift=drift,
                rollout=rollout,
                replay=replayed,
                edited=edited,
            )
        return registry_check, [
            *policy_guards(loaded, self.name, (before, after), refused),
            *gate_guards(loaded, after, strategies),
            *client_findings,
            *pending,
            *(replayed.findings if replayed else ()),
        ]

    def _pending_lockouts(
        self, known: KnownRegistry, named: Collection[tuple[str, str]]
    ) -> Iterator[Finding]:
        """Clients that connect now, and not once the plan that is pending already is applied.

        Only those that the change declares. `named` are topics and clients of other findings.
        """
        loaded = self.loaded
        topics = topics_of_clients(loaded, self.impact.clients) - broken_topics(loaded)
        if known.history.source is HistorySource.GIT or not topics or not self._clients:
            return
        pending = self._plan_input(
            known, loaded.head, loaded.head_tree, self.config, topics & loaded.head.topics.keys()
        )
        places: dict[tuple[str, str], Location] = {}
        for client in loaded.head.clients:
            uses: tuple[Produces | Consumes, ...] = (*client.produces, *client.consumes)
            places |= {(str(use.topic), client.name): use.location for use in uses}
        plan = make_plan(replace(pending, clients=loaded.head.clients))
        before = make_plan(replace(pending, clients=loaded.base.clients))
        for finding in lockouts_of_new_clients(plan, before):
            names = [name for name in finding.clients if (finding.subject, name) not in named]
            if names:
                yield replace(
                    finding,
                    message=f"{finding.message}; the plan for this is not applied yet",
                    location=places.get((finding.subject, names[0])),
                    clients=tuple(names),
                )

    @property
    def _former_name(self) -> str:
        return former_name(self.name, self.loaded.base.config, self.loaded.head.config)

    @property
    def _base_config(self) -> RegistryConfig:
        return former_config(self.name, self.loaded.base.config, self.loaded.head.config)

    def _losses_elsewhere(self, drift: Plan) -> list[Finding]:
        """Lost versions of topics that the change does not affect, and unfinished restores."""
        affected = {str(name) for name in (*self._names(), *self._scope().namespaces)}
        return [
            finding
            for finding in drift.findings
            if finding.rule in _STATE_RULES and finding.subject not in affected
        ]

    def _losses(
        self, known: KnownRegistry, plan_input: PlanInput, plan: Plan
    ) -> tuple[Finding, ...]:
        """Versions that the registry lost, also where its file is gone and the history is another.

        Then only a journal, which stays beside the registry, proves the loss: in another clone, as
        in CI, the file never was.
        """
        look_up = self._look_up_versions(known)
        definitions = self._definitions(self.loaded.base)
        root = self.loaded.change.checkout.root
        if known.history.source is HistorySource.REGISTRY:
            return find_losses(look_up, definitions, plan_input, plan)
        config = self._base_config
        is_gone = config.local_path is not None and not (root / config.local_path).exists()
        journaled = read_versions(root, self.name, config.address)
        was_here = any(topic.keeper in journaled.histories for topic in plan_input.desired.topics)
        if not (is_gone and was_here and self.request.history is HistoryChoice.AUTO):
            return ()
        with closing(open_registry(self._former_name, config, root)) as registry:
            state = registry.observe(self._scope(), self.progress)
        plan_input = replace(plan_input, observed=state, is_live=True)
        return find_losses(look_up, definitions, plan_input, make_plan(plan_input))

    def _definitions(self, base: Repository) -> DefinitionReader:
        """Reads the definitions of the base, and those before it."""
        change = self.loaded.change
        return partial(
            earlier_definitions, change.checkout, change.base, base.topics, self.loaded.changed
        )

    def _look_up_versions(self, known: KnownRegistry) -> VersionLookUp:
        change = self.loaded.change
        past = SnapshotPast(change.checkout, change.base, frozenset({self.name, self._former_name}))
        recorded = SnapshotRegistry(self.name, change.head_tree, known.registry.broker)
        is_live = known.history.source is HistorySource.REGISTRY
        return partial(
            find_recorded,
            recorded,
            past,
            root=change.checkout.root,
            registries=self.loaded.head.config.registries,
            address=known.registry.address if is_live else self._base_config.address,
        )

    def _with_drift(self, plan: Plan, plan_input: PlanInput, known: KnownRegistry) -> Plan:
        """With what the history of the base tells of versions that the registry holds."""
        if known.history.source is HistorySource.GIT:
            return plan
        return add_drift(plan, plan_input, self._look_up(self.loaded.base))

    def _look_up(self, base: Repository) -> LookUp:
        change = self.loaded.change
        return partial(find_provenance, change.checkout, change.base, base.topics)

    def _managed(self, plan_input: PlanInput, history: History) -> PlanInput:
        """Without topics that no manifest declares, if the versions are those of git."""
        if history.source is not HistorySource.GIT:
            return plan_input
        managed = {*self.loaded.base.desired.topics, *self.loaded.head.desired.topics}
        state = plan_input.observed
        topics = {name: topic for name, topic in state.topics.items() if name in managed}
        return replace(plan_input, observed=replace(state, topics=topics))

    def _replay(self, plan_input: PlanInput, known: KnownRegistry) -> ReplayReport | None:
        """The replay of the affected topics' samples; if it fails, the check goes on without."""
        if self.request.replay is None:
            return None
        base, head = self.loaded.base, self.loaded.head
        topics = [topic for topic in sorted(plan_input.desired.topics) if topic in head.topics]
        try:
            history = ReplayHistory(
                registry=plan_input.registry,
                source=known.history.source.value,
                limits=(),  # the check reports them
                rules=self.loaded.limits.rules,
                findings=withheld_samples(topics, head, base),
            )
            subjects = subjects_of(plan_input, head, topics, base)
            return replay(self.request.replay, subjects, history, self.progress)
        except GitopsError as error:
            self.replay_error = error
            return None

    @property
    def _clients(self) -> tuple[Client, ...]:
        """Clients of the base and of the change; they are declared for the default registry."""
        base, head = self.loaded.base, self.loaded.head
        if self.name != head.config.default_registry:
            return ()
        return (*base.clients, *head.clients)

    @property
    def _observed_clients(self) -> ObservedClients | None:
        """The base's come first: a change must not be able to drop clients from the record."""
        base, head = self.loaded.base, self.loaded.head
        return base.observed_clients.get(self.name) or head.observed_clients.get(self.name)

    def _plan_input(
        self,
        known: KnownRegistry,
        repository: Repository,
        tree: FileTree,
        config: RegistryConfig,
        names: frozenset[TopicName] | None = None,
    ) -> PlanInput:
        """The input for the plan of one side of the change, limited to what it affects.

        `names` are other topics than those.
        """
        desired = desired_state(repository, config)
        broken = frozenset() if repository is self.loaded.base else broken_topics(self.loaded)
        affected = self._names() if names is None else names
        names = affected - broken
        topics = {name: state for name, state in desired.topics.items() if name in names}
        namespaces = {*self.impact.namespaces, *(topic.namespace for topic in affected)}
        limits = self.loaded.limits
        broker = with_known(self._declared(config), known.registry.broker)
        is_live = known.history.source is HistorySource.REGISTRY
        base_topics = {topic.keeper for topic in self.loaded.base.desired.topics}
        new_topics = frozenset(topic for topic in topics if topic.keeper not in base_topics)
        if is_live and is_seen(broker, "release"):
            new_topics = frozenset()
        return PlanInput(
            registry=self.name,
            address=known.registry.address,
            files=repository.digest,
            desired=RegistryState(
                namespaces={
                    name: state for name, state in desired.namespaces.items() if name in namespaces
                },
                topics=topics,
                tenants=desired.tenants,
                partitions={
                    topic: number for topic, number in desired.partitions.items() if topic in topics
                },
            ),
            observed=known.state,
            broker=broker,
            # The share counts all topics, which are not loaded here: `topic_guards` checks it.
            safety=replace(limits.safety, max_changed_share=1.0),
            locate=Locator(tree, repository.topics).locate,
            today=self.request.today,
            waivers=tuple(
                waiver for waiver in repository.waivers if self._is_affected(waiver, affected)
            ),
            content=self._content(known, repository, tree, topics),
            rules=limits.rules,
            clients=self._clients,
            readers=client_readers(self.loaded.head.clients, self._observed_clients),
            observed_clients=self._observed_clients,
            next_release=announced_release(self._declared(config), broker),
            locate_policy=policy_locator(tree, repository, self.name),
            is_live=is_live,
            new_topics=new_topics,
        )

    def _content(
        self,
        known: KnownRegistry,
        repository: Repository,
        tree: FileTree,
        topics: Collection[TopicName],
    ) -> dict[TopicName, tuple[Finding, ...]]:
        """Findings about definitions, by the broker line that the registry reports.

        What the line of another registry of this check refuses is in that registry's plan.
        """
        loaded, other_registries = self.loaded, {*self.request.registries} - {self.name}
        if known.history.source is HistorySource.REGISTRY and not self.request.release:
            is_limited = loaded.had_config and repository is not loaded.base
            least = loaded.base.config if is_limited else None
            broker = known.registry.broker
            repository = load_as_reported(repository, tree, self.name, broker, least)
        content = {}
        for topic, source in repository.topics.items():
            if source.findings and topic in topics:
                findings = [
                    finding
                    for finding in source.findings
                    if not any(is_about_line_of(finding, name) for name in other_registries)
                ]
                content[topic] = rate_findings(findings, loaded.limits.rules)
        return content

    def _declared(self, config: RegistryConfig) -> BrokerSettings:
        release = self.request.release
        return as_if_broker(config.broker, release) if release else config.broker

    def _is_affected(self, waiver: Waiver, names: Collection[TopicName]) -> bool:
        """Whether a waiver is for one of these topics, or changed."""
        return (
            waiver.subject in names
            or waiver.subject in {name.namespace for name in names}
            or waiver.location.file in self.loaded.changed
        )

    def _names(self) -> frozenset[TopicName]:
        impact = self.impact
        return frozenset({*impact.topics, *impact.removed, *impact.renamed.values()})

    def _scope(self) -> Scope:
        """What the change affects, with the topics of the clients that it affects."""
        names = self._names() | topics_of_clients(self.loaded, self.impact.clients)
        namespaces = {*self.impact.namespaces, *(topic.namespace for topic in names)}
        desired = self.loaded.head.desired
        return Scope(
            namespaces=frozenset(namespaces),
            topics=names,
            tenants=frozenset(desired.tenants),
            partitions=names & desired.partitions.keys(),
        )

    def _drift(self, known: KnownRegistry, base_drift: Plan) -> tuple[Plan | None, History]:
        """The drift of the base, and the history with what remains unknown about it."""
        history = known.history
        if history.source is HistorySource.GIT:
            return None, history
        if self.request.drift and history.source is HistorySource.REGISTRY:
            try:
                return _sorted_findings(self._full_drift(known)), history
            except UnplannableError:
                history = replace(history, limits=(*history.limits, _NO_DRIFT))
        return _sorted_findings(base_drift), history

    def _full_drift(self, known: KnownRegistry) -> Plan:
        """The plan for the whole base; raises UnplannableError."""
        tree = self.loaded.change.base_tree
        repository = load(tree, self.progress)
        request = PlanRequest(
            repository=repository,
            registry=known.registry,
            config=self._base_config,
            locate=Locator(tree, repository.topics).locate,
            today=self.request.today,
            look_up=self._look_up(repository),
            recorded=self._look_up_versions(known),
            definitions=self._definitions(repository),
        )
        return plan_repository(request, self.progress)


def _sorted_findings(plan: Plan) -> Plan:
    """The plan with its findings in the order of their places."""
    findings = sorted(plan.findings, key=lambda finding: finding.sort_key)
    return replace(plan, findings=tuple(findings))
