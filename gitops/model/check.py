"""What a pull request would do: the plan of its own changes, and apart from it what is drift."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, StrEnum

from gitops.model.findings import Finding
from gitops.model.names import NamespaceName, TopicName
from gitops.model.plan import Plan
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.model.replay import ReplayReport
from gitops.model.rollout import Rollout
from gitops.model.waivers import Waiver, WaiverProposal


class HistorySource(Enum):
    """Where the versions come from that a change is compared with; the best comes first."""

    REGISTRY = "registry"
    SNAPSHOT = "snapshot"
    GIT = "git"


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """The source, and what it cannot know, in whole sentences.

    `recorded` is the day of the oldest snapshot that was used, as `2026-11-20`, else empty.
    """

    source: HistorySource
    recorded: str = ""
    limits: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Impact:
    """What a change touches and what it reaches, each with the changed files that lead there.

    `removed` are topics whose manifest is gone, `renamed` those that look like another topic of
    the base (old → new): neither keeps its history.
    """

    topics: Mapping[TopicName, tuple[str, ...]] = field(default_factory=dict)
    namespaces: Mapping[NamespaceName, tuple[str, ...]] = field(default_factory=dict)
    clients: tuple[str, ...] = ()
    waivers: tuple[str, ...] = ()
    removed: tuple[TopicName, ...] = ()
    renamed: Mapping[TopicName, TopicName] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PlannedRollout:
    """A plan, the order in which the declared clients of its topics upgrade, and what fails."""

    plan: Plan
    rollout: Rollout
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryCheck:
    """The answer for one registry.

    `plan` contains what the change affects and nothing else. `drift` is what differs
    without this change, None where nobody looked. `strategies_before` are the strategies that
    hold at the base, of topics whose strategy the change alters; `refused_before` says, of
    schemas that are accepted, why the policies of the base would refuse them. `rollout` is the
    order in which the declared clients of the topics upgrade. `replay` is what became of the
    topics' samples, None where nobody asked or it failed. `edited` is what both would be with the
    edits that are offered for refused schemas, None where there are none or not for all.
    """

    plan: Plan
    history: History
    strategies_before: Mapping[TopicName, SchemaCompatibilityStrategy] = field(default_factory=dict)
    refused_before: Mapping[TopicName, tuple[Finding, ...]] = field(default_factory=dict)
    drift: Plan | None = None
    rollout: Rollout = field(default_factory=Rollout)
    replay: ReplayReport | None = None
    edited: PlannedRollout | None = None

    @property
    def to_merge(self) -> PlannedRollout:
        """The plan and the order to decide by: with the edits, where there are any."""
        return self.edited or PlannedRollout(plan=self.plan, rollout=self.rollout)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """Everything that there is to say about a change.

    `base` and `head` are 40 hex digits of the merge base and of the change; `head` is empty for
    the files as they lie in the folder. `reference` is the base as the user named it. `findings`
    are about files, waivers and the change as a whole; those about a topic's schema stand in its
    registry's plan. `waivers` are those that let a schema of it in. `failures` says of a registry
    why there is no answer, and `unchecked` are the others of `gitops.yaml`, which were not asked.
    `command` repeats the check. `limit_waiver` would let it change so many topics.
    """

    base: str
    head: str
    reference: str
    files: str
    touched: Impact
    registries: tuple[RegistryCheck, ...] = ()
    waivers: tuple[Waiver, ...] = ()
    failures: Mapping[str, str] = field(default_factory=dict)
    unchecked: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    command: str = ""
    limit_waiver: WaiverProposal | None = None


# Where a user wants known versions from.


class HistoryChoice(StrEnum):
    """`auto` is the best that there is: the registry, its committed snapshot, git."""

    AUTO = "auto"
    REGISTRY = "registry"
    SNAPSHOT = "snapshot"
    GIT = "git"
