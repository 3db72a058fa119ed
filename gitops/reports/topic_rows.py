"""What a check says of each topic, as the rows of one table, the worst first."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import partial
from typing import Final

from gitops.model.check import RegistryCheck
from gitops.model.findings import Finding, Severity
from gitops.model.names import TopicName
from gitops.model.plan import (
    CreateTopic,
    DeleteSchema,
    Notice,
    RefusedSchema,
    RegisterSchema,
    SchemaChange,
    SchemaDrift,
    SchemaSwallowed,
    SchemaWithoutEffect,
)
from gitops.model.policy import SchemaCompatibilityStrategy, UpgradeFirst, upgrade_first
from gitops.model.state import TenantState
from gitops.model.waivers import WaiverProposal
from gitops.reports.check_summary import OTHER_VALUES, count
from gitops.reports.replay_by_topic import TopicResult, topics_of
from gitops.reports.upgrade_order import (
    NO_SAFE_ORDER,
    NOBODY,
    UpgradeOrder,
    by_strategy,
    clients_first,
)

NONE: Final = "–"
UNKNOWN: Final = "not known yet"
NO_ORDER: Final = "no order helps"
"""Before and after each upgrade somebody reads other values than were written."""
WITH_EDIT: Final = " (with the edit)"
"""Behind who upgrades first for a refused schema, once the edit is made that is offered."""
REPLAY_FAILS: Final = "replay fails"
_WARNING: Final = (" warning", " warnings")


class TopicStatus(IntEnum):
    """How a topic's change stands; the worst comes first."""

    REFUSED = 0
    HELD_BACK = 1
    NO_SAFE_ORDER = 2
    DELETED = 3
    WAIVED = 4
    RULE_WAIVED = 5
    LOOSENED = 6
    WITHOUT_EFFECT = 7
    DRIFTED = 8
    WARNED = 9
    ACCEPTED = 10
    IGNORED = 11


class Weight(IntEnum):
    """How much the details of a topic matter: the reasons for a refusal are cut last."""

    STOPPED = 0
    ODD = 1
    GOOD = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One topic on one registry.

    `findings` speak against the change, `before` against it under the base's strategy. A
    `waiver` would let it pass, one of the name `waived_by` does.
    """

    standing: TopicStatus
    topic: TopicName
    registry: str
    versions: str
    verdict: str
    type: str = NONE
    strategy: str = NONE
    upgrade_first: str = NONE
    changes: tuple[SchemaChange, ...] = ()
    findings: tuple[Finding, ...] = ()
    before: tuple[Finding, ...] = ()
    waiver: WaiverProposal | None = None
    waived_by: str = ""
    replay: TopicResult | None = None

    @property
    def weight(self) -> Weight:
        """What decides comes first; at GOOD nobody needs to look."""
        if self.standing <= TopicStatus.NO_SAFE_ORDER or self._replayed is Severity.ERROR:
            return Weight.STOPPED
        odd = self.standing < TopicStatus.ACCEPTED or self._replayed is Severity.WARNING
        return Weight.ODD if odd else Weight.GOOD

    @property
    def is_refused(self) -> bool:
        """Whether its schema would not be registered."""
        return self.standing <= TopicStatus.HELD_BACK

    @property
    def is_unread(self) -> bool:
        """Whether the replay alone speaks against it."""
        return self._replayed is Severity.ERROR and not self.is_refused

    @property
    def _replayed(self) -> Severity:
        return self.replay.worst if self.replay else Severity.OFF


def rows_of(checks: Sequence[RegistryCheck]) -> list[Row]:
    """All rows, the worst first, then by topic."""
    rows = [row for check in checks for row in _with_replay(check)]
    return sorted(rows, key=_order)


def _order(row: Row) -> tuple[bool, TopicStatus, TopicName, str]:
    return row.weight is not Weight.STOPPED, row.standing, row.topic, row.registry


def _with_replay(check: RegistryCheck) -> Iterator[Row]:
    results = {result.topic: result for result in topics_of(check.replay)} if check.replay else {}
    for row in _rows(check):
        yield _replayed(replace(row, replay=results.get(row.topic)))


def _replayed(row: Row) -> Row:
    """With what the replay adds to the verdict: that it fails, or its warnings."""
    if row.is_unread:
        return replace(row, verdict=f"✗ {REPLAY_FAILS}", upgrade_first=UNKNOWN)
    findings = row.replay.findings if row.replay else ()
    if row.upgrade_first == NOBODY and any(finding.rule == OTHER_VALUES for finding in findings):
        row = replace(row, upgrade_first=NO_ORDER)
    warnings = _warnings((*row.findings, *findings))
    is_warned = row.standing is TopicStatus.ACCEPTED or row.verdict.endswith(_WARNING)
    if is_warned and warnings:
        return replace(row, standing=TopicStatus.WARNED, verdict=f"⚠ {count(warnings, 'warning')}")
    return row


def _warnings(findings: Sequence[Finding]) -> int:
    return sum(finding.severity >= Severity.WARNING for finding in findings)


def _rows(check: RegistryCheck) -> Iterator[Row]:
    order = UpgradeOrder(check.to_merge.rollout)
    for action in check.plan.actions:
        match action:
            case RegisterSchema():
                yield _registered(check, action, order)
            case DeleteSchema():
                yield _deleted(check, action)
            case _:
                pass
    for notice in check.plan.notices:
        yield _noticed(check, notice, order)


def _registered(check: RegistryCheck, action: RegisterSchema, order: UpgradeOrder) -> Row:
    standing, verdict = _standing(check, action, order)
    is_new = action.latest_version is None
    return Row(
        standing=standing,
        topic=action.topic,
        registry=check.plan.registry,
        type=action.info.type.value,
        versions=f"{_version(action.latest_version)} → v{action.version}",
        strategy=_strategy(check, action.topic, action.strategy),
        verdict=verdict,
        upgrade_first=order.first(
            action.topic, action.strategy, is_new=is_new, is_waived=bool(action.waiver)
        ),
        changes=action.changes,
        findings=action.findings,
        before=() if action.waiver else check.refused_before.get(action.topic, ()),
        waived_by=action.waiver,
    )


def _standing(
    check: RegistryCheck, action: RegisterSchema, order: UpgradeOrder
) -> tuple[TopicStatus, str]:
    """How it stands, and the verdict in words."""
    if action.waiver:
        if action.accepted:
            return TopicStatus.RULE_WAIVED, "⚠ held back, waived"
        return TopicStatus.WAIVED, "⚠ refused by Pulsar, waived"
    if action.topic in order.blocked:
        return TopicStatus.NO_SAFE_ORDER, f"✗ {NO_SAFE_ORDER}"
    early = order.early_clients.get(action.topic, 0)
    if action.topic in check.refused_before:
        old = check.strategies_before.get(action.topic)
        what = f"refused under {old.value if old else 'the old policies'}"
        return TopicStatus.LOOSENED, f"✗ {clients_first(early)}; {what}" if early else f"⚠ {what}"
    if early:
        return TopicStatus.WARNED, f"✗ {clients_first(early)}"
    if warnings := _warnings(action.findings):
        return TopicStatus.WARNED, f"⚠ {count(warnings, 'warning')}"
    return TopicStatus.ACCEPTED, "✓ compatible"


def _deleted(check: RegistryCheck, action: DeleteSchema) -> Row:
    return Row(
        standing=TopicStatus.DELETED,
        topic=action.topic,
        registry=check.plan.registry,
        versions=f"v{action.versions[-1]} → {NONE}" if action.versions else NONE,
        verdict="⚠ deleted",
    )


def _noticed(check: RegistryCheck, notice: Notice, order: UpgradeOrder) -> Row:
    if isinstance(notice, RefusedSchema):
        return _refused(check, notice, order)
    topic, changes = notice.topic, notice.changes
    row = partial(Row, topic=topic, registry=check.plan.registry, changes=changes)
    match notice:
        case SchemaWithoutEffect():
            return row(
                standing=TopicStatus.WITHOUT_EFFECT,
                versions=f"v{notice.latest_version} stays, not v{notice.equal_version}",
                verdict="⚠ no effect",
                findings=_about(check, topic, "PLAN-R003"),
            )
        case SchemaDrift():
            return row(
                standing=TopicStatus.DRIFTED,
                versions=f"v{notice.latest_version}, not v{notice.equal_version}",
                verdict="⚠ not in the files" if notice.limit else "⚠ not in git",
                findings=_about(check, topic, "PLAN-R010"),
            )
        case SchemaSwallowed():
            return row(
                standing=TopicStatus.RULE_WAIVED if notice.waiver else TopicStatus.IGNORED,
                versions=f"v{notice.version}",
                verdict="⚠ ignored by Pulsar, waived" if notice.waiver else "= ignored",
                findings=notice.findings,
                waived_by=notice.waiver,
            )


def _refused(check: RegistryCheck, notice: RefusedSchema, order: UpgradeOrder) -> Row:
    return Row(
        standing=TopicStatus.HELD_BACK if notice.accepted else TopicStatus.REFUSED,
        topic=notice.topic,
        registry=check.plan.registry,
        type=notice.info.type.value,
        versions="none" if notice.latest_version is None else f"v{notice.latest_version} stays",
        strategy=_strategy(check, notice.topic, notice.strategy),
        verdict="✗ held back" if notice.accepted else "✗ refused",
        upgrade_first=_refused_first(check, notice, order),
        changes=notice.changes,
        findings=notice.findings,
        waiver=notice.waiver,
    )


def _refused_first(check: RegistryCheck, notice: RefusedSchema, order: UpgradeOrder) -> str:
    if check.edited:
        members = (
            action for action in check.edited.plan.actions if isinstance(action, RegisterSchema)
        )
        if notice.topic not in {action.topic for action in members}:
            return f"{NOBODY}{WITH_EDIT}"  # the change is undone
        is_new = notice.latest_version is None
        first = order.first(notice.topic, notice.strategy, is_new=is_new)
        return first if first == by_strategy(notice.strategy) else f"{first}{WITH_EDIT}"
    nobody = upgrade_first(notice.strategy) is UpgradeFirst.NOBODY
    return by_strategy(notice.strategy) if nobody else UNKNOWN


def _about(check: RegistryCheck, topic: TopicName, rule: str) -> tuple[Finding, ...]:
    subject = str(topic)
    return tuple(f for f in check.plan.findings if f.rule == rule and f.subject == subject)


def _version(number: int | None) -> str:
    return "new" if number is None else f"v{number}"


def _strategy(check: RegistryCheck, topic: TopicName, now: SchemaCompatibilityStrategy) -> str:
    before = check.strategies_before.get(topic)
    return now.value if before in (None, now) else f"{now.value} (was {before.value})"


# The same changes of several topics, such as those of a shared type, as one list of changes.

ALIKE: Final = 3
"""As many topics with the same changes share one list of them."""


def changes_key(changes: Sequence[SchemaChange]) -> Hashable:
    """Equal for changes that differ only in the fields that lead to them."""
    return tuple((c.kind, _leaf(c.path), c.before, c.after, c.note) for c in changes)


def shared_changes(topics: Sequence[Sequence[SchemaChange]]) -> tuple[SchemaChange, ...]:
    """The changes of topics that have the same key, at least one; `a` where paths to it differ."""
    return tuple(
        first
        if len({changes[number].path for changes in topics}) == 1
        else replace(first, path=_leaf(first.path))
        for number, first in enumerate(topics[0])
    )


def _leaf(path: str) -> str:
    return path.rpartition(".")[2]


def creation_text(action: CreateTopic) -> str:
    """`new topic (4 partitions)`."""
    number = action.partitions
    return f"new topic ({count(number, 'partition')})" if number else "new topic"


def tenant_text(tenant: TenantState) -> str:
    """`all clusters, roles ops` of a tenant that is created."""
    clusters, roles = tenant.allowed_clusters, tenant.admin_roles
    where = "all clusters" if clusters is None else f"clusters {', '.join(sorted(clusters))}"
    return f"{where}, roles {', '.join(sorted(roles))}" if roles else where
