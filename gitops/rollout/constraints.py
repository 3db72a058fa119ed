"""What must come before what.

Every service upgrades once, every version is registered once. So whatever may go wrong is about
two steps at most: a consumer and a producer of one topic, a service and a registration, a service
and what is retained. Where one of the states of two steps must not be, one of them comes first; so
the search for an order is a sort, whatever the number of services.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import pairwise

from gitops.model.clients import ClientLanguage
from gitops.model.decision import StoredHistory
from gitops.model.names import TopicName
from gitops.model.rollout import (
    Block,
    Constraint,
    Constraints,
    Delete,
    Drain,
    Register,
    Role,
    Step,
    Upgrade,
)
from gitops.model.rollout_reason import Cause, Reason, cause_of
from gitops.model.schema import SchemaInfo
from gitops.rollout.model import RolloutModel, Service, TopicModel, Use
from gitops.rollout.readers import (
    histories,
    is_of_version,
    readable,
    refusal_reason,
    registers_schemas,
    unreadable_reason,
)
from gitops.rollout.reasons import (
    CURRENT,
    IN_TURN,
    NEW,
    connect_reason,
    latest_reason,
    read_reason,
    reconnect_reason,
    retained_reason,
    use_reason,
    writes_reason,
)


def constraints(world: RolloutModel) -> Constraints:
    """All constraints of a world; raises PayloadError for a history that cannot be read."""
    drafts = _Found()
    users: dict[TopicName, dict[str, Service]] = {}
    for service in world.services:
        for use in (*service.before, *service.after):
            users.setdefault(use.topic, {})[service.name] = service
    for name, topic in sorted(world.topics.items()):
        _Topic(topic, drafts).constrain(list(users.get(name, {}).values()))
    steps = {Upgrade(service.name) for service in world.services if service.changes} | drafts.steps
    return Constraints(
        steps=tuple(sorted(steps, key=lambda step: (type(step).__name__, step))),
        before=tuple(drafts.before),
        blocks=tuple(drafts.blocks),
        broken=tuple(dict.fromkeys(drafts.broken)),
        may_stay=frozenset(service.name for service in world.services if service.assumed)
        - drafts.must_go,
    )


_Key = tuple[tuple[ClientLanguage | None, tuple[int, ...]], ...]
_Why = Callable[[Register, Cause], Reason]
"""The registration that a failure is about, and what stands between: what happens otherwise."""


@dataclass(slots=True)
class _Found:
    steps: set[Step] = field(default_factory=set)
    before: list[Constraint] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    broken: list[Block] = field(default_factory=list)
    must_go: set[str] = field(default_factory=set)


def _uses(uses: Iterable[Use], topic: TopicName) -> list[Use]:
    return [use for use in uses if use.topic == topic]


@dataclass(frozen=True, slots=True)
class _Side:
    """One service on one side of the topic, before and after its upgrade (none: not there).

    Several uses are several subscriptions, each of which has to work.
    """

    service: Service
    before: tuple[Use, ...]
    after: tuple[Use, ...]

    @property
    def name(self) -> str:
        return self.service.name

    @property
    def states(self) -> tuple[tuple[Use, ...], tuple[Use, ...]]:
        return self.before, self.after

    @property
    def is_auto(self) -> bool:
        """Whether it produces with the topic's latest schema, before its upgrade and after it."""
        return all(any("AUTO_PRODUCE" in use.schemas for use in uses) for uses in self.states)

    @property
    def upgrade(self) -> Upgrade:
        return Upgrade(self.service.name)


class _Topic:
    """The constraints of one topic."""

    def __init__(self, topic: TopicModel, drafts: _Found) -> None:
        self.topic = topic
        self.drafts = drafts
        self.histories = histories(topic)
        self.retained = list(readable(topic.history))
        self._told: dict[tuple[_Key, _Key], str | None] = {}
        self._stuck_sides: set[int] = set()
        self.registers = [
            Register(topic.topic, before.next_version) for before, _ in pairwise(self.histories)
        ]

    @cached_property
    def latest(self) -> list[tuple[int, SchemaInfo | None]]:
        """The latest version after 0, 1, … registrations."""
        return [next(reversed([*readable(history)]), (0, None)) for history in self.histories]

    def constrain(self, services: list[Service]) -> None:
        self.drafts.steps.update(self.registers)
        for first, then in pairwise(self.registers):
            self._order(first, then, IN_TURN)
        consumers = [*self._sides(services, Role.CONSUMER)]
        producers = [*self._sides(services, Role.PRODUCER)]
        for side in (*consumers, *producers):
            self._admission(side)
        for consumer in consumers:
            failing = [
                producer
                for producer in producers
                if not self._latest(consumer, producer) and self._pair(consumer, producer)
            ]
            self._retained_constraints(consumer, producers, failing)
        if self.topic.deleted:
            self._deletion((*consumers, *producers))

    def _sides(self, services: list[Service], role: Role) -> Iterator[_Side]:
        for service in services:
            before = [use for use in _uses(service.before, self.topic.topic) if use.role is role]
            after = [use for use in _uses(service.after, self.topic.topic) if use.role is role]
            if before or after:
                yield _Side(service, tuple(before), tuple(after))

    def _refusals(self, uses: Iterable[Use]) -> list[Cause | None]:
        """Why the client is refused, after 0, 1, … registrations."""
        return [self._refusal(uses, self.topic, history) for history in self.histories]

    def _refusal(
        self, uses: Iterable[Use], topic: TopicModel, history: StoredHistory
    ) -> Cause | None:
        return next((why for use in uses if (why := refusal_reason(use, topic, history))), None)

    def _admission(self, side: _Side) -> None:
        """Old clients reconnect until they upgrade, new ones from then on."""
        before, after = self._refusals(side.before), self._refusals(side.after)
        if now := self._refusal(side.before, self.topic.before, self.histories[0]):
            if not registers_schemas(side.before, self.topic.before, self.histories[0]):
                text = f"{side.name} cannot connect to {self.topic.topic}: {now.clause()}"
                self._broken(text, side.upgrade)
            elif (why := before[-1] or after[-1]) and not self.topic.allows_auto_update:
                is_current = before[-1] and side.service.changes
                name = f"the current {side.name}" if is_current else side.name
                text = f"{name} cannot connect to {self.topic.topic} after the change"
                self._block(f"{text}: {why.clause()}", side.upgrade, is_lockout=True)
            return
        if before[0] and side.service.changes:
            text = f"under its new policies the current {side.name} cannot reconnect"
            reason = f"{text} to {self.topic.topic}: {before[0].clause()}"
            self._block(reason, side.upgrade, is_lockout=True)
        state = CURRENT if side.service.changes else ""
        may_stay = side.service.changes or not before[0]
        reconnects = partial(reconnect_reason, side.name, state)
        if may_stay and self._until(side, before, reconnects, is_lockout=True):
            self._stuck_sides.add(id(side))
        if after[-1] and (side.service.changes or before[0]):  # else it is the one block already
            self._stuck(side, after[-1])
        elif side.service.changes:
            self._since(side, after, partial(connect_reason, side.name))

    def _until(
        self, side: _Side, whys: list[Cause | None], reason: _Why, *, is_lockout: bool = False
    ) -> bool:
        """The old one has to be gone before the first new version that it fails on.

        `whys` are the reasons after 0, 1, … registrations. True where it stays in spite of that.
        """
        for register, why in zip(self.registers, whys[1:], strict=True):
            if why is None:
                continue
            self.drafts.must_go.add(side.name)
            if side.service.changes:
                result = reason(register, why)
                self._order(side.upgrade, register, result, is_lockout=is_lockout)
            else:
                text = reason(register, why).sentence()
                self._block(text, register, side.upgrade, is_lockout=is_lockout)
            return not side.service.changes
        return False

    def _since(self, side: _Side, whys: list[Cause | None], reason: _Why) -> None:
        """The new one has to wait for what comes after the last version that it fails on."""
        late = [(register, why) for register, why in zip(self.registers, whys, strict=False) if why]
        for register, why in late[-1:]:
            self._order(register, side.upgrade, reason(register, why))

    def _stuck(self, side: _Side, why: Cause) -> None:
        when = "after its upgrade" if side.service.changes else "after the change"
        text = f"{side.name} cannot connect to {self.topic.topic} {when}: {why.clause()}"
        is_admitted_now = not self._refusal(side.after, self.topic.before, self.histories[0])
        self._block(text, side.upgrade, is_lockout=is_admitted_now)
        self._stuck_sides.add(id(side))

    def _pair(self, consumer: _Side, producer: _Side) -> bool:
        """The four states of a consumer and a producer of the topic; true where the last fails."""
        if consumer.name == producer.name:
            return self._is_one_service(consumer, producer)
        steps = consumer.upgrade, producer.upgrade
        if why := self._why(consumer.before, producer.before):
            self._broken(self._reads(consumer, producer, why).sentence(), *steps)
            return False
        if why := self._why(consumer.after, producer.after):
            # Who is not let in reads nothing, and is told of already.
            if id(consumer) not in self._stuck_sides:
                text = self._reads(consumer, producer, why).sentence()
                self._block(f"after all upgrades {text}", *steps)
            return True
        if producer.service.changes and (why := self._why(consumer.before, producer.after)):
            self.drafts.must_go.add(consumer.name)
            reason = self._reads(consumer, producer, why, (CURRENT, NEW))
            self._first(consumer, producer, reason)
        if consumer.service.changes and (why := self._why(consumer.after, producer.before)):
            self.drafts.must_go.add(producer.name)
            reason = self._reads(consumer, producer, why, (NEW, CURRENT))
            self._first(producer, consumer, reason)
        return False

    def _latest(self, consumer: _Side, producer: _Side) -> bool:
        """AUTO_PRODUCE writes the latest version once it restarts; true where that is broken now.

        A service that takes to it, or gives it up, with its upgrade would need rules of three
        steps: nothing is said about it.
        """
        if not producer.is_auto or self._why(consumer.before, producer.before):
            return False
        before, after = (self._misread(uses) for uses in consumer.states)
        what = f"what {producer.name} writes to {self.topic.topic} by AUTO_PRODUCE"
        if before[0]:
            text = f"{consumer.name} cannot read {what}: {before[0].clause()}"
            self._broken(text, consumer.upgrade)
            return True
        state = CURRENT if consumer.service.changes else ""
        self._until(consumer, before, partial(latest_reason, consumer.name, state, producer.name))
        if consumer.service.changes and after[-1]:
            text = f"after all upgrades {consumer.name} cannot read {what}: {after[-1].clause()}"
            self._block(text, consumer.upgrade)
        elif consumer.service.changes:
            self._since(consumer, after, partial(latest_reason, consumer.name, NEW, producer.name))
        return False

    def _misread(self, consumers: Collection[Use]) -> list[Cause | None]:
        """Why the latest of 0, 1, … new versions cannot be read."""
        causes = list[Cause | None]()
        for version, latest in self.latest:
            why = _why_any(consumers, latest) if latest else None
            causes.append(cause_of(why, f"v{version}") if why else None)
        return causes

    def _first(self, first: _Side, then: _Side, reason: Reason) -> None:
        if first.service.changes:
            self._order(first.upgrade, then.upgrade, reason)

    def _why(self, consumers: tuple[Use, ...], producers: tuple[Use, ...]) -> str | None:
        """Why one fails; most clients of a topic have the same few schemas."""
        key = _key(consumers), _key(producers)
        if key not in self._told:
            self._told[key] = _why(consumers, producers)
        return self._told[key]

    def _is_one_service(self, consumer: _Side, producer: _Side) -> bool:
        """A service that reads what it writes changes both at once."""
        if not self._why(consumer.before, producer.before) and (
            why := self._why(consumer.after, producer.after)
        ):
            self._block(self._reads(consumer, producer, why).sentence(), consumer.upgrade)
            return True
        return False

    def _retained_constraints(
        self, consumer: _Side, producers: list[_Side], failing: Collection[_Side]
    ) -> None:
        """What an old consumer could read and a new one cannot has to be gone first.

        Where a producer goes on with it, there is nothing to wait for; for those of `failing` that
        has been said.
        """
        if not consumer.service.changes or not consumer.after:
            return
        for version, written in self.retained:
            why = _why_any(consumer.after, written)
            if why is None or _why_any(consumer.before, written):
                continue
            if any(all(self._writes(side, version)) for side in failing):
                continue
            drain = Drain(self.topic.topic, version)
            reason = retained_reason(consumer.name, drain, why)
            self._order(drain, consumer.upgrade, reason, cause=why)
            for producer in producers:
                self._stops_writing(producer, drain)

    def _stops_writing(self, producer: _Side, drain: Drain) -> None:
        """What is drained must not be written when it is drained."""
        reason = writes_reason(producer.name, drain)
        if producer.is_auto and drain.version == self.retained[-1][0]:
            self._supersede(drain, producer, reason)
        writes = self._writes(producer, drain.version)
        if all(writes):
            self._block(reason.sentence(), drain, producer.upgrade)
        elif writes[0]:
            self._order(producer.upgrade, drain, reason)
        elif writes[1]:
            self._order(drain, producer.upgrade, writes_reason(producer.name, drain, again=True))

    def _supersede(self, drain: Drain, producer: _Side, reason: Reason) -> None:
        """AUTO_PRODUCE goes on with a version until there is a later one."""
        if self.registers:
            self._order(self.registers[0], drain, reason)
        else:
            self._block(reason.sentence(), drain, producer.upgrade)

    def _writes(self, producer: _Side, version: int) -> list[bool]:
        """Whether its messages carry this version, before and after its upgrade."""
        return [
            any(
                is_of_version(schema, self.topic, version) for use in uses for schema in use.schemas
            )
            for uses in producer.states
        ]

    def _deletion(self, sides: Iterable[_Side]) -> None:
        delete = Delete(self.topic.topic)
        self.drafts.steps.add(delete)
        for side in sides:
            if side.after:
                self._block(f"{side.name} still uses {self.topic.topic}", side.upgrade, delete)
            else:
                self.drafts.must_go.add(side.name)
                self._order(side.upgrade, delete, use_reason(side.name, self.topic.topic))

    def _order(
        self,
        first: Step,
        then: Step,
        reason: Reason,
        *,
        cause: str = "",
        is_lockout: bool = False,
    ) -> None:
        self.drafts.steps |= {first, then}
        constraint = Constraint(
            first=first,
            then=then,
            reason=reason,
            topic=self.topic.topic,
            cause=cause,
            is_lockout=is_lockout,
        )
        self.drafts.before.append(constraint)

    def _broken(self, reason: str, *steps: Step) -> None:
        self.drafts.broken.append(Block(reason=reason, steps=steps, topics=(self.topic.topic,)))

    def _block(self, reason: str, *steps: Step, is_lockout: bool = False) -> None:
        block = Block(reason=reason, steps=steps, topics=(self.topic.topic,), is_lockout=is_lockout)
        self.drafts.blocks.append(block)

    def _reads(
        self, consumer: _Side, producer: _Side, why: str, states: tuple[str, str] = ("", "")
    ) -> Reason:
        return read_reason(consumer.name, producer.name, self.topic.topic, why, states)


def _key(uses: tuple[Use, ...]) -> _Key:
    """By identity: all that are pinned to one version have one schema, as long as a world lasts."""
    return tuple((use.language, tuple(map(id, use.schemas))) for use in uses)


def _why(consumers: Iterable[Use], producers: Iterable[Use]) -> str | None:
    written = [schema for use in producers for schema in use.schemas]
    reasons = (unreadable_reason(use, item) for use in consumers for item in written)
    return next((why for why in reasons if why), None)


def _why_any(consumers: Iterable[Use], written: SchemaInfo) -> str | None:
    return next((why for use in consumers if (why := unreadable_reason(use, written))), None)
