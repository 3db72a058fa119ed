"""The plan of a whole repository: what is read of a registry, and how the files compare."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from gitops.changes.known_names import KnownNames, UnmanagedTopics, find_unmanaged
from gitops.changes.locations import policy_locator
from gitops.changes.registries import desired_state
from gitops.model.broker_settings import announced_release
from gitops.model.clients import ObservedClients
from gitops.model.config import RegistryConfig
from gitops.model.errors import GitopsError
from gitops.model.findings import Finding, Severity
from gitops.model.names import NamespaceName, TopicName
from gitops.model.plan import DeleteSchema, Plan
from gitops.model.policy import TopicPolicies
from gitops.model.rules import apply_severities
from gitops.model.schema import SchemaInfo
from gitops.model.state import NamespaceState, RegistryState, Repository, Scope, TopicState
from gitops.model.waivers import LimitWaiver, Waiver
from gitops.planning.client_readers import client_readers
from gitops.planning.drift import LookUp, add_drift
from gitops.planning.held_policies import unfinished_restore_findings
from gitops.planning.limit_waivers import unneeded_limit_findings
from gitops.planning.lost_versions import DefinitionReader, loss_findings
from gitops.planning.plan import (
    LocateIn,
    PlanInput,
    changed_topics,
    decide_topics,
    deletions_of_unmanaged,
    make_plan,
)
from gitops.planning.policies import changes
from gitops.planning.severities import rate_findings, worst
from gitops.planning.unknown_topics import group_unknown_topics
from gitops.planning.waiver_findings import expiry_findings
from gitops.ports import (
    ClientSource,
    FileTree,
    Progress,
    Registry,
    UnreadableTopicsError,
    no_progress,
)
from gitops.registries.git.recorded_versions import VersionLookUp
from gitops.repository.observed_clients import unread_limits
from gitops.repository.plan_fixes import FixRequest, add_patches, fixed_files


class UnplannableError(GitopsError):
    """The files have errors, so what they want is not known."""

    exit_code = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRequest:
    """What a plan is made from: the files, the registry, and how places are found.

    `known` are names that a cluster may hold without listing them. `look_up` finds versions in
    git's history, None where nobody wants to know. `reviewed` are the subjects that a reviewed
    plan looked at: no others are looked at then. `today` is the day in UTC, for waivers. With the
    `tree` of the files, refusals get patches; `release` is that of another broker than the
    registry's own. `recorded` finds the versions that the registry has had, `definitions` what git
    has of topics that nothing records. With `keep_going` an
    apply of the plan skips what has errors. `asks_for_clients`: a cluster is asked who is connected
    now to topics whose clients the plan may affect.
    """

    repository: Repository
    registry: Registry
    config: RegistryConfig
    locate: LocateIn
    today: datetime.date
    known: KnownNames = field(default_factory=KnownNames)
    prune: bool = False
    look_up: LookUp | None = None
    reviewed: Scope | None = None
    tree: FileTree | None = None
    release: str | None = None
    recorded: VersionLookUp | None = None
    definitions: DefinitionReader | None = None
    keep_going: bool = False
    asks_for_clients: bool = False


def blocks(findings: Iterable[Finding]) -> bool:
    """Whether findings about the files leave open what they want."""
    return worst(findings) is Severity.ERROR


def plan_repository(planning: PlanRequest, progress: Progress = no_progress) -> Plan:
    """Read the registry and compare; raises UnplannableError, OutsideError."""
    plan_input, known = read_plan_input(planning, progress, quickly=True), planning.known
    plan_input = replace(
        plan_input, neighbours=find_neighbours(planning.registry, plan_input, known, progress)
    )
    if planning.reviewed:
        return _plan_with_live_clients(planning, plan_input, progress)
    managed = with_unread(plan_input)
    if scope := planning.repository.scope:
        known = known.within(scope)
        spaces = {n: state for n, state in managed.namespaces.items() if n in scope.namespaces}
        managed = replace(managed, namespaces=spaces)
    unmanaged = find_unmanaged(planning.registry, managed, known, progress, required=planning.prune)
    if planning.prune:
        plan_input = _add_unmanaged(plan_input, unmanaged)
    made = _plan_with_live_clients(planning, plan_input, progress)
    deleted = {action.topic for action in made.actions if isinstance(action, DeleteSchema)}
    return replace(
        made,
        unmanaged=tuple(topic.topic for topic in unmanaged.topics if topic.topic not in deleted),
        unmanaged_namespaces=unmanaged.namespaces,
        without_schema=len(unmanaged.without_schema),
        unlisted=unmanaged.unlisted,
        limits=(*(known.limits if planning.prune or known.has_history else ()), *made.limits),
    )


def _plan_with_live_clients(
    planning: PlanRequest, plan_input: PlanInput, progress: Progress
) -> Plan:
    """The plan, with the clients that are connected now beside those of the repository's record.

    Statistics cost up to three requests per topic, and a broker loads a topic to show them. So a
    cluster is asked only for topics that get a version or lose their schemas, or whose clients are
    locked out: what is known of other topics' clients makes no difference to a plan.
    """
    decisions = decide_topics(plan_input, progress)
    limits: tuple[str, ...] = ()
    if planning.asks_for_clients and isinstance(planning.registry, ClientSource):
        states = {**plan_input.observed.topics, **plan_input.neighbours}
        deleted = {action.topic for action in deletions_of_unmanaged(plan_input)}
        affected = decisions.topics_with_affected_clients() | deleted
        topics = [topic for topic in affected if states[topic].exists]
        live = planning.registry.observe_clients(topics, progress) if topics else ObservedClients()
        limits = tuple(unread_limits(live))
        recorded = plan_input.observed_clients or ObservedClients()
        if (observed := recorded.with_live(live)) != recorded:
            readers = client_readers(plan_input.clients, observed)
            plan_input = replace(plan_input, observed_clients=observed, readers=readers)
            decisions = decide_topics(plan_input, former=decisions, changed=live.topics)
    made = make_plan(plan_input, progress, decisions)
    return replace(_complete(planning, plan_input, made), limits=limits)


def read_plan_input(
    planning: PlanRequest, progress: Progress = no_progress, *, quickly: bool = False
) -> PlanInput:
    """What the files want, and what the registry holds of it.

    `quickly`, the policies of a topic that is as the files want it may be taken to be none; see
    Scope. Raises UnplannableError, OutsideError.
    """
    repository, registry = planning.repository, planning.registry
    rules = repository.config.rules
    if blocks(_findings(planning)):
        raise UnplannableError("the files have errors", hint="see `pulsar-gitops validate`")
    desired = desired_state(repository, planning.config)
    scope = _scope(planning, desired)
    scope = replace(scope, settled=_settled(desired)) if quickly else scope
    observed, unread = _observed(registry, scope, progress)
    topics = {name: state for name, state in desired.topics.items() if name not in unread}
    left_out = _left_out(repository, desired)
    namespaces = {n: state for n, state in desired.namespaces.items() if n not in left_out}
    return PlanInput(
        registry=registry.name,
        address=registry.address,
        files=repository.digest,
        desired=replace(desired, topics=topics, namespaces=namespaces),
        observed=observed,
        broker=registry.broker,
        safety=repository.config.safety,
        locate=planning.locate,
        today=planning.today,
        content={
            topic: rate_findings(source.findings, rules)
            for topic, source in repository.topics.items()
            if source.findings
        },
        rules=rules,
        waivers=repository.waivers,
        clients=repository.clients,
        readers=client_readers(repository.clients, repository.observed_clients.get(registry.name)),
        limit_waivers=repository.limit_waivers,
        prune=planning.prune,
        unread=unread,
        left_out=left_out,
        next_release=announced_release(planning.config.broker, registry.broker),
        observed_clients=repository.observed_clients.get(registry.name),
        locate_policy=policy_locator(planning.tree, repository, registry.name)
        if planning.tree
        else None,
    )


def _left_out(
    repository: Repository, desired: RegistryState
) -> Mapping[NamespaceName, NamespaceState]:
    """The namespaces that a scope of single topics leaves as they are."""
    if repository.scope is None:
        return {}
    inside = repository.scope.namespaces
    return {name: state for name, state in desired.namespaces.items() if name not in inside}


def _settled(desired: RegistryState) -> dict[TopicName, SchemaInfo]:
    """The schemas of topics for which the files want nothing else."""
    return {
        name: topic.history.entries[0].info
        for name, topic in desired.topics.items()
        if topic.history.entries and topic.policies == TopicPolicies()
    }


def _observed(
    registry: Registry, scope: Scope, progress: Progress
) -> tuple[RegistryState, Mapping[TopicName, str]]:
    """What the registry holds, and the topics that it cannot show."""
    try:
        return registry.observe(scope, progress), {}
    except UnreadableTopicsError as error:
        return error.state, error.reasons


def find_neighbours(
    registry: Registry, plan_input: PlanInput, known: KnownNames, progress: Progress = no_progress
) -> dict[TopicName, TopicState]:
    """The topics that no file names, of namespaces whose policies the plan changes.

    With other brokers these are all namespaces. Topics without a schema are among them: a stricter
    policy may keep out their consumers. Topics that the registry cannot list or read are left out.
    """
    observed = plan_input.observed
    former = plan_input.former_broker or plan_input.broker
    has_other_brokers = bool(plan_input.next_release) or former != plan_input.broker
    changed = {
        name: observed.namespaces[name]
        for name, desired in plan_input.desired.namespaces.items()
        if name in observed.namespaces
        and observed.namespaces[name].exists
        and (has_other_brokers or changes(desired.policies, observed.namespaces[name].policies))
    }
    if not changed:
        return {}
    topics = {name: state for name, state in observed.topics.items() if name.namespace in changed}
    managed = replace(with_unread(plan_input), namespaces=changed, topics=topics)
    named = frozenset(topic for topic in known.topics if topic.namespace in changed)
    unmanaged = find_unmanaged(
        registry, managed, KnownNames(topics=named), progress, required=False
    )
    without_schema = {topic: TopicState(topic=topic) for topic in unmanaged.without_schema}
    return without_schema | {state.topic: state for state in unmanaged.topics}


def plan_of(planning: PlanRequest, plan_input: PlanInput, progress: Progress = no_progress) -> Plan:
    """The plan for what was asked, with the findings about the files."""
    return _complete(planning, plan_input, make_plan(plan_input, progress))


def _complete(planning: PlanRequest, plan_input: PlanInput, made: Plan) -> Plan:
    """The plan with drift, patches, lost versions, and the findings about the files."""
    if planning.look_up:
        made = add_drift(made, plan_input, planning.look_up)
    if fixing := _fix_request(planning, plan_input):
        made = add_patches(made, fixing)
    lost = find_losses(planning.recorded, planning.definitions, plan_input, made)
    unneeded = unneeded_limit_findings(
        plan_input.limit_waivers, changed_topics(made.actions), planning.today
    )
    rules = planning.repository.config.rules
    remarks = apply_severities((*lost, *unneeded), rules)
    findings = group_unknown_topics((*_findings(planning), *remarks, *made.findings))
    scope = planning.repository.scope
    return replace(
        made,
        findings=tuple(sorted(findings, key=lambda finding: finding.sort_key)),
        scope=scope.names if scope else (),
        keep_going=planning.keep_going,
    )


def find_losses(
    recorded: VersionLookUp | None,
    definitions: DefinitionReader | None,
    plan_input: PlanInput,
    plan: Plan,
) -> tuple[Finding, ...]:
    """Recorded versions of the plan's topics that the registry lost, or has as other schemas.

    And policies that a restore has not set back.

    None where `recorded` is None. Without `definitions` git's are not looked up.
    """
    if recorded is None:
        return ()
    versions = recorded(plan_input.desired.topics.keys())
    return (
        *loss_findings(plan_input, plan, versions, definitions or (lambda _: {})),
        *unfinished_restore_findings(versions.held, plan_input.observed, plan_input.registry),
    )


def fixes_of_repository(
    planning: PlanRequest, progress: Progress = no_progress
) -> dict[str, bytes]:
    """The contents of definitions with edits that take refusals away.

    Raises UnplannableError, OutsideError.
    """
    plan_input = read_plan_input(planning, progress)
    fixing = _fix_request(planning, plan_input)
    return fixed_files(make_plan(plan_input, progress), fixing) if fixing else {}


def _fix_request(planning: PlanRequest, plan_input: PlanInput) -> FixRequest | None:
    if planning.tree is None:
        return None
    return FixRequest(
        tree=planning.tree,
        repository=planning.repository,
        plan_input=plan_input,
        release=planning.release,
        editable=planning.repository.scope.editable if planning.repository.scope else None,
    )


def _findings(planning: PlanRequest) -> tuple[Finding, ...]:
    """About the files, rated."""
    repository = planning.repository
    waivers: list[Waiver | LimitWaiver] = [*repository.waivers, *repository.limit_waivers]
    of_waivers = expiry_findings(waivers, planning.today)
    return rate_findings((*repository.findings, *of_waivers), repository.config.rules)


def _scope(planning: PlanRequest, desired: RegistryState) -> Scope:
    """What the files name, and what a reviewed plan looked at besides."""
    reviewed = planning.reviewed or Scope()
    taken = {topic.keeper for topic in desired.topics}
    other_topics = frozenset(topic for topic in reviewed.topics if topic.keeper not in taken)
    return Scope(
        namespaces=reviewed.namespaces | desired.namespaces.keys(),
        topics=other_topics | desired.topics.keys(),
        tenants=reviewed.tenants | desired.tenants.keys(),
        partitions=reviewed.partitions | desired.partitions.keys(),
    )


def with_unread(plan_input: PlanInput) -> RegistryState:
    """All that the files manage, also what the registry cannot show."""
    unread = {topic: TopicState(topic=topic) for topic in plan_input.unread}
    observed = plan_input.observed
    return replace(observed, topics={**observed.topics, **unread})


def _add_unmanaged(plan_input: PlanInput, unmanaged: UnmanagedTopics) -> PlanInput:
    """The input with the schemas that a plan which prunes deletes.

    Those of namespaces that the files do not have any more are left alone: another repository may
    manage them now.
    """
    observed = plan_input.observed
    schemas = {
        topic.topic: topic
        for topic in unmanaged.topics
        if topic.history.entries and topic.topic.namespace in observed.namespaces
    }
    return replace(plan_input, observed=replace(observed, topics={**observed.topics, **schemas}))
