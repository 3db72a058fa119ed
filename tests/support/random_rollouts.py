"""Small random worlds of a rollout, and a simulation of them that looks at whole states.

The simulation shares who is let in and what can be read with the code under test, and nothing
else: no pairs, no constraints.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final

from gitops.broker.lines.pulsar_4_0 import PULSAR_4_0
from gitops.broker.registration import register
from gitops.model.names import TopicName
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.rollout import Delete, Drain, Register, Role, Step, Upgrade
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.rollout.model import RolloutModel, Service, TopicModel, Use, UsedSchema
from gitops.rollout.readers import histories, refusal_reason, unreadable_reason
from gitops.schemas.payload import stored_history, to_info
from tests.support.states import history as history_of

_FIELDS: Final[tuple[dict[str, Any], ...]] = (
    {"name": "a", "type": "int"},
    {"name": "a", "type": "long"},
    {"name": "b", "type": "string"},
    {"name": "b", "type": "string", "default": ""},
    {"name": "c", "type": {"type": "enum", "name": "E", "symbols": ["X"]}},
    {"name": "c", "type": {"type": "enum", "name": "E", "symbols": ["X", "Y"]}},
    {"name": "d", "type": ["null", "string"], "default": None},
    {"name": "d", "type": "string"},
)
_SCHEMALESS: Final = ("AUTO_CONSUME", "NONE")


Trouble = tuple[object, ...]
Seen = dict[tuple[frozenset[Step], frozenset[tuple[TopicName, int]]], frozenset[Trouble]]
"""What does not work, by what is done and what is drained: all orders meet the same few states."""


def _schema(dice: random.Random, kind: SchemaType) -> SchemaInfo:
    chosen = dice.sample(_FIELDS, dice.randrange(4))
    fields = list({one["name"]: one for one in chosen}.values())
    text = json.dumps({"type": "record", "name": dice.choice("RRRS"), "fields": fields})
    return SchemaInfo(type=kind, schema=text)


def is_same(one: SchemaInfo, other: object) -> bool:
    """Whether both say the same, however their texts are laid out."""
    if not isinstance(other, SchemaInfo) or one.type is not other.type:
        return False
    return bool(json.loads(one.schema) == json.loads(other.schema))


def _different(schemas: Iterable[SchemaInfo]) -> list[SchemaInfo]:
    return list({one.schema: one for one in schemas}.values())


class Worlds:
    """Worlds of one seed, one after the other; `auto`: producers with AUTO_PRODUCE are in them."""

    def __init__(self, seed: int, *, auto: bool = False) -> None:
        self.auto = auto
        self.dice = random.Random(seed)  # noqa: S311 - worlds to repeat, no secret

    def healthy(self) -> RolloutModel:
        """A world in which all is well at the start, and Pulsar takes what is new."""
        return next(one for one in iter(self.world, None) if is_healthy(one))

    def world(self) -> RolloutModel:
        """One or two topics, up to four services."""
        dice = self.dice
        topics = [self._topic(name) for name in "tu"[: dice.randrange(1, 3)]]
        services = tuple(self._service(f"s{n}", topics) for n in range(dice.randrange(1, 5)))
        return RolloutModel(topics={one.topic: one for one in topics}, services=services)

    def _topic(self, name: str) -> TopicModel:
        dice = self.dice
        kind = dice.choice((SchemaType.AVRO, SchemaType.AVRO, SchemaType.JSON))
        old = _different(_schema(dice, kind) for _ in range(dice.randrange(1, 3)))
        deleted = dice.random() < 0.1
        count = 0 if deleted else dice.randrange(3)
        new = _different(_schema(dice, kind) for _ in range(count))
        return TopicModel(
            topic=TopicName.parse(f"t/n/{name}"),
            history=stored_history(history_of(*old)),
            line=PULSAR_4_0,
            new=tuple(info for info in new if info not in old),
            strategy=dice.choice(list(Strategy)),
            is_schema_validation_enforced=dice.random() < 0.3,
            deleted=deleted,
        )

    def _service(self, name: str, topics: list[TopicModel]) -> Service:
        dice = self.dice
        before = self._uses(topics, new=False)
        after = self._uses(topics, new=True) if dice.random() < 0.8 else before
        if self.auto and dice.random() < 0.3:
            topic = dice.choice(topics).topic
            always = Use(topic=topic, role=Role.PRODUCER, schemas=("AUTO_PRODUCE",))
            before, after = (*before, always), (*after, always)
        return Service(name=name, before=before, after=after, assumed=dice.random() < 0.3)

    def _uses(self, topics: list[TopicModel], *, new: bool) -> tuple[Use, ...]:
        """Of each topic nothing, one side, or two: both sides, or two subscriptions."""
        counts = (0, 1, 1, 1, 1, 1, 1, 2)
        return tuple(
            self._use(topic, new=new) for topic in topics for _ in range(self.dice.choice(counts))
        )

    def _use(self, topic: TopicModel, *, new: bool) -> Use:
        dice = self.dice
        known = [to_info(stored) for _, stored in topic.history.entries]
        held = [*known, *(topic.new if new else ())]
        choices: list[UsedSchema] = [self._laid_out(one) for one in held]
        role = dice.choice(list(Role))
        if role is Role.CONSUMER:
            choices += [_schema(dice, known[0].type), "AUTO_CONSUME"]
        elif dice.random() < 0.3:
            choices.append("NONE")
        several = dice.sample(choices, min(len(choices), dice.choice((1, 1, 1, 2))))
        return Use(topic=topic.topic, role=role, schemas=tuple(several))

    def _laid_out(self, info: SchemaInfo) -> SchemaInfo:
        """A client's own copy may have other white space, and none of the properties."""
        indent = self.dice.choice((None, None, 2))
        return replace(info, schema=json.dumps(json.loads(info.schema), indent=indent))


@dataclass
class Simulation:
    """What runs, what is registered and what is retained; every state is looked at as a whole."""

    world: RolloutModel
    seen: Seen = field(default_factory=dict)
    done: set[Step] = field(default_factory=set)
    drained: set[tuple[TopicName, int]] = field(default_factory=set)

    def uses(self, topic: TopicName, role: Role) -> Iterator[tuple[Service, Use]]:
        """What runs on one side of a topic."""
        for service in self.world.services:
            upgraded = Upgrade(service.name) in self.done
            for use in service.after if upgraded else service.before:
                if use.topic == topic and use.role is role:
                    yield service, use

    def written(self, use: Use) -> tuple[UsedSchema, ...]:
        """What a producer writes now; one with AUTO_PRODUCE has just restarted."""
        if "AUTO_PRODUCE" not in use.schemas:
            return use.schemas
        latest = histories(self.world.topics[use.topic])[self.registered(use.topic)].entries[-1]
        return (*use.schemas, to_info(latest[1]))

    def registered(self, topic: TopicName) -> int:
        """How many of the new versions of a topic are there."""
        return sum(isinstance(step, Register) and step.topic == topic for step in self.done)

    def drain(self) -> None:
        """Whatever nobody writes any more is gone at some time, and waiting harms nobody."""
        for name, topic in self.world.topics.items():
            written = [s for _, use in self.uses(name, Role.PRODUCER) for s in self.written(use)]
            for version, stored in topic.history.entries:
                if not any(is_same(to_info(stored), one) for one in written):
                    self.drained.add((name, version))

    def troubles(self) -> frozenset[Trouble]:
        """Everything that does not work now."""
        state = (frozenset(self.done), frozenset(self.drained))
        if state not in self.seen:
            found = (*self._refused(), *self._unreadable(), *self._lost(), *self._orphans())
            self.seen[state] = frozenset(found)
        return self.seen[state]

    def _refused(self) -> Iterator[Trouble]:
        for name, topic in self.world.topics.items():
            every = histories(topic)
            registered = self.registered(name)
            for role in Role:
                for service, use in self.uses(name, role):
                    if refusal_reason(use, topic, every[registered]):
                        yield ("refused", service.name, name, role)

    def _unreadable(self) -> Iterator[Trouble]:
        for name in self.world.topics:
            for reader, reads in self.uses(name, Role.CONSUMER):
                for writer, writes in self.uses(name, Role.PRODUCER):
                    if any(unreadable_reason(reads, one) for one in self.written(writes)):
                        yield ("unreadable", reader.name, writer.name, name)

    def _lost(self) -> Iterator[Trouble]:
        for name, topic in self.world.topics.items():
            for reader, reads in self.uses(name, Role.CONSUMER):
                for version, stored in topic.history.entries:
                    gone = (name, version) in self.drained
                    if not gone and unreadable_reason(reads, to_info(stored)):
                        yield ("lost", reader.name, name, version)

    def _orphans(self) -> Iterator[Trouble]:
        for step in self.done:
            if isinstance(step, Delete):
                for role in Role:
                    for service, _ in self.uses(step.topic, role):
                        yield ("orphan", service.name, step.topic)


def is_healthy(world: RolloutModel) -> bool:
    """Whether everybody is let in and reads everything now, and the new versions are accepted."""
    return not Simulation(world).troubles() and all(
        register(before, info, topic.strategy, PULSAR_4_0).accepted
        for topic in world.topics.values()
        for before, info in zip(histories(topic), topic.new, strict=False)
    )


def is_safe(
    world: RolloutModel, steps: Iterable[Step], *, wait: bool, seen: Seen | None = None
) -> bool:
    """Whether nothing breaks on the way that was not broken before; `wait` drains all it can.

    `seen` is kept from one order of a world to the next.
    """
    state = Simulation(world, {} if seen is None else seen)
    allowed = state.troubles()
    for step in steps:
        if isinstance(step, Drain):
            state.drain()
            if (step.topic, step.version) not in state.drained:
                return False
        if wait:
            state.drain()
        state.done.add(step)
        if state.troubles() - allowed:
            return False
    return True


def all_orders(steps: Iterable[Step]) -> Iterator[tuple[Step, ...]]:
    """All orders of what is done; waiting is not, and versions come one after the other."""
    fixed = [step for step in steps if not isinstance(step, Drain)]
    for one in itertools.permutations(fixed):
        registers = [step for step in one if isinstance(step, Register)]
        if sorted(registers, key=lambda step: step.topic) == sorted(registers):
            yield one
