"""Clients that can connect before a plan and not after it, whether or not anybody declares them.

A broker decides about a client when it connects, by the policies and versions of that moment. A
stricter policy, or a version that a waiver lets in, can therefore keep out clients that nobody
changed: under FULL_TRANSITIVE every consumer is compared with all live versions, and
ALWAYS_INCOMPATIBLE refuses even a consumer with the latest version (Pulsar 4.0.7). Clients are
asked about as on a topic in use: an idle topic accepts more, until its first client connects.
A topic in use that has no schema accepts consumers with a schema under ALWAYS_COMPATIBLE alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from gitops.broker.client_libraries import sent_schema
from gitops.broker.connection import (
    ConnectionPolicies,
    ConnectionTarget,
    Offer,
    Role,
)
from gitops.broker.lines.line import BrokerLine
from gitops.broker.lockouts import (
    ROLES,
    ClientKind,
    Lockout,
    admit,
    find_lockouts,
    is_stricter_for_consumers,
)
from gitops.broker.registration import CANDIDATE, register
from gitops.model.clients import (
    Client,
    ClientLanguage,
    ClientSchema,
    ObservedTopic,
    VersionPin,
)
from gitops.model.decision import StoredHistory, StoredSchema
from gitops.model.findings import Location
from gitops.model.names import NamespaceName, TopicName
from gitops.model.plan import RegisterSchema
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.model.rollout_reason import name_list
from gitops.model.schema import SchemaEntry, SchemaHistory, SchemaInfo
from gitops.model.waivers import Waiver
from gitops.planning.fingerprints import is_same
from gitops.planning.refusals import TopicCase, version_list
from gitops.schemas.payload import PayloadError, stored_history, to_stored, to_stored_type
from gitops.schemas.strategies import TRANSITIVE
from gitops.schemas.types import other_primitive

LocatePolicy = Callable[[NamespaceName | TopicName | None, str], Location | None]
"""Returns the line of a policy of a topic or a namespace, or with None that of a broker setting in
`gitops.yaml`."""


def client_kinds(
    history: SchemaHistory, stored: StoredHistory, declared: Iterable[DeclaredUse] = ()
) -> tuple[ClientKind, ...]:
    """Clients of each live version, newest first, without a schema, and with declared ones.

    A client that is declared twice, before and after a change, counts once.
    """
    names: dict[tuple[Role, int | None], dict[str, None]] = {}
    own: list[ClientKind] = []
    for use in declared:
        schema = _sent_schema(use, history)
        version = _version(schema, history)
        if version is not None or schema == "NONE":
            names.setdefault((use.role, version), {})[use.client] = None
        elif isinstance(schema, SchemaInfo) and (offer := _stored(schema)):
            kind = ClientKind(role=use.role, offer=offer, clients=(use.client,))
            if kind not in own:
                own.append(kind)
    offers: list[tuple[int | None, Offer]] = [*reversed(stored.entries), (None, "NONE")]
    return (
        *(
            ClientKind(
                role=role,
                offer=offer,
                version=version,
                clients=tuple(names.get((role, version), ())),
            )
            for version, offer in offers
            for role in ROLES
        ),
        *own,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredUse:
    """What a declared client does on a topic, with one of its schemas.

    `subscription` is empty for producers.
    """

    client: str
    role: Role
    schema: ClientSchema
    language: ClientLanguage | None = None
    subscription: str = ""


def declared_uses(clients: Iterable[Client]) -> dict[TopicName, list[DeclaredUse]]:
    """What all clients declare, by topic."""
    uses: dict[TopicName, list[DeclaredUse]] = {}
    for client in clients:
        sides: tuple[tuple[Role, TopicName, str, Sequence[ClientSchema]], ...] = (
            *(("consumer", use.topic, use.subscription, use.schemas) for use in client.consumes),
            *(("producer", use.topic, "", use.schemas) for use in client.produces),
        )
        for role, topic, subscription, schemas in sides:
            for schema in schemas:
                use = DeclaredUse(
                    client=client.name,
                    role=role,
                    schema=schema,
                    language=client.language,
                    subscription=subscription,
                )
                uses.setdefault(topic, []).append(use)
    return uses


def _sent_schema(use: DeclaredUse, history: SchemaHistory) -> ClientSchema:
    """The schema of a use; of a pin what the client's library sends for the version's schema."""
    pin = use.schema
    if not isinstance(pin, VersionPin):
        return pin
    version = next((e.info for e in history.entries if e.version == pin.version), None)
    sent = version and sent_schema(version, use.language)
    return pin if sent is None or sent == version else sent


def _version(schema: ClientSchema, history: SchemaHistory) -> int | None:
    if isinstance(schema, VersionPin):
        return schema.version
    if isinstance(schema, SchemaInfo):
        same = (entry.version for entry in history.entries if is_same(entry.info, schema))
        return next(same, None)
    return None


def _stored(schema: SchemaInfo) -> StoredSchema | None:
    try:
        return to_stored_type(to_stored(schema))
    except PayloadError:
        return None


def _unversioned_kinds(
    first: SchemaHistory, stored: StoredHistory, declared: Iterable[DeclaredUse]
) -> tuple[ClientKind, ...]:
    """Clients of a topic without a version: all consumers with a schema, and declared producers.

    Other producers have no schema, or they would have registered it. `first` has the version that
    the topic gets, if it gets one: clients with that are left out, and the example of the others is
    of another type.
    """
    return (
        *(
            kind
            for kind in client_kinds(first, stored, declared)
            if kind.version is None and kind.offer != "NONE"
        ),
        _consumer_with_another_schema(stored),
    )


def _consumer_with_another_schema(history: StoredHistory) -> ClientKind:
    """An example of consumers whose schema is no version, and fits none."""
    example = other_primitive({schema.type for _, schema in history.entries})
    return ClientKind(role="consumer", offer=StoredSchema(type=example, data=b""), is_example=True)


# One topic of a plan: first its policies change, then its next version is registered.


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicChange:
    """A topic with what a plan changes of what decides about its clients.

    `before` and `after` are the policies in force; `schema` is what is registered, if anything is.
    `upgrade` are the broker lines that `gitops.yaml` moves from and to, None for no other line.
    `is_deleted`: all versions are deleted. `exists`: the registry is known to have the topic, so
    that it may have clients already; `is_new`: nobody has it yet. `changed_policies` are those that
    are other ones, with the subject that sets each.
    `waiver` lets the schema in, if it needs one. `observed` is what statistics show of its clients,
    None where nothing is known; `is_unread`: they could not be read. `locate_policy` finds the line
    of a policy, None where the change is not made of files.
    """

    topic: TopicName
    history: SchemaHistory
    before: ConnectionPolicies
    after: ConnectionPolicies
    line: BrokerLine
    schema: RegisterSchema | None = None
    waiver: Waiver | None = None
    is_deleted: bool = False
    declared: tuple[DeclaredUse, ...] = ()
    location: Location | None = None
    exists: bool = True
    is_new: bool = False
    changed_policies: tuple[tuple[NamespaceName | TopicName, str], ...] = ()
    upgrade: tuple[BrokerLine, BrokerLine] | None = None
    observed: ObservedTopic | None = None
    is_unread: bool = False
    locate_policy: LocatePolicy | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicLockouts:
    """Who is locked out of one topic by another broker line, its policies, its next version.

    Or by the deletion of its schema: kinds of clients that nobody declares.
    """

    change: TopicChange
    by_broker: tuple[Lockout, ...] = ()
    by_policy: tuple[Lockout, ...] = ()
    by_schema: tuple[Lockout, ...] = ()
    by_deletion: tuple[Lockout, ...] = ()

    @property
    def is_any(self) -> bool:
        """Whether anybody is locked out."""
        return bool(self.by_broker or self.by_policy or self.by_schema or self.by_deletion)

    @property
    def clients_by_schema(self) -> list[str]:
        """The declared clients that the next version locks out."""
        return sorted({name for lockout in self.by_schema for name in lockout.kind.clients})


def topic_lockouts(change: TopicChange) -> TopicLockouts:
    """Nothing of a history that cannot be read: the plan reports that."""
    try:
        stored = stored_history(change.history)
        appended = _with_schema(change)
        stored_after = stored_history(appended)
    except PayloadError:
        return TopicLockouts(change=change)
    now = ConnectionTarget(history=stored, policies=change.before, line=change.line, use="active")
    then = replace(now, policies=change.after)
    by_broker: tuple[Lockout, ...] = ()
    by_policy: tuple[Lockout, ...] = ()
    by_schema: tuple[Lockout, ...] = ()
    if stored.entries and (change.upgrade or change.before != change.after):
        kinds = client_kinds(change.history, stored, change.declared)
        if change.upgrade:
            old, new = (replace(now, line=line) for line in change.upgrade)
            by_broker = find_lockouts(old, new, kinds)
        by_policy = find_lockouts(now, then, kinds)
        if not by_policy and is_stricter_for_consumers(now, then):
            # A consumer of a topic in use is compared, and its schema is not registered.
            by_policy = (Lockout(kind=_consumer_with_another_schema(stored), reason=""),)
    elif not change.is_new and change.before != change.after:
        kinds = _unversioned_kinds(appended, stored_after, change.declared)
        consumers = [kind for kind in kinds if kind.role == "consumer"]
        producers = [kind for kind in kinds if kind.role == "producer"]
        by_policy = (
            *find_lockouts(now, replace(then, history=stored_after), consumers),
            *find_lockouts(now, then, producers),
        )
    if change.schema:
        kinds = client_kinds(appended, stored_after, change.declared)
        is_in_use = change.exists or bool(change.observed and change.observed.is_used)
        if not stored.entries and not is_in_use:
            kinds = tuple(kind for kind in kinds if kind.version is not None or kind.clients)
        by_schema = find_lockouts(then, replace(then, history=stored_after), kinds)
    by_deletion: tuple[Lockout, ...] = ()
    if change.is_deleted:
        deleted = StoredHistory(entries=(), next_version=stored.next_version + 1)
        kinds = client_kinds(change.history, stored, ())
        by_deletion = find_lockouts(then, replace(then, history=deleted), kinds)
    return TopicLockouts(
        change=change,
        by_broker=by_broker,
        by_policy=by_policy,
        by_schema=by_schema,
        by_deletion=by_deletion,
    )


def deciding_policies(change: TopicChange, lockout: Lockout) -> tuple[str, ...]:
    """The keys of the policies each of which alone locks the clients out; all, if none does."""
    before, after = change.before, change.after
    changed = {
        "schemaCompatibilityStrategy": replace(before, strategy=after.strategy),
        "schemaValidationEnforced": replace(before, enforces_validation=after.enforces_validation),
        "isAllowAutoUpdateSchema": replace(before, allows_auto_update=after.allows_auto_update),
    }
    if lockout.kind.is_example and change.history.entries:
        return ("schemaCompatibilityStrategy",)
    is_first_version = not change.history.entries and lockout.kind.role == "consumer"
    history = stored_history(_with_schema(change) if is_first_version else change.history)
    keys = tuple(
        key
        for key, policies in changed.items()
        if not admit(
            lockout.kind,
            ConnectionTarget(history=history, policies=policies, line=change.line, use="active"),
        ).accepted
    )
    return keys or tuple(changed)


def locks_out_meanwhile(change: TopicChange, meanwhile: ConnectionPolicies) -> bool:
    """Whether policies between both refuse clients that can connect before and after a change."""
    try:
        stored = stored_history(change.history)
    except PayloadError:
        return False
    before = ConnectionTarget(
        history=stored, policies=change.before, line=change.line, use="active"
    )
    after, between = replace(before, policies=change.after), replace(before, policies=meanwhile)
    if stored.entries:
        kinds = client_kinds(change.history, stored, change.declared)
    else:
        kinds = _unversioned_kinds(change.history, stored, change.declared)
    return any(
        admit(lockout.kind, after).accepted for lockout in find_lockouts(before, between, kinds)
    )


def _with_schema(change: TopicChange) -> SchemaHistory:
    schema, history = change.schema, change.history
    if schema is None:
        return history
    entry = SchemaEntry(version=schema.version, info=schema.info)
    return replace(history, entries=(*history.entries, entry), next_version=schema.version + 1)


def undeclared_names(change: TopicChange, role: Role) -> list[str]:
    """The observed subscriptions or producers that nobody declares, in quotes."""
    if change.observed is None:
        return []
    uses = [use for use in change.declared if use.role == role]
    if role == "consumer":
        declared = {use.subscription for use in uses}
        subscriptions = (subscription.name for subscription in change.observed.subscriptions)
        return [f"'{name}'" for name in subscriptions if name not in declared]
    return [
        f"'{producer.name}'" if producer.name else "one without a name"
        for producer in (() if uses else change.observed.producers)
    ]


# What follows from approving a refused schema.


def lockouts_of_waiver(case: TopicCase) -> TopicLockouts:
    """Who could no longer connect if a waiver let the refused schema in."""
    policies = ConnectionPolicies(strategy=case.strategy)
    latest = case.history.latest
    schema = RegisterSchema(
        topic=case.topic,
        info=case.desired,
        version=case.history.next_version,
        latest_version=latest.version if latest else None,
        strategy=case.strategy,
    )
    change = TopicChange(
        topic=case.topic,
        history=case.history,
        before=policies,
        after=policies,
        line=case.line,
        schema=schema,
        declared=tuple(declared_uses(case.clients).get(case.topic, ())),
        observed=case.observed,
    )
    return topic_lockouts(change)


def waiver_effects(case: TopicCase, lockouts: TopicLockouts) -> tuple[str, ...]:
    """Whole sentences: who can no longer connect, what becomes of later versions, alternatives.

    After a waived version a transitive strategy refuses later ones for what they have in common
    with it, and BACKWARD_TRANSITIVE and FULL_TRANSITIVE refuse consumers too, since they compare
    both with every live version. ALWAYS_INCOMPATIBLE refuses whatever it is (Pulsar 4.0.7).
    """
    if case.strategy is SchemaCompatibilityStrategy.ALWAYS_INCOMPATIBLE:
        refused = (
            "ALWAYS_INCOMPATIBLE refuses consumers with a schema, also with a registered version, "
            "and every later version, until the strategy is another one."
        )
        instead = "or first, in a separate change, another schemaCompatibilityStrategy"
        return (refused, f"{_NEW_TOPIC}; {instead}.")
    sentences = _lockout_sentences(lockouts, case.history.next_version)
    return (*sentences, *_later_sentences(case))


def _lockout_sentences(topic: TopicLockouts, new: int) -> Iterator[str]:
    lockouts = topic.by_schema
    for role in ROLES:
        versions = [
            lockout.kind.version
            for lockout in lockouts
            if lockout.kind.role == role and lockout.kind.version is not None
        ]
        if versions:
            itself = f", v{new} itself included" if new in versions else ""
            yield (
                f"Once v{new} is registered, {role}s with "
                f"{version_list(sorted(versions, reverse=True))} can no longer connect{itself}."
            )
        names = sorted(
            {
                name
                for lockout in lockouts
                if lockout.kind.role == role
                for name in lockout.kind.clients
            }
        )
        if names:
            verb = "is a declared client that" if len(names) == 1 else "are declared clients that"
            yield f"{name_list(names)} {verb} can no longer connect as {role}."
        observed = undeclared_names(topic.change, role)
        if versions and observed:
            what = "subscription" if role == "consumer" else "producer"
            yield (
                f"Observed {what}{'' if len(observed) == 1 else 's'} {name_list(observed)}, which "
                "nobody declares, may be locked out too: which versions they use is not known."
            )
    if not lockouts:
        yield "All clients that can connect now can still connect."


_NEW_TOPIC: Final = "Alternatives: a new topic for this definition"


def _later_sentences(case: TopicCase) -> Iterator[str]:
    if case.strategy not in TRANSITIVE:
        yield f"Later versions are compared with v{case.history.next_version} alone."
        yield f"{_NEW_TOPIC}."
        return
    decision = register(stored_history(case.history), case.desired, case.strategy, case.line)
    sides = (
        side
        for incompatibility in decision.incompatibilities
        for side in (incompatibility.reader, incompatibility.writer)
    )
    versions = sorted({int(side[1:]) for side in sides if side != CANDIDATE}, reverse=True)
    old = version_list(versions) or "all older versions"
    looser = case.strategy.value.removesuffix("_TRANSITIVE")
    yield (
        f"Every later version is compared with {old} too, and one that keeps this change is "
        f"refused for the same reason, until the strategy is not transitive ({looser} compares "
        f"with the latest version alone) or the topic's schema is deleted."
    )
    yield f"{_NEW_TOPIC}; or first, in a separate change, schemaCompatibilityStrategy {looser}."
