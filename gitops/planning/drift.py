"""Versions that were registered past git: which topics to look at, and what a plan says of them.

A plan is made without git's history, which is slow to read and concerns few topics. What depends
on it is added here.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Final, TypeVar

from gitops.model.findings import Finding
from gitops.model.names import TopicName
from gitops.model.plan import (
    Action,
    ChangeKind,
    Notice,
    Plan,
    RefusedSchema,
    RegisterSchema,
    SchemaChange,
    SchemaDrift,
    SchemaWithoutEffect,
    UnknownVersion,
)
from gitops.model.rules import apply_severities, make_finding
from gitops.model.schema import SchemaEntry, SchemaHistory
from gitops.planning.plan import PlanInput
from gitops.schemas.diff import schema_changes

_Change = TypeVar("_Change", RegisterSchema, RefusedSchema)
_SHOWN: Final = 5
_VERBS: Final = {
    ChangeKind.ADDED: "adds",
    ChangeKind.REMOVED: "removes",
    ChangeKind.CHANGED: "changes",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """The versions that some commit declared, by topic.

    `limit` says in a sentence why commits may be missing; empty where all are known.
    """

    declared: Mapping[TopicName, frozenset[int]] = field(default_factory=dict)
    limit: str = ""


LookUp = Callable[[Mapping[TopicName, SchemaHistory]], Provenance]
"""Reads git's history for what a registry holds of some topics."""


def add_drift(plan: Plan, plan_input: PlanInput, look_up: LookUp) -> Plan:
    """The plan for what was asked, with what git's history tells of the versions that it meets."""
    provenance = read_provenance(plan, plan_input, look_up)
    if provenance is None:
        return plan
    judge = _Judge(plan_input, provenance)
    actions = tuple(judge.action(action) for action in plan.actions)
    notices = tuple(judge.notice(notice) for notice in plan.notices)
    drifted = {str(notice.topic) for notice in notices if isinstance(notice, SchemaDrift)}
    kept = [f for f in plan.findings if f.rule != _REVERT or f.subject not in drifted]
    return replace(plan, actions=actions, notices=notices, findings=(*kept, *judge.findings))


def read_provenance(plan: Plan, plan_input: PlanInput, look_up: LookUp) -> Provenance | None:
    """What git's history tells of the topics that differ; None where none does."""
    topics = sorted(set(different_topics(plan)))
    if not topics:
        return None
    return look_up({topic: plan_input.observed.topics[topic].history for topic in topics})


def different_topics(plan: Plan) -> Iterator[TopicName]:
    """The topics whose latest version is another one than the files have."""
    for item in (*plan.actions, *plan.notices):
        if not isinstance(item, RegisterSchema | RefusedSchema | SchemaWithoutEffect):
            continue
        if item.latest_version is not None:
            yield item.topic


class _Judge:
    """What becomes of actions and notices; what is found on the way is in `findings`."""

    def __init__(self, plan_input: PlanInput, provenance: Provenance) -> None:
        self._plan_input = plan_input
        self._provenance = provenance
        self.findings: list[Finding] = []

    def action(self, action: Action) -> Action:
        return self._with_latest_note(action) if isinstance(action, RegisterSchema) else action

    def notice(self, notice: Notice) -> Notice:
        match notice:
            case RefusedSchema():
                # A definition that is refused by itself is so whatever the latest version is.
                is_compared = any(finding.compared is not None for finding in notice.findings)
                return self._with_latest_note(notice) if is_compared else notice
            case SchemaWithoutEffect():
                return self._without_effect(notice)
        return notice

    def _without_effect(self, notice: SchemaWithoutEffect) -> Notice:
        topic = notice.topic
        _, unknown = self._split(topic, notice.equal_version)
        if not unknown:
            return notice
        desired = self._plan_input.desired.topics[topic].history.latest
        drift = SchemaDrift(
            topic=topic,
            equal_version=notice.equal_version,
            unknown=tuple(
                UnknownVersion(version=entry.version, timestamp=entry.timestamp)
                for entry in unknown
            ),
            changes=schema_changes(desired.info if desired else None, unknown[-1].info),
            limit=self._provenance.limit,
        )
        texts = (
            unknown_versions_text(drift.unknown, drift.limit),
            _what(drift.changes),
            uncertainty_text(drift),
        )
        message = "; ".join(filter(None, texts))
        hint = (
            f"{self._adopt(topic)}; to keep the schema of the files: pulsar-gitops explain {_RULE}"
        )
        self._found(topic, message, hint)
        return drift

    def _with_latest_note(self, change: _Change) -> _Change:
        """Whose schema is a new one, with a word on the latest where all of git is known."""
        if change.latest_version is None or self._provenance.limit:
            return change
        known, unknown = self._split(change.topic)
        if not unknown:
            return change
        before = known[-1].info if known else None
        what = _what(schema_changes(before, unknown[-1].info))
        message = f"{unknown_versions_text(unknown)}{f'; {what}' if what else ''}"
        hint = (
            f"{self._adopt(change.topic)}, then change the files again; otherwise this version "
            "is registered after it"
        )
        findings: tuple[Finding, ...] = self._found(change.topic, message, hint)
        return replace(change, findings=(*change.findings, *findings))

    def _split(
        self, topic: TopicName, equal: int | None = None
    ) -> tuple[tuple[SchemaEntry, ...], tuple[SchemaEntry, ...]]:
        history = self._plan_input.observed.topics[topic].history
        return split_versions(history, self._provenance.declared.get(topic, ()), equal)

    def _adopt(self, topic: TopicName) -> str:
        return f"adopt it: {adopt_command(topic, self._plan_input.registry)}"

    def _found(self, topic: TopicName, message: str, hint: str) -> tuple[Finding, ...]:
        """The finding as the rules rate it; none where it is off."""
        finding = make_finding(
            _RULE,
            message,
            location=self._plan_input.locate(topic, ""),
            subject=str(topic),
            hint=hint,
        )
        rated = apply_severities([finding], self._plan_input.rules)
        self.findings += rated
        return rated


def split_versions(
    history: SchemaHistory, declared: Iterable[int], equal: int | None = None
) -> tuple[tuple[SchemaEntry, ...], tuple[SchemaEntry, ...]]:
    """The versions up to the newest that some commit declared, and those after it.

    `equal` is the version that the files have now.
    """
    known = {*declared, equal}
    entries = history.entries
    unknown = list(takewhile(lambda entry: entry.version not in known, reversed(entries)))
    at = len(entries) - len(unknown)
    return entries[:at], entries[at:]


def adopt_command(topic: TopicName, registry: str) -> str:
    """The command that takes the registry's latest version into the files."""
    return f"pulsar-gitops drift --adopt {topic} --registry {registry}"


def unknown_versions_text(unknown: Sequence[UnknownVersion | SchemaEntry], limit: str = "") -> str:
    """`v1, the latest version, is not in git: registered …, by whom is unknown`."""
    where = "in the files" if limit else "in git"
    numbers = [f"v{item.version}" for item in unknown]
    when = f"registered {moment_text(unknown[-1].timestamp)}, {_WHO}"
    if len(unknown) == 1:
        return f"{numbers[0]}, the latest version, is not {where}: {when}"
    names = f"{', '.join(numbers[:-1])} and {numbers[-1]}"
    return f"{names}, the latest versions, are not {where}: {numbers[-1]} {when}"


def uncertainty_text(drift: SchemaDrift) -> str:
    """What git's history leaves open, empty where it is whole."""
    them = "it" if len(drift.unknown) == 1 else "them"
    return f"whether git contained {them} is unknown: {drift.limit}" if drift.limit else ""


def moment_text(timestamp: int | None) -> str:
    """`2026-11-20 09:12:55 UTC` of ms since 1970, as a registry stores it."""
    if timestamp is None:
        return "at an unknown time"
    moment = datetime.datetime.fromtimestamp(timestamp / 1000, tz=datetime.UTC)
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"


def _what(changes: Sequence[SchemaChange]) -> str:
    """`adds coupon; changes note`; empty where nothing differs."""
    texts = []
    for kind, verb in _VERBS.items():
        paths = [change.path or "the schema" for change in changes if change.kind is kind]
        if paths:
            left = len(paths) - _SHOWN
            remainder = f" and {left} more" if left > 0 else ""
            texts.append(f"{verb} {', '.join(paths[:_SHOWN])}{remainder}")
    return "; ".join(texts)


_RULE: Final = "PLAN-R010"
_REVERT: Final = "PLAN-R003"
_WHO: Final = "by whom is unknown"
