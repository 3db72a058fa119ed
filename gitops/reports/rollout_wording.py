"""A rollout in words, for every reporter: one line for each act, and why it waits."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from gitops.model.findings import Finding, Severity
from gitops.model.names import TopicName
from gitops.model.plan import Plan, RegisterSchema
from gitops.model.policy import SchemaCompatibilityStrategy, UpgradeFirst, upgrade_first
from gitops.model.rollout import (
    Block,
    Delete,
    Drain,
    Migration,
    Move,
    OrderedStep,
    Rollout,
    Side,
    Upgrade,
)
from gitops.model.rollout_reason import Reason, merged, name_list
from gitops.rollout.acts import Act, ActKind, acts
from gitops.rollout.reasons import IN_TURN

_MOST_NAMES: Final = 10
"""Of those who have to do something; of others fewer are named."""
_FEW_NAMES: Final = 3
_DIGITS: Final = 8
_MOST_REASONS: Final = 3
"""Of one line; JSON has all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One act: its number from 1, what to do, and why it waits for others.

    `advice` helps with it: what the strategy alone says of clients that nobody declares, or where
    to see how long a wait is, or what is left. `warnings` hold in every order. `folded` tells two
    lines apart whose names are left out, empty where all are there.
    """

    number: int
    kind: ActKind
    text: str
    steps: tuple[OrderedStep, ...]
    reasons: tuple[Reason, ...] = ()
    advice: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    folded: str = ""

    @property
    def remarks(self) -> tuple[str, ...]:
        """The first reasons, how many there are beyond, and the advice."""
        beyond = len(self.reasons) - _MOST_REASONS
        texts = (f"and {beyond:,} more like this",) if beyond > 0 else ()
        words = (reason.sentence(_MOST_NAMES) for reason in self.reasons[:_MOST_REASONS])
        return (*words, *texts, *self.advice)


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
    return bool(rollout.blocks) or any(
        isinstance(ordered.step, Upgrade) for ordered in rollout.steps
    )


def block_lines(rollout: Rollout, collection: Collection[str] = ()) -> Iterator[str]:
    """Why there is no order; what findings of the same report say is named by its topics."""
    locked_out = [block for block in rollout.blocks if block.in_plan]
    blocks = [block for block in rollout.blocks if block.reason in collection and not block.in_plan]
    if locked_out:
        yield f"clients are locked out of {_topics_of(locked_out)}: see the findings"
    if blocks:
        yield f"no safe order for {_topics_of(blocks)}: see the findings"
    other_blocks = [block for block in rollout.blocks if block not in (*locked_out, *blocks)]
    yield from (f"no safe order: {block.reason}" for block in other_blocks)


def _topics_of(blocks: Iterable[Block]) -> str:
    topics = {str(topic) for block in blocks for topic in block.topics}
    return name_list(sorted(topics), _FEW_NAMES)


def lines(
    rollout: Rollout,
    plan: Plan,
    *,
    merged_already: bool = False,
    shown_messages: Collection[str] = (),
) -> Iterator[Line]:
    """The acts in order, each reason once; `merged_already`: `apply` registers, and no merge.

    `said` are messages of findings that stand in the same report: they are not told again.

    At a registration stands what rules of ours warn of, as `plan` has it: the order is that of
    what the broker lets in, which may be any order where a rule knows of values that get lost.
    """
    warned = {
        action.topic: action.findings
        for action in plan.actions
        if isinstance(action, RegisterSchema)
    }
    wording = _Wording(rollout, "apply" if merged_already else "merge")
    parts: set[tuple[object, ...]] = set()
    for number, act in enumerate(wording.acts, start=1):
        findings = [finding for step in act.registers for finding in warned.get(step.topic, ())]
        yield Line(
            number=number,
            kind=act.kind,
            text=wording.text(act),
            steps=act.steps,
            reasons=_unsaid(_reasons(act, parts), shown_messages),
            advice=advice(act, rollout),
            warnings=_warnings(findings, shown_messages),
            folded=wording.digest(act),
        )


def _unsaid(reasons: Iterable[Reason], collection: Collection[str]) -> tuple[Reason, ...]:
    return tuple(reason for reason in reasons if reason.sentence(_MOST_NAMES) not in collection)


def _reasons(act: Act, parts: set[tuple[object, ...]]) -> tuple[Reason, ...]:
    """Those that no earlier line has: a consumer that cannot read a version is told of once.

    Who may upgrade, in any order, waits for nothing that is left to do.
    """
    if act.kind is ActKind.OPTIONAL:
        return ()
    reasons: list[Reason] = []
    for wait in (wait for step in act.steps for wait in step.waits_for):
        cause = wait.reason.cause
        key = (wait.topic, wait.reason.clients, wait.reason.state, cause.text) if cause else ()
        if wait.reason != IN_TURN and (not key or key not in parts):
            reasons.append(wait.reason)
    parts.update(
        (wait.topic, wait.reason.clients, wait.reason.state, wait.reason.cause.text)
        for step in act.steps
        for wait in step.waits_for
        if wait.reason.cause
    )
    return merged(reasons)


def _warnings(findings: Iterable[Finding], collection: Collection[str]) -> tuple[str, ...]:
    """The first message of each rule, if nobody read it, and the command for the rule's page."""
    first: dict[str, Finding] = {}
    for finding in findings:
        if finding.severity >= Severity.WARNING:
            first.setdefault(finding.rule, finding)
    return tuple(
        f"regardless of order, {rule} warns"
        f"{f' of {item.subject}' if item.message in collection else f': {item.message}'}"
        f" (`pulsar-gitops explain {rule}`)"
        for rule, item in first.items()
    )


class _Wording:
    """The acts of one rollout in words."""

    def __init__(self, rollout: Rollout, merge: str) -> None:
        self.rollout = rollout
        self.acts = acts(rollout)
        self._merge = merge
        self._merges = [act for act in self.acts if act.kind is ActKind.MERGE]
        self._must = any(act.kind is ActKind.UPGRADE for act in self.acts)

    def text(self, act: Act) -> str:
        """What is done."""
        match act.kind:
            case ActKind.MERGE:
                return f"{self._merge_text(act)}: registers {_versions(act, is_only=self._is_one)}"
            case ActKind.UPGRADE:
                return f"upgrade {self._upgrade_text(act)}"
            case ActKind.OPTIONAL:
                return self._optional_text(act)
            case ActKind.WAIT:
                return _drain_text(act)
            case ActKind.DELETE:
                return f"delete the schema of {_named(_topics(act))}"

    @property
    def _is_one(self) -> bool:
        return len(self._merges) == 1

    def digest(self, act: Act) -> str:
        """Of what the text may count only; empty where it is short."""
        names = [str(ordered.step) for ordered in act.steps]
        names += self.rollout.later if act.kind is ActKind.OPTIONAL else ()
        if len(names) <= _FEW_NAMES:
            return ""
        return hashlib.sha256("\n".join(names).encode()).hexdigest()[:_DIGITS]

    def _merge_text(self, act: Act) -> str:
        """A version cannot be registered in one merge with what has to come after an upgrade."""
        if self._is_one:
            return self._merge
        number = _ORDINALS.get(self._merges.index(act) + 1, "a further")
        what = "pull request" if self._merge == "merge" else "change"
        return f"{self._merge} {number} {what}"

    def _upgrade_text(self, act: Act) -> str:
        names = act.services
        if len(names) == 1:
            sides = _side_list(self.rollout.sides.get(names[0], ()))
            return f"{names[0]} ({sides})" if sides else names[0]
        groups: dict[str, list[str]] = {}
        for name in names:
            groups.setdefault(_roles(self.rollout.sides.get(name, ())), []).append(name)
        texts = (
            f"{_named(words)}{f' ({_plural(roles, len(words))})' if roles else ''}"
            for roles, words in groups.items()
        )
        return f"{', '.join(texts)}, in any order"

    def _optional_text(self, act: Act) -> str:
        names = [
            *act.services,
            *(f"{name} ({_roles(sides)})" for name, sides in self.rollout.later.items()),
        ]
        who = name_list(names, _FEW_NAMES)
        order = ", in any order" if len(names) > 1 else ""
        if not self._must:
            return f"nobody has to upgrade; {who} may{order}"
        return f"{who} may upgrade{order}"


_ORDINALS: Final = {1: "a first", 2: "a second", 3: "a third"}


def _versions(act: Act, *, is_only: bool) -> str:
    """`v1 of t`, `v1 of 11 topics`, `v1 of 8 topics and v0 of 3 topics`.

    Where it takes several merges, each one has to be put together, by the names.
    """
    versions: dict[int, list[str]] = {}
    for step in act.registers:
        versions.setdefault(step.version, []).append(str(step.topic))
    named = not is_only or len(act.registers) <= _FEW_NAMES
    parts = [
        f"v{version} of {_named(names) if named or len(names) == 1 else f'{len(names):,} topics'}"
        for version, names in sorted(versions.items(), reverse=True)
    ]
    return name_list(parts) if len(parts) < _FEW_NAMES else "; ".join(parts)


def _named(names: Sequence[str]) -> str:
    return name_list(names, _MOST_NAMES)


def _side_list(sides: Sequence[Side]) -> str:
    """`consumer of t and 5 more, no longer producer of u`."""
    topics: dict[tuple[bool, str], list[str]] = {}
    for side in sides:
        topics.setdefault((side.leaves, side.role.value), []).append(str(side.topic))
    return ", ".join(
        f"{'no longer ' if leaves else ''}{role} of {name_list(names, 1)}"
        for (leaves, role), names in topics.items()
    )


def _roles(sides: Sequence[Side]) -> str:
    """`consumer`, `consumer and producer`, `no longer consumer`."""
    there = dict.fromkeys(side.role.value for side in sides if not side.leaves)
    if there:
        return name_list(sorted(there))
    return "".join(f"no longer {side.role.value}" for side in sides[:1])


def _plural(roles: str, number: int) -> str:
    return roles if number == 1 else f"{roles.replace(' and', 's and')}s"


def _drain_text(act: Act) -> str:
    drains = [ordered.step for ordered in act.steps if isinstance(ordered.step, Drain)]
    if len({drain.topic for drain in drains}) == 1:
        versions = name_list([f"v{drain.version}" for drain in drains])
        return f"wait until no message of {versions} is left in {drains[0].topic}"
    names = [f"v{drain.version} of {drain.topic}" for drain in drains]
    return f"wait until no message is left of {_named(names)}"


def _topics(act: Act) -> list[str]:
    steps = (ordered.step for ordered in act.steps)
    return [str(step.topic) for step in steps if isinstance(step, Delete)]


def _messages(act: Act) -> list[str]:
    """Where a cluster tells what a topic still contains."""
    steps = [ordered.step for ordered in act.steps]
    topics = dict.fromkeys(step.topic for step in steps if not isinstance(step, Upgrade))
    return [
        f"the retention (pulsar-admin namespaces get-retention {topic.namespace}) "
        f"and every backlog (pulsar-admin topics stats {topic})"
        for topic in topics
    ]


def _few(texts: Sequence[str]) -> Iterator[str]:
    yield from texts[:_FEW_NAMES]
    if (left := len(texts) - _FEW_NAMES) > 0:
        yield f"the same of {left:,} more"


def advice(act: Act, rollout: Rollout) -> tuple[str, ...]:
    """What the strategy says where nobody declares clients; where to see a wait, what is left.

    No file knows of retention or backlogs.
    """
    match act.kind:
        case ActKind.MERGE:
            return tuple(_by_strategy([step.topic for step in act.registers], rollout))
        case ActKind.UPGRADE | ActKind.OPTIONAL:
            topics = {topic for name in act.services for topic in rollout.left.get(name, ())}
            stats = [f"pulsar-admin topics stats {topic}" for topic in sorted(topics)]
            look = "first see that nothing is left to read"
            return tuple(f"{look}: {text}" for text in _few(stats))
        case ActKind.WAIT:
            return tuple(f"see {text}" for text in _few(_messages(act)))
        case ActKind.DELETE:
            look = "messages that are left would lose their schema: look first at"
            then = "then `pulsar-gitops plan --prune`"
            return tuple(f"{look} {text}; {then}" for text in _few(_messages(act)))


def _by_strategy(topics: Iterable[TopicName], rollout: Rollout) -> Iterator[str]:
    grouped: dict[SchemaCompatibilityStrategy, list[str]] = {}
    for topic in topics:
        if strategy := rollout.strategies.get(topic):
            grouped.setdefault(strategy, []).append(str(topic))
    for strategy, names in grouped.items():
        who = undeclared_text(rollout, f" of {name_list(names, _FEW_NAMES)}")
        yield f"{who}; by {strategy.value}, {_ADVICE[upgrade_first(strategy)]}"


def undeclared_text(rollout: Rollout, whose: str = "") -> str:
    """Why only the strategy is known of clients; `whose` are those that nobody declares."""
    if registry := rollout.client_registry:
        return f"clients declare versions of {registry}"
    return f"no client{whose} is declared"


def refusals(rollout: Rollout) -> Iterator[str]:
    """What is not registered at all, and why nobody upgrades where the strategy says so."""
    for topic in rollout.refused:
        strategy = rollout.strategies.get(topic)
        nobody = strategy and upgrade_first(strategy) is UpgradeFirst.NOBODY
        why = f" ({strategy.value}: {_ADVICE[UpgradeFirst.NOBODY]})" if nobody and strategy else ""
        yield f"Pulsar refuses the new schema of {topic}{why}"


# The way to a new topic in words: as one line, and as steps.

_MOST_MOVES: Final = 3


def migrate_command(reference: str) -> str:
    """What writes the manifests of a migration's first steps; `reference` is the base."""
    return shlex.join(["pulsar-gitops", "rollout", "--base", reference or "REF", "--migrate"])


def alternative(rollout: Rollout, reference: str) -> str:
    """The way out by new topics in one line; empty where there is none."""
    if not rollout.migrations:
        return ""
    names = name_list([str(migration.to) for migration in rollout.migrations], _MOST_MOVES)
    of = " for what is refused" if rollout.refused else ""
    how = f"`{migrate_command(reference)}` writes the manifests"
    return f"Alternative{of}: move to {names} ({how})"


def migration_lines(migration: Migration) -> Iterator[tuple[int, str]]:
    """The steps from the old topic to the new one, in order, with their numbers."""
    for number, move in enumerate(Move, start=1):
        yield number, _move_text(move, migration)


def _move_text(move: Move, migration: Migration) -> str:
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
