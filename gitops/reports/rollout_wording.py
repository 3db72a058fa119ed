"""A rollout in words, for every reporter: its steps as sentences, what each waits for."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from gitops.model.findings import Finding, Severity
from gitops.model.names import TopicName
from gitops.model.plan import Plan, RegisterSchema
from gitops.model.policy import UpgradeFirst, upgrade_first
from gitops.model.rollout import (
    Delete,
    Drain,
    Migration,
    Move,
    OrderedStep,
    Register,
    Rollout,
    Step,
    Upgrade,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One step: its number from 1, what to do, a remark, and why it waits for others.

    `advice` helps with a step: what the strategy alone says of clients that nobody declares, or
    where to see how long a wait is, or what is left. `warnings` hold in every order.
    """

    number: int
    text: str
    note: str = ""
    reasons: tuple[str, ...] = ()
    advice: str = ""
    warnings: tuple[str, ...] = ()

    def since(self, most: int) -> tuple[str, ...]:
        """The first reasons, and how many there are beyond: one for each client, often."""
        beyond = len(self.reasons) - most
        more = (f"and {beyond:,} more of the kind",) if beyond > 0 else ()
        return (*(f"since {each}" for each in self.reasons[:most]), *more)


_ADVICE: Final = {
    UpgradeFirst.CONSUMERS: "consumers upgrade first; then produce with the new schema",
    UpgradeFirst.PRODUCERS: (
        "producers upgrade first; then wait until no message of the older schema is retained or in "
        "a backlog; then consumers"
    ),
    UpgradeFirst.ANY_ORDER: "consumers and producers upgrade in any order",
    UpgradeFirst.NOBODY: "nobody upgrades: evolution is off",
}


def has_order(rollout: Rollout) -> bool:
    """Whether there is anything to tell: registrations alone are in the plan."""
    return bool(rollout.blocks) or any(isinstance(one.step, Upgrade) for one in rollout.steps)


def lines(rollout: Rollout, plan: Plan) -> Iterator[Line]:
    """The steps in order; a reason is told at the step that waits.

    At a registration stands what rules of ours warn of, as `plan` has it: the order is that of
    what the broker lets in, which may be any order where a rule knows of values that get lost.
    """
    warned = {one.topic: one.findings for one in plan.actions if isinstance(one, RegisterSchema)}
    for number, one in enumerate(rollout.steps, start=1):
        yield Line(
            number=number,
            text=_said(one.step, rollout),
            note=_note(one, rollout),
            reasons=tuple(dict.fromkeys(wait.reason for wait in one.waits_for)),
            advice=advice(one, rollout),
            warnings=_warnings(warned.get(one.step.topic, ()))
            if isinstance(one.step, Register)
            else (),
        )


def _warnings(findings: Iterable[Finding]) -> tuple[str, ...]:
    """The first message of each rule, and the command that shows the rule's page."""
    first: dict[str, Finding] = {}
    for one in findings:
        if one.severity >= Severity.WARNING:
            first.setdefault(one.rule, one)
    return tuple(
        f"in whatever order, {rule} warns: {one.message} (`pulsar-gitops explain {rule}`)"
        for rule, one in first.items()
    )


def advice(one: OrderedStep, rollout: Rollout) -> str:
    """What the strategy says at a registration whose clients nobody declares; where to see a wait.

    And what to look at before a schema goes, or a consumer leaves its topic.

    No file knows of retention or backlogs.
    """
    match one.step:
        case Register():
            return _of_strategy(one.step.topic, rollout)
        case Drain():
            return f"that is {_messages_of(one.step.topic)}"
        case Delete():
            return (
                "messages that are left would lose their schema: look first at "
                f"{_messages_of(one.step.topic)}; then `pulsar-gitops plan --prune`"
            )
        case Upgrade():
            topics = rollout.left.get(one.step.service, ())
            stats = ", ".join(f"pulsar-admin topics stats {topic}" for topic in topics)
            return f"first see that it has read what is left there: {stats}" if topics else ""


def _messages_of(topic: TopicName) -> str:
    return (
        f"the retention (pulsar-admin namespaces get-retention {topic.namespace}) "
        f"and every backlog (pulsar-admin topics stats {topic})"
    )


def _of_strategy(topic: TopicName, rollout: Rollout) -> str:
    strategy = rollout.strategies.get(topic)
    return f"{strategy.value}: {_ADVICE[upgrade_first(strategy)]}" if strategy else ""


def refusals(rollout: Rollout) -> Iterator[str]:
    """What is not registered at all, and why nobody upgrades where the strategy says so."""
    for topic in rollout.refused:
        strategy = rollout.strategies.get(topic)
        nobody = strategy and upgrade_first(strategy) is UpgradeFirst.NOBODY
        why = f" ({strategy.value}: {_ADVICE[UpgradeFirst.NOBODY]})" if nobody and strategy else ""
        yield f"Pulsar refuses the new schema of {topic}{why}"


def migrate_command(reference: str) -> str:
    """What writes the manifests of a migration's first steps; `reference` is the base."""
    return shlex.join(["pulsar-gitops", "rollout", "--base", reference or "REF", "--migrate"])


def migration_lines(migration: Migration) -> Iterator[Line]:
    """The steps from the old topic to the new one, in order."""
    for number, move in enumerate(Move, start=1):
        yield Line(number=number, text=_moved(move, migration))


def _moved(move: Move, migration: Migration) -> str:
    old, new = migration.topic, migration.to
    consumers = ", ".join(migration.consumers) or "all consumers"
    producers = ", ".join(migration.producers) or "all producers"
    match move:
        case Move.CREATE:
            return f"create {new} with the new schema"
        case Move.CONSUME_BOTH:
            return f"upgrade {consumers}: consume {new} beside {old}"
        case Move.PRODUCE:
            return f"upgrade {producers}: produce to {new} instead of {old}"
        case Move.DRAIN:
            return f"wait until no subscription of {old} has a message left"
        case Move.CONSUME_NEW:
            return f"upgrade {consumers}: consume {new} only"
        case Move.DELETE:
            return f"remove {old}"


def _said(step: Step, rollout: Rollout) -> str:
    match step:
        case Register():
            return f"register v{step.version} of {step.topic}"
        case Upgrade():
            sides = ", ".join(rollout.sides.get(step.service, ()))
            return f"upgrade {step.service} ({sides})" if sides else f"upgrade {step.service}"
        case Drain():
            return f"wait until no message of v{step.version} is left in {step.topic}"
        case Delete():
            return f"delete the schema of {step.topic}"


def _note(one: OrderedStep, rollout: Rollout) -> str:
    stays = isinstance(one.step, Upgrade) and one.step.service in rollout.may_stay
    return "can stay behind" if stays else ""
