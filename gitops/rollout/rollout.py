"""The rollout of a change on one registry: from its files and its plan to steps and findings."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Final

from gitops.broker.lines.table import line_of
from gitops.model.clients import Client, Consumes, Produces, VersionPin
from gitops.model.findings import Finding
from gitops.model.names import TopicName
from gitops.model.plan import Plan, RefusedSchema, RegisterSchema
from gitops.model.policy import BrokerSettings, SchemaCompatibilityStrategy
from gitops.model.rollout import (
    Block,
    Constraint,
    Migration,
    Role,
    Rollout,
    Side,
    Upgrade,
)
from gitops.model.state import RegistryState, Repository, Scope
from gitops.planning.lockout_findings import clients_named_by_plan
from gitops.planning.plan import (
    PlanInput,
    allows_auto_update,
    is_validation_enforced,
    make_plan,
    strategy_of,
)
from gitops.planning.rolling_upgrade import other_answers
from gitops.ports import Registry
from gitops.rollout.client_findings import ClientFindings
from gitops.rollout.declared_clients import Services
from gitops.rollout.model import RolloutModel, Rules, Service, TopicModel
from gitops.rollout.order import migration, next_name
from gitops.rollout.readers import kind_of, readable
from gitops.rollout.split_upgrades import solve_with_few_merges
from gitops.rollout.undeclared_clients import undeclared_clients
from gitops.schemas.payload import PayloadError, stored_history

_NAMESPACES: Final = "namespaces"


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutRequest:
    """Both versions of the files, and what `plan` of the change was made from.

    Clients are pinned to versions of the default registry. `before` is the input of the base,
    whose policies hold until the change is applied. A topic whose manifest goes is one whose schema
    may be deleted, once nobody uses it. `paths` are all files of the head, also those that the
    change does not touch. `reference` is the base as the user names it, empty where nothing is
    compared with a base.
    """

    base: Repository
    head: Repository
    plan_input: PlanInput
    plan: Plan
    before: PlanInput
    paths: Collection[str] = ()
    reference: str = ""


def add_client_topics(
    plan_input: PlanInput, registry: Registry, repository: Repository
) -> PlanInput:
    """What the registry holds of topics that clients use and no manifest declares, too.

    Only the default registry is asked: of others nobody declares what clients use.
    """
    observed = plan_input.observed
    other_topics = frozenset(use.topic for client in repository.clients for use in _uses(client))
    other_topics -= observed.topics.keys()
    if not other_topics or plan_input.registry != repository.config.default_registry:
        return plan_input
    spaces = frozenset(topic.namespace for topic in other_topics) - observed.namespaces.keys()
    registry_state = registry.observe(Scope(namespaces=spaces, topics=other_topics))
    whole = replace(
        observed,
        namespaces={**observed.namespaces, **registry_state.namespaces},
        topics={**observed.topics, **registry_state.topics},
    )
    return replace(plan_input, observed=whole)


def registry_rollout_request(
    repository: Repository, plan_input: PlanInput, plan: Plan, paths: Collection[str] = ()
) -> RolloutRequest:
    """From what the registry holds to what the files say, with no change between commits.

    What runs is what the clients declare. Who is pinned to a version that is not there yet does
    not run with it: it comes in once that is registered.
    """
    clients = tuple(_running_clients(client, plan_input.observed) for client in repository.clients)
    base = replace(repository, clients=clients)
    return RolloutRequest(
        base=base,
        head=repository,
        plan_input=plan_input,
        plan=plan,
        before=replace(plan_input, desired=RegistryState()),
        paths=paths,
    )


def _running_clients(client: Client, observed: RegistryState) -> Client:
    def runs(use: Consumes | Produces) -> bool:
        state = observed.topics.get(use.topic)
        held = {entry.version for entry in state.history.entries} if state else set()
        pins = [schema.version for schema in use.schemas if isinstance(schema, VersionPin)]
        return state is None or held.issuperset(pins)

    return replace(
        client,
        consumes=tuple(filter(runs, client.consumes)),
        produces=tuple(filter(runs, client.produces)),
    )


def rollout_of(request: RolloutRequest) -> tuple[Rollout, tuple[Finding, ...]]:
    """The steps, and what is to be said of the declared clients.

    Of registries other than the default one nobody declares what clients use, so that only the
    strategies speak. Of several releases in the cluster the oldest decides.
    """
    rollout, findings = _rollout_of_release(request)
    return replace(rollout, notes=tuple(_release_notes(request))), findings


def _release_notes(request: RolloutRequest) -> Iterator[str]:
    """The other releases in the cluster by which the steps would be others."""
    broker = request.plan_input.broker

    def order(broker_settings: BrokerSettings) -> tuple[object, ...]:
        plan_input = replace(request.plan_input, broker=broker_settings)
        before = replace(request.before, broker=broker_settings)
        asked = replace(request, plan_input=plan_input, plan=make_plan(plan_input), before=before)
        rollout, _ = _rollout_of_release(asked)
        return rollout.steps, rollout.blocks, rollout.broken, rollout.may_stay, rollout.refused

    if not broker.other_releases:
        return
    ours = order(broker)
    for release, items in other_answers(broker, order):
        if items != ours:
            line = line_of(replace(broker, release=release)).name
            yield (
                f"the cluster also has brokers of {release}, and by those the steps are others: "
                f"`--as-if-broker {line}` shows them"
            )


def _rollout_of_release(request: RolloutRequest) -> tuple[Rollout, tuple[Finding, ...]]:
    topics = dict(_topics(request))
    makes = Services(topics)
    is_default = request.plan_input.registry == request.head.config.default_registry
    sides = (request.base.clients, request.head.clients) if is_default else ((), ())
    services = makes.services(*sides)
    model, constraints, rollout = solve_with_few_merges(
        RolloutModel(topics=topics, services=services)
    )
    refused = _refused_topics(request)
    clients = {client.name: client for client in (*request.base.clients, *request.head.clients)}
    blocked = frozenset(topic for block in rollout.blocks for topic in block.topics)
    lost = frozenset(
        member.subject
        for finding in request.plan.findings
        if finding.rule == "PLAN-R023"
        for member in finding.members
    )
    client_findings = ClientFindings(clients, request.reference, blocked, lost)
    named = clients_named_by_plan(request.plan.findings)
    blocks = tuple(
        replace(block, in_plan=bool(_locked_out(block) & named)) for block in rollout.blocks
    )
    own_blocks = [block for block in blocks if not block.in_plan]
    findings = [*makes.findings, *client_findings.blocks(own_blocks)]
    findings += client_findings.broken(constraints.broken)
    waits = [
        constraint
        for constraint in constraints.before
        if not any(_is_told(constraint, block) for block in rollout.blocks)
        and not _locked_out(constraint) & named
    ]
    findings += client_findings.too_early(tuple(waits), services)
    registry = request.plan_input.registry
    # The record of the base comes first: a change must not be able to drop clients from it.
    observed = request.base.observed_clients.get(registry)
    observed = observed or request.head.observed_clients.get(registry)
    if observed is not None:
        changed = [
            name for name, topic in topics.items() if topic.new or topic.earlier or topic.deleted
        ]
        findings += undeclared_clients(changed, observed, request.head.clients)
    strategies = _strategies(topics, refused, services)
    rollout = replace(
        rollout,
        blocks=blocks,
        broken=(*rollout.broken, *makes.lost),
        sides={service.name: _sides(service) for service in model.services},
        later=dict(_later_sides(services, model.services)),
        left={service.name: left for service in services if (left := _left_topics(service))},
        refused=tuple(refused),
        migrations=tuple(_migrations(request, rollout, refused, services, topics)),
        strategies=strategies,
        client_registry=_client_registry(request, strategies),
        locked_out=frozenset[tuple[str, str]]().union(
            *map(_locked_out, own_blocks), *map(_locked_out, waits)
        ),
    )
    return rollout, tuple(findings)


def _locked_out(refusal: Block | Constraint) -> frozenset[tuple[str, str]]:
    """Topic and client, if it is about a client that the broker lets in now and refuses then."""
    if not refusal.is_lockout:
        return frozenset()
    if isinstance(refusal, Block):
        topics, steps = refusal.topics, refusal.steps
    else:
        topics, steps = (refusal.topic,), (refusal.first,)
    return frozenset(
        (str(topic), step.service)
        for topic in topics
        for step in steps
        if isinstance(step, Upgrade)
    )


def _is_told(constraint: Constraint, block: Block) -> bool:
    """Whether it is between steps that wait for each other: no advice about two of them helps."""
    return constraint.first in block.steps and constraint.then in block.steps


def _refused_topics(request: RolloutRequest) -> dict[TopicName, RefusedSchema]:
    """The topics whose next schema, or first one, Pulsar does not take."""
    return {
        notice.topic: notice
        for notice in request.plan.notices
        if isinstance(notice, RefusedSchema) and not notice.accepted
    }


def _migrations(
    request: RolloutRequest,
    rollout: Rollout,
    refused: Mapping[TopicName, RefusedSchema],
    services: tuple[Service, ...],
    topics: Mapping[TopicName, TopicModel],
) -> Iterator[Migration]:
    """A way for each topic of the base whose new schema no order leads to.

    There is nobody to move from a topic whose first schema is refused.
    """
    blocked = {topic for block in rollout.blocks for topic in block.topics}
    wanted = {
        topic: refusal.info
        for topic, refusal in refused.items()
        if refusal.latest_version is not None
    }
    for action in request.plan.actions:
        if isinstance(action, RegisterSchema) and action.topic in blocked and not action.waiver:
            wanted[action.topic] = action.info
    taken = _taken_names(request)
    for topic, info in sorted(wanted.items()):
        if topic not in request.base.desired.topics:
            continue  # the change brings it, under the name that it likes
        if topic in topics and _has_kinds(topics[topic]):
            continue  # a topic of one kind of event takes the place of none that has several
        to = next_name(topic, taken)
        taken.add((str(to.namespace), to.local_name))
        strategy = strategy_of(request.plan_input, topic)
        line = line_of(request.plan_input.broker)
        if result := migration(topic, to, services, (info, strategy), line):
            yield result


def _taken_names(request: RolloutRequest) -> set[tuple[str, str]]:
    """What topics are called, and what a topic's files would be named after."""
    topics = (*request.base.desired.topics, *request.head.desired.topics)
    files = [path for path in map(PurePosixPath, request.paths) if path.parts[0] == _NAMESPACES]
    return {
        *((str(topic.namespace), topic.local_name) for topic in topics),
        *(("/".join(path.parent.parts[1:]), path.stem) for path in files),
    }


def _has_kinds(topic: TopicModel) -> bool:
    """Whether it holds several kinds of event, as it may where nothing is checked."""
    kinds = {kind_of(info) for _, info in readable(topic.history)}
    return topic.strategy is SchemaCompatibilityStrategy.ALWAYS_COMPATIBLE and len(kinds) > 1


def _strategies(
    topics: Mapping[TopicName, TopicModel],
    refused: Collection[TopicName],
    services: tuple[Service, ...],
) -> dict[TopicName, SchemaCompatibilityStrategy]:
    """Of topics whose clients nobody declares, if they have clients already."""
    used = {use.topic for service in services for use in (*service.before, *service.after)}
    return {
        name: topic.strategy
        for name, topic in topics.items()
        if (topic.new or name in refused) and topic.history.entries and name not in used
    }


def _client_registry(request: RolloutRequest, topics: Collection[TopicName]) -> str:
    """The default registry, where this is another one and clients of the topics are declared."""
    default = request.head.config.default_registry
    clients = (*request.base.clients, *request.head.clients)
    used = {use.topic for client in clients for use in _uses(client)}
    is_other = request.plan_input.registry != default
    return default if is_other and not used.isdisjoint(topics) else ""


def _sides(service: Service) -> tuple[Side, ...]:
    """What it is on the topics where it changes; and what it is no longer."""
    uses = [
        *(use for use in service.before if use not in service.after),
        *(use for use in service.after if use not in service.before),
    ]
    stays = {(use.role, use.topic) for use in service.after}
    items = (
        Side(role=use.role, topic=use.topic, leaves=(use.role, use.topic) not in stays)
        for use in uses
    )
    return tuple(dict.fromkeys(items))


def _later_sides(
    whole: tuple[Service, ...], first_parts: tuple[Service, ...]
) -> Iterator[tuple[str, tuple[Side, ...]]]:
    """What is left of upgrades that come in two parts."""
    for service, first in zip(whole, first_parts, strict=True):
        if service.after != first.after:
            yield service.name, _sides(replace(service, before=first.after))


def _left_topics(service: Service) -> tuple[TopicName, ...]:
    """The topics that it consumes no more."""
    before, after = (
        {use.topic for use in uses if use.role is Role.CONSUMER}
        for uses in (service.before, service.after)
    )
    return tuple(sorted(before - after))


def _topics(request: RolloutRequest) -> Iterator[tuple[TopicName, TopicModel]]:
    plan, plan_input = request.plan, request.plan_input
    new = {action.topic: action for action in plan.actions if isinstance(action, RegisterSchema)}
    deleted = request.base.desired.topics.keys() - request.head.desired.topics.keys()
    for topic, state in sorted(plan_input.observed.topics.items()):
        try:
            history = stored_history(state.history)
        except PayloadError:
            continue  # the plan says that it cannot be read
        yield (
            topic,
            TopicModel(
                topic=topic,
                history=history,
                line=line_of(plan_input.broker),
                new=(new[topic].info,) if topic in new else (),
                strategy=strategy_of(plan_input, topic),
                is_schema_validation_enforced=is_validation_enforced(plan_input, topic),
                allows_auto_update=allows_auto_update(plan_input, topic),
                earlier=_rules(request.before, topic),
                deleted=topic in deleted,
            ),
        )


def _rules(plan_input: PlanInput, topic: TopicName) -> Rules:
    return Rules(
        strategy=strategy_of(plan_input, topic),
        is_schema_validation_enforced=is_validation_enforced(plan_input, topic),
        allows_auto_update=allows_auto_update(plan_input, topic),
    )


def _uses(client: Client) -> list[Consumes | Produces]:
    return [*client.consumes, *client.produces]
