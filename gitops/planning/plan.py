"""From desired and observed to a plan, within the limits of one apply."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain

from gitops.broker.connection import ConnectionPolicies, connection_policies
from gitops.broker.lines.line import BrokerLine
from gitops.broker.lines.table import find_line, line_of
from gitops.model.broker_settings import is_seen
from gitops.model.clients import Client, ObservedClients
from gitops.model.config import SafetyConfig
from gitops.model.findings import Finding, Location, Severity
from gitops.model.names import NamespaceName, TenantName, TopicName
from gitops.model.plan import (
    Action,
    CreateNamespace,
    CreateTenant,
    CreateTopic,
    DeleteSchema,
    Notice,
    Plan,
    RegisterSchema,
    SetPolicy,
)
from gitops.model.policy import (
    BrokerSettings,
    NamespacePolicies,
    SchemaCompatibilityStrategy,
    TopicPolicies,
    effective_strategy,
)
from gitops.model.rules import apply_severities, make_finding
from gitops.model.state import NamespaceState, RegistryState, TopicState
from gitops.model.waivers import LimitWaiver, Waiver
from gitops.planning import fingerprints, waiver_findings
from gitops.planning.broker_document import conflict_findings, doubt_findings
from gitops.planning.client_readers import ClientReader
from gitops.planning.creations import (
    existence_findings,
    namespace_actions,
    tenant_actions,
    topic_creation,
)
from gitops.planning.limit_waivers import (
    CountedChanges,
    changed_topic_fingerprint,
    count_changes,
    exceeded_share,
    limit_proposal,
)
from gitops.planning.lockout_findings import (
    deletion_findings,
    lockout_report,
    policy_lockout_findings,
)
from gitops.planning.lockouts import (
    DeclaredUse,
    LocatePolicy,
    TopicChange,
    TopicLockouts,
    declared_uses,
    locks_out_meanwhile,
    topic_lockouts,
)
from gitops.planning.notice_findings import (
    action_findings,
    content_findings,
    looser_topic_finding,
    notice_findings,
    unread_findings,
)
from gitops.planning.policies import changes, overlay
from gitops.planning.refusals import TopicCase
from gitops.planning.rolling_upgrade import rolling_upgrade_findings
from gitops.planning.scope_findings import pending_namespace_findings
from gitops.planning.temporary_strategy import Holds, actions_of, settle
from gitops.planning.topics import plan_topic
from gitops.ports import Progress, no_progress

# Limits on how much one apply may change.


def guard(
    actions: Sequence[Action],
    observed: RegistryState,
    safety: SafetyConfig,
    waivers: Sequence[LimitWaiver] = (),
    today: datetime.date = datetime.date.min,
) -> tuple[Finding, ...]:
    """Findings for a plan that changes or deletes too much; first versions do not count."""
    existing = sum(1 for topic in observed.topics.values() if topic.history.latest)
    changes = count_changes(changed_topics(actions), waivers, today)
    return (
        *_share(changes, existing, safety),
        *_deletions(actions, safety),
    )


def _share(changes: CountedChanges, existing: int, safety: SafetyConfig) -> tuple[Finding, ...]:
    share = exceeded_share(changes, existing, safety, "with a schema would change")
    if share is None:
        return ()
    return (share.rate(make_finding("PLAN-R004", share.message, hint=share.hint)),)


def changed_topics(actions: Sequence[Action]) -> dict[TopicName, str]:
    """Topics that get another schema or lose theirs, with the fingerprint of that change."""
    changed = {
        action.topic: changed_topic_fingerprint(action.topic, action.info)
        for action in actions
        if isinstance(action, RegisterSchema) and action.latest_version is not None
    }
    deleted = [action.topic for action in actions if isinstance(action, DeleteSchema)]
    return changed | {topic: changed_topic_fingerprint(topic, None) for topic in deleted}


def _deletions(actions: Sequence[Action], safety: SafetyConfig) -> tuple[Finding, ...]:
    if safety.allow_deletions:
        return ()
    return tuple(
        make_finding(
            "PLAN-R005",
            f"the schema of {action.topic} would be deleted with all its versions",
            subject=str(action.topic),
            hint="set safety.allowDeletions in gitops.yaml, or write the topic's manifest",
        )
        for action in actions
        if isinstance(action, DeleteSchema)
    )


LocateIn = Callable[[TopicName, str], Location | None]
"""Where a JSON pointer of a topic's definition stands in the files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanInput:
    """What a plan is made from.

    `content` are findings about definitions by topic: they count where the topic changes. `rules`
    are the severities that differ from the table's. `waivers` are all that the files have, those
    of topics that `desired` does not name too; `today` is the day, in UTC, on which they must hold.
    `unread` are topics that the files name and the registry cannot show, with its answers: they are
    neither in `desired` nor in `observed`. `neighbours` are topics that no file names, of
    namespaces whose policies the plan changes: what becomes of their clients counts. `clients` are
    the declared ones, and `readers` the consumers whose languages count. `is_live`: `observed` is
    the registry itself, and not a record of it.
    `left_out` are the namespaces, as the files want them, whose own changes are out of the plan's
    scope: topics are decided by what the registry has. `former_broker` is what held of the brokers
    before `gitops.yaml` was changed, None where that is not known or the same; `next_release` is
    the release that it now says where the cluster still has another, empty for none.
    `observed_clients` are those that statistics showed. `new_topics` are declared by the change
    alone, and no cluster is asked whether they exist.
    """

    registry: str
    address: str
    files: str
    desired: RegistryState
    observed: RegistryState
    broker: BrokerSettings
    safety: SafetyConfig
    locate: LocateIn
    today: datetime.date
    content: Mapping[TopicName, tuple[Finding, ...]] = field(default_factory=dict)
    rules: Mapping[str, Severity] = field(default_factory=dict)
    waivers: tuple[Waiver, ...] = ()
    limit_waivers: tuple[LimitWaiver, ...] = ()
    prune: bool = False
    unread: Mapping[TopicName, str] = field(default_factory=dict)
    neighbours: Mapping[TopicName, TopicState] = field(default_factory=dict)
    clients: tuple[Client, ...] = ()
    readers: Mapping[TopicName, tuple[ClientReader, ...]] = field(default_factory=dict)
    is_live: bool = True
    left_out: Mapping[NamespaceName, NamespaceState] = field(default_factory=dict)
    former_broker: BrokerSettings | None = None
    next_release: str = ""
    observed_clients: ObservedClients | None = None
    new_topics: frozenset[TopicName] = frozenset()
    locate_policy: LocatePolicy | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _PlanParts:
    """What becomes of one topic; `findings` are about its waivers and its own strategy."""

    actions: tuple[Action, ...] = ()
    notices: tuple[Notice, ...] = ()
    findings: tuple[Finding, ...] = ()
    lockouts: TopicLockouts | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicDecisions:
    """What becomes of each topic of the files, and of the clients of each neighbour."""

    topics: Mapping[TopicName, _PlanParts]
    neighbours: Mapping[TopicName, TopicLockouts]

    def topics_with_affected_clients(self) -> frozenset[TopicName]:
        """The topics that get a version, and those whose clients are locked out."""
        changed = {
            topic
            for topic, parts in self.topics.items()
            if any(isinstance(action, RegisterSchema) for action in parts.actions)
        }
        lockouts = [*(parts.lockouts for parts in self.topics.values()), *self.neighbours.values()]
        locked_out = {lockout.change.topic for lockout in lockouts if lockout and lockout.is_any}
        return frozenset(changed | locked_out)


def decide_topics(
    plan_input: PlanInput,
    progress: Progress = no_progress,
    former: TopicDecisions | None = None,
    changed: Collection[TopicName] = (),
) -> TopicDecisions:
    """Decide about each topic; with `former` decisions only about topics that `changed` names."""
    wanted = plan_input.desired.topics
    neighbours = plan_input.neighbours
    if former is not None:
        wanted = {topic: wanted[topic] for topic in changed if topic in wanted}
        neighbours = {topic: neighbours[topic] for topic in changed if topic in neighbours}
    policies = {name: _policies(plan_input, name) for name in {t.namespace for t in wanted}}
    waivers = _waivers_by_topic(plan_input)
    declared = declared_uses(plan_input.clients)
    topics: dict[TopicName, _PlanParts] = {}
    for count, (topic, desired) in enumerate(sorted(wanted.items())):
        progress("comparing schemas", count, len(wanted))
        topics[topic] = _topic(
            plan_input,
            desired,
            policies[topic.namespace],
            waivers.get(topic, ()),
            tuple(declared.get(topic, ())),
        )
    deleted = {action.topic for action in deletions_of_unmanaged(plan_input)}
    if former is not None:
        deleted &= set(changed)
    neighbours = {
        **neighbours,
        **{topic: plan_input.observed.topics[topic] for topic in deleted},
    }
    lockouts: dict[TopicName, TopicLockouts] = {}
    for topic, state in sorted(neighbours.items()):
        change = _topic_change(plan_input, state, state, tuple(declared.get(topic, ())))
        lockouts[topic] = topic_lockouts(replace(change, is_deleted=topic in deleted))
    if former is not None:
        topics = {**former.topics, **topics}
        lockouts = {**former.neighbours, **lockouts}
    return TopicDecisions(topics=topics, neighbours=lockouts)


def make_plan(
    plan_input: PlanInput,
    progress: Progress = no_progress,
    decisions: TopicDecisions | None = None,
) -> Plan:
    """Every difference as an action or a notice: tenants, namespaces, then topics, by name.

    What others need comes first: a namespace its tenant, a topic its namespace, and the topic's own
    policies and its schema the topic. A topic whose clients would be refused between the change of
    its namespace and its own comes before its namespace.

    Topics in `observed` that `desired` does not name are deleted if it says `prune`. `decisions`
    are those of `decide_topics`, None if they are still to be made.
    """
    decisions = decisions or decide_topics(plan_input, progress)
    topics = list(decisions.topics.values())
    neighbours = decisions.neighbours.values()
    lockouts = lockout_report(
        [*(planned.lockouts for planned in topics if planned.lockouts), *neighbours],
        plan_input.waivers,
        plan_input.rules,
        plan_input.today,
    )
    first: list[_PlanParts] = []
    other_plan_parts: list[_PlanParts] = []
    for planned in topics:
        (first if _comes_first(plan_input, planned) else other_plan_parts).append(planned)
    actions = [
        *tenant_actions(plan_input.desired, plan_input.observed),
        *chain.from_iterable(planned.actions for planned in first),
        *namespace_actions(plan_input.desired, plan_input.observed),
        *chain.from_iterable(planned.actions for planned in other_plan_parts),
        *deletions_of_unmanaged(plan_input),
    ]
    notices = [notice for planned in topics for notice in planned.notices]
    observed = _relevant(plan_input)
    changed = changed_topics(actions)
    of_waivers = [finding for planned in topics for finding in planned.findings]
    findings = _findings(plan_input, actions, notices, of_waivers)
    is_over_limit = any(
        finding.rule == "PLAN-R004" and finding.severity > Severity.INFO for finding in findings
    )
    proposals = lockouts.proposals
    if is_over_limit:
        proposals = (*proposals, limit_proposal(changed, plan_input.today))
    return Plan(
        registry=plan_input.registry,
        address=plan_input.address,
        files=plan_input.files,
        broker=plan_input.broker,
        prune=plan_input.prune,
        actions=tuple(actions),
        notices=tuple(notices),
        findings=(*findings, *lockouts.findings),
        proposals=proposals,
        observed=fingerprints.state_fingerprints(observed),
        expected=_expected_state(observed, actions),
        namespaces=len(plan_input.desired.namespaces),
        topics=len(plan_input.desired.topics) + len(plan_input.unread),
        latest={
            topic: latest
            for topic in decisions.topics
            if (latest := observed.topics[topic].history.latest)
        },
        unchanged=sum(not planned.actions and not planned.notices for planned in topics),
    )


def _waivers_by_topic(plan_input: PlanInput) -> dict[TopicName, tuple[Waiver, ...]]:
    grouped: dict[TopicName, tuple[Waiver, ...]] = {}
    for waiver in plan_input.waivers:
        if isinstance(waiver.subject, TopicName):
            grouped[waiver.subject] = (*grouped.get(waiver.subject, ()), waiver)
    return grouped


def _topic(
    plan_input: PlanInput,
    desired: TopicState,
    above: NamespacePolicies,
    waivers: tuple[Waiver, ...],
    declared: tuple[DeclaredUse, ...],
) -> _PlanParts:
    observed = plan_input.observed.topics[desired.topic]

    def holds(own: SchemaCompatibilityStrategy | None) -> SchemaCompatibilityStrategy:
        policies = TopicPolicies(schema_compatibility_strategy=own)
        return effective_strategy(policies, above, plan_input.broker)

    created = topic_creation(desired.topic, plan_input.desired, plan_input.observed)
    settled = settle(desired, observed, waivers, holds)
    by_broker = plan_input.broker.is_schema_validation_enforced
    differing = changes(
        desired.policies,
        settled.state.policies,
        enforced_above=by_broker or bool(above.schema_validation_enforced),
    )
    looser = looser_topic_finding(
        desired,
        settled.state,
        holds,
        plan_input.locate,
        partial(_strategy_removal, plan_input, settled.state),
    )
    if desired.history.latest is None:
        of_waivers = waiver_findings.unneeded_findings(
            waivers, plan_input.today, at_work=settled.waiver
        )
        return _PlanParts(
            actions=(*created, *actions_of(observed, settled, differing, None)),
            findings=(*of_waivers, *looser),
            lockouts=topic_lockouts(_topic_change(plan_input, desired, settled.state, declared)),
        )
    present = replace(settled.state, exists=settled.state.exists or bool(created))
    case = _case(plan_input, desired, present, holds, waivers)
    outcome = plan_topic(case, plan_input.readers.get(desired.topic, ()))
    schema = outcome if isinstance(outcome, RegisterSchema) else None
    waiver_name = schema.waiver if schema else ""
    waiver = next((waiver for waiver in waivers if waiver.name == waiver_name), None)
    change = _topic_change(plan_input, desired, settled.state, declared)
    return _PlanParts(
        actions=(*created, *actions_of(observed, settled, differing, schema)),
        notices=() if outcome is None or isinstance(outcome, RegisterSchema) else (outcome,),
        findings=(
            *waiver_findings.topic_waiver_findings(case, outcome, at_work=settled.waiver),
            *(rolling_upgrade_findings(case, plan_input.broker) if outcome else ()),
            *looser,
        ),
        lockouts=topic_lockouts(
            replace(change, schema=schema, waiver=waiver, location=case.locate(""))
        ),
    )


def _strategy_removal(plan_input: PlanInput, observed: TopicState) -> str:
    """The command that removes a topic's own strategy, empty where it refuses that.

    It does where clients with the latest version could no longer connect, under the namespace's
    policies before the plan or after it.
    """
    topic, none = observed.topic, NamespaceState(namespace=observed.topic.namespace)
    current = plan_input.observed.namespaces.get(topic.namespace, none).policies
    without = replace(observed.policies, schema_compatibility_strategy=None)
    for above in (current, _policies(plan_input, topic.namespace)):
        change = TopicChange(
            topic=topic,
            history=observed.history,
            before=connection_policies(topic, observed.policies, above, plan_input.broker),
            after=connection_policies(topic, without, above, plan_input.broker),
            line=line_of(plan_input.broker),
        )
        findings = policy_lockout_findings(topic.namespace, [topic_lockouts(change)])
        if any(finding.severity is Severity.ERROR for finding in findings):
            return ""
    assignment = "schemaCompatibilityStrategy="
    return f"pulsar-gitops policies set {topic} {assignment} --registry {plan_input.registry}"


def _comes_first(plan_input: PlanInput, planned: _PlanParts) -> bool:
    """Whether the topic's own policies have to change before those of its namespace."""
    if not planned.lockouts or not planned.actions:
        return False
    change = planned.lockouts.change
    above = plan_input.observed.namespaces.get(change.topic.namespace)
    own = plan_input.observed.topics[change.topic].policies
    desired = plan_input.desired.topics[change.topic].policies
    is_of_policies = all(
        isinstance(action, SetPolicy) and not action.waiver for action in planned.actions
    )
    if above is None or not above.exists or not is_of_policies:
        return False
    new_above, new_own = _policies(plan_input, change.topic.namespace), overlay(desired, own)
    if new_above == above.policies:
        return False

    def policies(own: TopicPolicies, above: NamespacePolicies) -> ConnectionPolicies:
        return connection_policies(change.topic, own, above, plan_input.broker)

    return locks_out_meanwhile(change, policies(own, new_above)) and not locks_out_meanwhile(
        change, policies(new_own, above.policies)
    )


def _topic_change(
    plan_input: PlanInput,
    desired: TopicState,
    observed: TopicState,
    declared: tuple[DeclaredUse, ...],
) -> TopicChange:
    """What the plan changes of what decides about a topic's clients, without its schema."""
    topic, broker = observed.topic, plan_input.broker
    none = NamespaceState(namespace=topic.namespace)
    namespace = plan_input.observed.namespaces.get(topic.namespace, none)
    above = _policies(plan_input, topic.namespace)
    own = overlay(desired.policies, observed.policies)
    after = connection_policies(topic, own, above, broker)
    former_broker = plan_input.former_broker or broker
    before = connection_policies(topic, observed.policies, namespace.policies, former_broker)
    clients = plan_input.observed_clients
    seen = clients.topics.get(topic) if clients else None
    is_there = namespace.exists and (
        # A broker shows non-persistent topics without partitions only while they are in use.
        observed.exists or topic.domain == "non-persistent" or bool(seen and seen.is_used)
    )
    wanted_above = plan_input.desired.namespaces.get(topic.namespace, none)
    return TopicChange(
        topic=topic,
        history=observed.history,
        before=before if namespace.exists else after,  # nobody connects to what is not there
        after=after,
        line=line_of(broker),
        declared=declared,
        exists=namespace.exists
        and observed.exists
        and plan_input.is_live
        and is_seen(broker, "release"),  # a cluster, whose topics may have clients
        upgrade=_upgrade(former_broker, broker, plan_input.next_release),
        is_new=topic in plan_input.new_topics or not is_there,
        changed_policies=(
            *((topic, change.key) for change in changes(desired.policies, observed.policies)),
            *(
                (topic.namespace, change.key)
                for change in changes(wanted_above.policies, namespace.policies)
            ),
        ),
        observed=seen,
        is_unread=topic in clients.unread if clients else False,
        locate_policy=plan_input.locate_policy,
    )


def _upgrade(
    before: BrokerSettings, now: BrokerSettings, next_release: str
) -> tuple[BrokerLine, BrokerLine] | None:
    """The broker lines from and to, None where both answer the same or one is not known."""
    after = replace(now, release=next_release) if next_release else now
    if find_line(before.release) is None or find_line(after.release) is None:
        return None
    old, new = line_of(before), line_of(after)
    return (old, new) if old.rules != new.rules else None


def _case(
    plan_input: PlanInput,
    desired: TopicState,
    observed: TopicState,
    holds: Holds,
    waivers: tuple[Waiver, ...],
) -> TopicCase:
    topic, latest = desired.topic, desired.history.latest
    if latest is None:
        raise ValueError(f"{topic} has no desired schema")
    own = _topic_policies(desired, observed).schema_compatibility_strategy
    clients = plan_input.observed_clients
    return TopicCase(
        topic=topic,
        desired=latest.info,
        history=observed.history,
        strategy=holds(own),
        line=line_of(plan_input.broker),
        locate=lambda pointer: plan_input.locate(topic, pointer),
        today=plan_input.today,
        own=own,
        exists=observed.exists,
        content=plan_input.content.get(topic, ()),
        rules=plan_input.rules,
        waivers=waivers,
        clients=plan_input.clients,
        observed=clients.topics.get(topic) if clients else None,
    )


def is_validation_enforced(plan_input: PlanInput, topic: TopicName) -> bool:
    """Whether producers without a schema are refused once the plan is carried out.

    What a topic says of its own comes before its namespace's word, and nobody takes back what the
    broker enforces (Pulsar 4.0.7).
    """
    if plan_input.broker.is_schema_validation_enforced:
        return True
    desired = plan_input.desired.topics.get(topic, TopicState(topic=topic))
    own = _topic_policies(desired, plan_input.observed.topics[topic]).schema_validation_enforced
    above = _policies(plan_input, topic.namespace).schema_validation_enforced
    return bool(above if own is None else own)


def allows_auto_update(plan_input: PlanInput, topic: TopicName) -> bool:
    """Whether clients may register schemas once the plan is carried out."""
    above = _policies(plan_input, topic.namespace)
    return connection_policies(topic, TopicPolicies(), above, plan_input.broker).allows_auto_update


def strategy_of(plan_input: PlanInput, topic: TopicName) -> SchemaCompatibilityStrategy:
    """The strategy that holds for a topic once the plan is carried out."""
    desired = plan_input.desired.topics.get(topic, TopicState(topic=topic))
    observed = plan_input.observed.topics[topic]
    above = _policies(plan_input, topic.namespace)
    return effective_strategy(_topic_policies(desired, observed), above, plan_input.broker)


def _topic_policies(desired: TopicState, observed: TopicState) -> TopicPolicies:
    """The topic's policies once the plan is carried out.

    Those of a non-persistent topic do not count: POST …/schema asks for the persistent topic's
    (Pulsar 4.0.7).
    """
    if desired.topic.domain == "non-persistent":
        return TopicPolicies()
    return overlay(desired.policies, observed.policies)


def _policies(plan_input: PlanInput, name: NamespaceName) -> NamespacePolicies:
    """The namespace's policies as they are once the plan is carried out."""
    none = NamespaceState(namespace=name)
    desired = plan_input.desired.namespaces.get(name, none)
    observed = plan_input.observed.namespaces.get(name, none)
    return overlay(desired.policies, observed.policies)


def deletions_of_unmanaged(plan_input: PlanInput) -> list[DeleteSchema]:
    """The schemas of topics that the files do not name, if they are to be deleted."""
    if not plan_input.prune:
        return []
    return [
        DeleteSchema(topic=topic, versions=tuple(e.version for e in state.history.entries))
        for topic, state in sorted(plan_input.observed.topics.items())
        if topic not in plan_input.desired.topics and state.history.entries
    ]


def _relevant(plan_input: PlanInput) -> RegistryState:
    """What was observed, without what is left of topics that have no schema and no manifest."""
    managed = plan_input.desired.topics
    topics = {
        topic: state if topic in managed or state.history.entries else TopicState(topic=topic)
        for topic, state in plan_input.observed.topics.items()
    }
    return replace(plan_input.observed, topics=topics)


def _findings(
    plan_input: PlanInput,
    actions: list[Action],
    notices: list[Notice],
    of_waivers: list[Finding],
) -> tuple[Finding, ...]:
    """All findings, as `rules` rates them; what is lowered or waived here stays so."""
    unrated = (
        *notice_findings(notices, plan_input.locate),
        *unread_findings(plan_input.unread, plan_input.locate),
        *existence_findings(actions, plan_input.desired, plan_input.observed, plan_input.broker),
        *guard(
            actions,
            plan_input.observed,
            plan_input.safety,
            plan_input.limit_waivers,
            plan_input.today,
        ),
        *deletion_findings(
            {action.topic for action in actions if isinstance(action, DeleteSchema)},
            plan_input.clients,
            plan_input.observed_clients,
        ),
        *conflict_findings(plan_input.broker),
        *doubt_findings(plan_input.broker),
        *pending_namespace_findings(
            plan_input.left_out,
            plan_input.observed,
            {
                topic: _topic_policies(state, plan_input.observed.topics[topic])
                for topic, state in plan_input.desired.topics.items()
            }
            if plan_input.left_out
            else {},
            actions,
            notices,
        ),
        *of_waivers,
    )
    return (
        *apply_severities(unrated, plan_input.rules),
        *action_findings(actions),
        *content_findings(plan_input.content, actions, notices),
    )


def _expected_state(observed: RegistryState, actions: list[Action]) -> dict[str, tuple[str, ...]]:
    """Subject → the fingerprints after each of its actions, in order."""
    now: dict[str, fingerprints.Subject] = {}
    passed: dict[str, list[str]] = {}
    for action in actions:
        seen = fingerprints.state_before(observed, action)
        key = fingerprints.state_name(seen)
        before = now.get(key) or seen
        now[key] = fingerprints.fingerprints_after(before, action)
        passed.setdefault(key, []).append(fingerprints.subject_fingerprint(now[key]))
        if isinstance(action, SetPolicy) and action.sets_back:
            passed[key].append(_set_back_without_schema(observed, now[key]))
    return {key: tuple(prints) for key, prints in sorted(passed.items())}


def _set_back_without_schema(observed: RegistryState, after: fingerprints.Subject) -> str:
    """The topic as an apply leaves it whose registration failed."""
    if not isinstance(after, TopicState):
        raise TypeError(f"{after} cannot be loosened")
    return fingerprints.subject_fingerprint(
        replace(after, history=observed.topics[after.topic].history)
    )


def subject_of(action: Action) -> TenantName | NamespaceName | TopicName:
    """Whom an action is about."""
    match action:
        case CreateTenant():
            return action.tenant
        case CreateNamespace():
            return action.namespace
        case SetPolicy():
            return action.subject
        case CreateTopic() | RegisterSchema() | DeleteSchema():
            return action.topic
