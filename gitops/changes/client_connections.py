"""Whether a declared client may connect to all its topics, now and after the pending plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from gitops.broker.client_libraries import own_form_text, sent_schema
from gitops.broker.connection import Admission, ConnectionTarget, Offer, Role, TopicUse
from gitops.broker.consumer_connection import admit_consumer
from gitops.broker.lines.line import BrokerLine
from gitops.broker.lines.table import find_line, line_of
from gitops.broker.producer_connection import admit_schemas
from gitops.changes.registries import topic_policies
from gitops.changes.repository_plan import PlanRequest, find_losses, read_plan_input
from gitops.model.broker_settings import broker_notes
from gitops.model.clients import (
    Client,
    ClientLanguage,
    ClientSchema,
    Consumes,
    Produces,
    VersionPin,
)
from gitops.model.decision import StoredHistory, StoredSchema
from gitops.model.errors import GitopsError, UsageError
from gitops.model.findings import Location, Severity
from gitops.model.names import TopicName
from gitops.model.plan import Plan, RefusedSchema, RegisterSchema
from gitops.model.rules import apply_severities
from gitops.model.schema import SchemaInfo
from gitops.model.state import RegistryState, Repository, Scope
from gitops.planning.client_readers import assumed_java_notes, misread_versions
from gitops.planning.plan import PlanInput, make_plan
from gitops.planning.refusals import DefinitionLocations, findings_of
from gitops.ports import Registry, UnreadableTopicsError
from gitops.repository.suggestions import did_you_mean_or_list
from gitops.schemas.payload import PayloadError, stored_history, to_stored, to_stored_type

Verdict = Literal["yes", "no", "misreads", "unknown"]
_SEVERITY: Final[tuple[Verdict, ...]] = ("yes", "unknown", "misreads", "no")
_USES: Final[tuple[TopicUse, TopicUse]] = ("idle", "active")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Whether a client may connect; `reason` says why not, or why that is not known.

    A client that "misreads" connects, and then fails on messages of the latest version, or reads
    other values than Java's client would, or fails, on messages of a live version. `admission` is
    the broker's decision, None where it could not be asked.
    """

    verdict: Verdict
    reason: str = ""
    admission: Admission | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredConnection:
    """One schema of a client on one side of a topic.

    `schema` is what the manifest calls it: `v3`, `AUTO_CONSUME`, or the type of a definition; a
    version of another registry than the one that is asked has that one's name.
    """

    topic: TopicName
    role: Role
    subscription: str
    schema: str
    location: Location
    now: Answer
    after_plan: Answer

    @property
    def verdict(self) -> Verdict:
        """The worse one of both answers."""
        return worst((self.now, self.after_plan)).verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientConnections:
    """All connections of a client, in the order of its manifest."""

    client: Client
    line: BrokerLine
    connections: tuple[DeclaredConnection, ...]
    notes: tuple[str, ...]

    @property
    def accepted(self) -> bool:
        """Whether every connection is known to be accepted and to read, now and after the plan."""
        return all(connection.verdict == "yes" for connection in self.connections)


def worst(answers: Iterable[Answer]) -> Answer:
    """The first "no", else the first "misreads", the first "unknown", else the first answer."""
    return max(answers, key=lambda answer: _SEVERITY.index(answer.verdict))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Use:
    """A client's side of a topic; a schema that cannot be had has the reason in its place.

    `own_forms` says of each schema what the client's library sends otherwise than Java's.
    """

    topic: TopicName
    role: Role
    subscription: str
    location: Location
    schemas: tuple[tuple[str, Offer | _NoSchema], ...]
    own_forms: tuple[str, ...]
    language: ClientLanguage | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _NoSchema:
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _TopicMoment:
    """A topic now or after the plan: what decides about its clients, or the answer for them all.

    With an `obstacle` the plan cannot be carried out as it is, so that no yes is certain.
    """

    target: ConnectionTarget | None = None
    answer: Answer | None = None
    obstacle: str = ""


def connect_client(
    name: str, request: PlanRequest, pin_source: Registry | None = None
) -> ClientConnections:
    """Ask the broker's rules about each schema of the client's manifest.

    Versions that it is pinned to are those of `pin_source`: the default registry, where `request`
    is about another one. Raises UsageError for a client that no manifest declares or that names no
    topic, UnplannableError, OutsideError.
    """
    client = _find_client(name, request.repository)
    topics = frozenset(use.topic for use in _declared_uses(client))
    plan_input = read_plan_input(_limit(request, topics))
    plan = make_plan(plan_input)
    losses = find_losses(request.recorded, request.definitions, plan_input, plan)
    losses = tuple(apply_severities(losses, request.repository.config.rules))
    plan = replace(plan, findings=(*plan.findings, *losses))
    pinned = _pinned_schemas(client, plan_input, plan, pin_source)
    uses = (
        *(_resolve(use, client, pinned, pin_source) for use in client.consumes),
        *(_resolve(use, client, pinned, pin_source) for use in client.produces),
    )
    now = {topic: _current_topic(topic, plan_input) for topic in topics}
    after = {topic: _planned_topic(topic, plan_input, plan, now[topic]) for topic in topics}
    answers = zip(
        uses,
        _answers(uses, now, plan_input),
        _answers(uses, after, plan_input),
        strict=True,
    )
    return ClientConnections(
        client=client,
        line=line_of(plan_input.broker),
        connections=tuple(
            DeclaredConnection(
                topic=use.topic,
                role=use.role,
                subscription=use.subscription,
                schema=schema,
                location=use.location,
                now=current,
                after_plan=planned,
            )
            for use, use_now, use_after in answers
            for (schema, _), current, planned in zip(use.schemas, use_now, use_after, strict=True)
        ),
        notes=(
            *_language_notes(client, uses, after),
            *broker_notes(plan_input.broker),
        ),
    )


def _language_notes(
    client: Client, uses: Sequence[_Use], topics: Mapping[TopicName, _TopicMoment]
) -> Iterator[str]:
    """What a client without a language may misread, by topic."""
    if client.language is not None:
        return
    for use in uses:
        target = topics[use.topic].target
        if use.role != "consumer" or target is None:
            continue
        for _, offer in use.schemas:
            if isinstance(offer, StoredSchema):
                for note in assumed_java_notes(offer, target):
                    yield f"{use.topic}: {note} (`language:` in {client.location.file} names it)"


def _find_client(name: str, repository: Repository) -> Client:
    for client in repository.clients:
        if client.name == name:
            if not client.consumes and not client.produces:
                raise UsageError(
                    f"client '{name}' names no topic",
                    where=str(client.location),
                    hint="declare what it consumes and produces",
                )
            return client
    known = sorted(client.name for client in repository.clients)
    hint = did_you_mean_or_list(name, known) or "clients/NAME.yaml declares a client"
    raise UsageError(f"no manifest in clients/ declares client '{name}'", hint=hint)


def _declared_uses(client: Client) -> tuple[Consumes | Produces, ...]:
    return (*client.consumes, *client.produces)


def _limit(request: PlanRequest, topics: frozenset[TopicName]) -> PlanRequest:
    """The request for the plan of these topics alone, and of what contains them."""
    namespaces = frozenset(topic.namespace for topic in topics)
    tenants = {namespace.tenant for namespace in namespaces}
    desired = request.repository.desired
    limited = RegistryState(
        namespaces={k: v for k, v in desired.namespaces.items() if k in namespaces},
        topics={k: v for k, v in desired.topics.items() if k in topics},
        tenants={k: v for k, v in desired.tenants.items() if k.name in tenants},
        partitions={k: v for k, v in desired.partitions.items() if k in topics},
    )
    return replace(
        request,
        repository=replace(request.repository, desired=limited),
        reviewed=Scope(namespaces=namespaces, topics=topics),
    )


def _pinned_schemas(
    client: Client, plan_input: PlanInput, plan: Plan, pin_source: Registry | None
) -> dict[tuple[TopicName, int], SchemaInfo | _NoSchema]:
    """The schemas of the versions that the client is pinned to, by topic and version."""
    pins = {
        (use.topic, schema.version)
        for use in _declared_uses(client)
        for schema in use.schemas
        if isinstance(schema, VersionPin)
    }
    registry, observed, reason = plan_input.registry, plan_input.observed, ""
    if pins and pin_source is not None:
        topics = frozenset(topic for topic, _ in pins)
        spaces = frozenset(topic.namespace for topic in topics)
        scope = Scope(namespaces=spaces, topics=topics, topic_policies=False)
        registry = pin_source.name
        try:
            observed = pin_source.observe(scope)
        except UnreadableTopicsError as error:
            observed = error.state
        except GitopsError as error:
            observed, reason = RegistryState(), f"{error.what} (registry '{registry}')"
    schemas: dict[tuple[TopicName, int], SchemaInfo | _NoSchema] = {
        pin: _NoSchema(
            reason=reason
            or f"registry '{registry}' has no v{pin[1]} of it, so that the schema "
            "of this client is not known"
        )
        for pin in pins
    }
    for topic, state in observed.topics.items():
        for entry in state.history.entries:
            if (topic, entry.version) in pins:
                schemas[topic, entry.version] = entry.info
    for action in plan.actions if pin_source is None else ():
        if isinstance(action, RegisterSchema) and (action.topic, action.version) in pins:
            schemas[action.topic, action.version] = action.info
    return schemas


def _resolve(
    use: Consumes | Produces,
    client: Client,
    pinned: Mapping[tuple[TopicName, int], SchemaInfo | _NoSchema],
    pin_source: Registry | None,
) -> _Use:
    schemas: list[tuple[str, Offer | _NoSchema]] = []
    own_forms: list[str] = []
    for schema in use.schemas:
        name, info = _named_schema(schema, use.topic, pinned)
        if pin_source is not None and isinstance(schema, VersionPin):
            name = f"{name} of registry '{pin_source.name}'"
        own_form = ""
        if isinstance(info, SchemaInfo):
            own_form = own_form_text(info, client.language)
            info = sent_schema(info, client.language)
        own_forms.append(own_form)
        if isinstance(info, SchemaInfo):
            try:
                schemas.append((name, to_stored(info)))
            except PayloadError as error:
                schemas.append((name, _NoSchema(reason=f"the schema cannot be read: {error}")))
        else:
            schemas.append((name, info))
    return _Use(
        topic=use.topic,
        role="consumer" if isinstance(use, Consumes) else "producer",
        subscription=use.subscription if isinstance(use, Consumes) else "",
        location=use.location,
        schemas=tuple(schemas),
        own_forms=tuple(own_forms),
        language=client.language,
    )


def _named_schema(
    schema: ClientSchema,
    topic: TopicName,
    pinned: Mapping[tuple[TopicName, int], SchemaInfo | _NoSchema],
) -> tuple[str, SchemaInfo | Offer | _NoSchema]:
    if isinstance(schema, VersionPin):
        return f"v{schema.version}", pinned[topic, schema.version]
    return (schema.type.value if isinstance(schema, SchemaInfo) else schema), schema


def _current_topic(topic: TopicName, plan_input: PlanInput) -> _TopicMoment:
    """The topic as the registry has it."""
    observed = plan_input.observed
    if topic in plan_input.unread or topic not in observed.topics:
        reason = plan_input.unread.get(topic, "the registry does not show the topic")
        return _TopicMoment(answer=Answer(verdict="unknown", reason=reason))
    try:
        history = stored_history(observed.topics[topic].history)
    except PayloadError as error:
        reason = f"the registry contains a schema that cannot be read: {error}"
        return _TopicMoment(answer=Answer(verdict="unknown", reason=reason))
    policies = topic_policies(topic, observed, RegistryState(), plan_input.broker)
    line = line_of(plan_input.broker)
    target = ConnectionTarget(history=history, policies=policies, line=line)
    if not observed.namespaces[topic.namespace].exists:
        no = Answer(verdict="no", reason=f"there is no namespace '{topic.namespace}'")
        return _TopicMoment(target=target, answer=no)
    return _TopicMoment(target=target)


def _planned_topic(
    topic: TopicName, plan_input: PlanInput, plan: Plan, current: _TopicMoment
) -> _TopicMoment:
    """The topic once the plan is carried out; not known where the plan cannot be."""
    if current.target is None:
        return current
    subjects = {str(topic), str(topic.namespace), topic.namespace.tenant}
    obstacle = next(
        (
            f"the plan cannot be applied: {finding.message}"
            for group in plan.findings
            for finding in group.members
            if finding.severity is Severity.ERROR and finding.subject in subjects
        ),
        "",
    )
    for notice in plan.notices:
        if isinstance(notice, RefusedSchema) and notice.topic == topic:
            reason = "the plan cannot be applied: the schema of the files is refused"
            return _TopicMoment(answer=Answer(verdict="unknown", reason=reason))
    if current.answer is not None and topic.namespace not in plan_input.desired.namespaces:
        return current
    history = current.target.history
    for action in plan.actions:
        if isinstance(action, RegisterSchema) and action.topic == topic:
            entry = (action.version, to_stored_type(to_stored(action.info)))
            history = StoredHistory(
                entries=(*history.entries, entry), next_version=action.version + 1
            )
    policies = topic_policies(topic, plan_input.observed, plan_input.desired, plan_input.broker)
    target = replace(current.target, history=history, policies=policies)
    return _TopicMoment(target=target, obstacle=obstacle)


def _answers(
    uses: Sequence[_Use], topics: Mapping[TopicName, _TopicMoment], plan_input: PlanInput
) -> list[list[Answer]]:
    """For each use the answer to each of its schemas: the worst of any release in the cluster."""
    by_release = []
    for release in (plan_input.broker.release, *plan_input.broker.other_releases):
        line = find_line(release)
        by_release.append([_use_answers(use, uses, topics[use.topic], line) for use in uses])
        if release != plan_input.broker.release:
            by_release[-1] = [
                [_other_release_answer(release, answer) for answer in answers]
                for answers in by_release[-1]
            ]
    return [
        [worst(same_schema) for same_schema in zip(*answers, strict=True)]
        for answers in zip(*by_release, strict=True)
    ]


def _other_release_answer(release: str, answer: Answer) -> Answer:
    if answer.verdict == "yes":
        return answer
    reason = f"the cluster also has brokers of {release}: {answer.reason}"
    return replace(answer, reason=reason)


def _use_answers(
    use: _Use, uses: Sequence[_Use], topic: _TopicMoment, line: BrokerLine | None
) -> list[Answer]:
    """The answers to one use's schemas, also after the client's other uses of the topic.

    Whichever connects first may register a schema that keeps out the others.
    """
    if topic.answer is not None:
        return [topic.answer for _ in use.schemas]
    if topic.target is None or line is None:
        no_profile = Answer(verdict="unknown", reason="there is no profile of this release")
        return [no_profile for _ in use.schemas]
    target = replace(topic.target, line=line)
    answers, _ = _connect(use, target)
    for other_use in uses:
        if other_use is use or other_use.topic != use.topic:
            continue
        _, history = _connect(other_use, target)
        if history == target.history:
            continue
        later, _ = _connect(use, replace(target, history=history))
        after = f"once the client itself, as a {other_use.role}, has registered its schema"
        later = [
            answer
            if answer.verdict == "yes"
            else replace(answer, reason=f"{after}: {answer.reason}")
            for answer in later
        ]
        answers = [worst(pair) for pair in zip(answers, later, strict=True)]
    if topic.obstacle:
        obstacle = Answer(verdict="unknown", reason=topic.obstacle)
        answers = [worst((answer, obstacle)) for answer in answers]
    return [
        replace(answer, reason=f"{answer.reason} ({own_form})")
        if own_form and answer.verdict == "no"
        else answer
        for answer, own_form in zip(answers, use.own_forms, strict=True)
    ]


def _connect(use: _Use, target: ConnectionTarget) -> tuple[list[Answer], StoredHistory]:
    """The answers to a use's schemas, and the topic's history afterwards."""
    connect = _connect_consumer if use.role == "consumer" else _connect_producer
    return connect(use, target)


def _connect_consumer(use: _Use, target: ConnectionTarget) -> tuple[list[Answer], StoredHistory]:
    """Several schemas are those of several consumers."""
    answers, history = [], target.history
    for _, offer in use.schemas:
        if isinstance(offer, _NoSchema):
            answers.append(Answer(verdict="unknown", reason=offer.reason))
            continue
        idle, active = (
            admit_consumer(replace(target, use=topic_use), offer) for topic_use in _USES
        )
        if idle.accepted is not active.accepted:
            reason = (
                "the topic has no schema, and a broker accepts this consumer only while nobody "
                f"uses the topic: {active.decision.reason}"
            )
            answers.append(Answer(verdict="unknown", reason=reason, admission=idle))
        elif idle.registers and not active.registers:
            reason = f"it registers its schema as v{idle.version} if nobody uses the topic by then"
            answers.append(Answer(verdict="yes", reason=reason, admission=idle))
        else:
            answers.append(_reading_answer(use, offer, target) or _answer_of(idle))
        if idle.registers:
            history = idle.history_after(target.history)
            again = admit_consumer(replace(target, history=history, use="active"), offer)
            if not again.accepted:
                answers[-1] = Answer(
                    verdict="no",
                    reason="its own schema becomes the topic's, and it is refused when it "
                    f"reconnects: {_refusal(again)}",
                    admission=idle,
                )
    return answers, history


def _reading_answer(use: _Use, offer: Offer, target: ConnectionTarget) -> Answer | None:
    """What a consumer that is let in misreads of messages of live versions, None for nothing."""
    if not isinstance(offer, StoredSchema):
        return None
    admission = admit_consumer(target, offer)
    if not admission.accepted:
        return None
    misread = misread_versions(use.language, offer, target)
    if not misread:
        return None
    remainder = f" ({len(misread) - 1} more)" if len(misread) > 1 else ""
    return Answer(verdict="misreads", reason=f"{misread[0].text}{remainder}", admission=admission)


def _connect_producer(use: _Use, target: ConnectionTarget) -> tuple[list[Answer], StoredHistory]:
    """The first schema connects, the others are those of further messages."""
    offers = [offer for _, offer in use.schemas if not isinstance(offer, _NoSchema)]
    admissions = iter(admit_schemas(target, offers) if offers else ())
    answers, history = [], target.history
    for _, offer in use.schemas:
        if isinstance(offer, _NoSchema):
            answers.append(Answer(verdict="unknown", reason=offer.reason))
            continue
        admission = next(admissions, None)
        if admission is None:
            reason = "the producer is refused with its first schema"
            answers.append(Answer(verdict="no", reason=reason))
            continue
        answers.append(_answer_of(admission))
        history = admission.history_after(history)
    return answers, history


def _answer_of(admission: Admission) -> Answer:
    if admission.accepted:
        return Answer(verdict="yes", admission=admission)
    return Answer(verdict="no", reason=_refusal(admission), admission=admission)


def _refusal(admission: Admission) -> str:
    """The first incompatibility, else the broker's own words."""
    if not admission.decision.incompatibilities:
        return admission.decision.reason
    nowhere = DefinitionLocations(new=lambda _: None)
    finding = findings_of("", admission.decision, nowhere)[0]
    return finding.message.replace("the new schema", "its schema")
