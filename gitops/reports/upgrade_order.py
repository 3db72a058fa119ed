"""Who upgrades first for a topic: by the rollout where its clients are declared."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from gitops.model.names import TopicName
from gitops.model.policy import SchemaCompatibilityStrategy, upgrade_first
from gitops.model.rollout import Register, Rollout, Step, Upgrade
from gitops.model.rollout_reason import name_list
from gitops.rollout.acts import acts

NO_SAFE_ORDER: Final = "no safe order"
NOBODY: Final = "nobody"
_NOTHING: Final = "–"
_MOST_NAMES: Final = 3

_Services = dict[TopicName, dict[str, None]]


def by_strategy(strategy: SchemaCompatibilityStrategy) -> str:
    """What the strategy alone says of clients that nobody declares."""
    return f"{upgrade_first(strategy).value} (by {strategy.value})"


def clients_first(number: int) -> str:
    """`1 client first`, `5 clients first`: Pulsar accepts the schema, and clients would fail."""
    return f"{number:,} client{'' if number == 1 else 's'} first"


class UpgradeOrder:
    """The column *Upgrade first* of one registry; it names who the steps name.

    `blocked` are the topics to whose new schema no order leads.
    """

    def __init__(self, rollout: Rollout) -> None:
        self._rollout = rollout
        self.blocked = frozenset(topic for block in rollout.blocks for topic in block.topics)
        places = {step.step: place for place, act in enumerate(acts(rollout)) for step in act.steps}
        self._places = places
        self._registered = {
            step.topic: place for step, place in places.items() if isinstance(step, Register)
        }
        self._before: _Services = {}
        self._after: _Services = {}
        for ordered in rollout.steps:
            grouped = self._before if isinstance(ordered.step, Register) else self._after
            for wait in ordered.waits_for:
                if name := _service(wait.first):
                    grouped.setdefault(wait.topic, {})[name] = None

    def first(
        self,
        topic: TopicName,
        strategy: SchemaCompatibilityStrategy,
        *,
        is_new: bool = False,
        is_waived: bool = False,
    ) -> str:
        """`consumers: billing, crm`, `nobody`; by the strategy where no client is declared.

        A strategy says nothing of what a waiver lets in.
        """
        if topic in self.blocked:
            return NO_SAFE_ORDER
        if before := self._before.get(topic):
            return self._clients(topic, before)
        if is_new:
            return NOBODY
        if topic in self._rollout.strategies or not self._is_ordered:
            return _NOTHING if is_waived else by_strategy(strategy)
        if topic not in self._registered:
            return _NOTHING
        merge = self._registered[topic]
        after = self._late(topic, merge)
        return f"after the merge, {self._clients(topic, after)}" if after else NOBODY

    @property
    def early_clients(self) -> dict[TopicName, int]:
        """How many clients have to upgrade before a schema of a topic is registered."""
        return {topic: len(clients) for topic, clients in self._before.items()}

    @property
    def early_names(self) -> tuple[str, ...]:
        """Who has to upgrade before a schema is registered, of all topics."""
        return tuple(dict.fromkeys(name for values in self._before.values() for name in values))

    @property
    def is_any(self) -> bool:
        """Whether a client has to wait for something, or something for a client."""
        return bool(self._before or self._after)

    def late_names(self, topics: Collection[TopicName]) -> tuple[str, ...]:
        """Who has to upgrade after a schema of these is registered, and before others."""
        members = ((topic, at) for topic, at in self._registered.items() if topic in topics)
        return tuple(dict.fromkeys(name for topic, at in members for name in self._late(topic, at)))

    def _late(self, topic: TopicName, merge: int) -> list[str]:
        return [n for n in self._after.get(topic, ()) if self._places[Upgrade(n)] > merge]

    @property
    def _is_ordered(self) -> bool:
        """Whether an order was looked for, and so declared clients, too."""
        return bool(self._rollout.blocks or self._registered)

    def _clients(self, topic: TopicName, names: Iterable[str]) -> str:
        sides = self._rollout.sides
        who = list(names)
        roles = {side.role.value for n in who for side in sides.get(n, ()) if side.topic == topic}
        role = roles.pop() if len(roles) == 1 else "client"
        return f"{role}{'s' if len(who) > 1 else ''}: {_short_list(who)}"


def _service(step: Step) -> str:
    return step.service if isinstance(step, Upgrade) else ""


def _short_list(names: list[str]) -> str:
    return name_list(names, _MOST_NAMES) if len(names) > _MOST_NAMES else ", ".join(names)
