"""What a restore would do to a registry, and what keeps it from the recorded version numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from gitops.model.names import NamespaceName, TopicName
from gitops.model.plan import Plan
from gitops.model.policy import PolicyValue
from gitops.model.schema import SchemaHistory


@dataclass(frozen=True, slots=True, kw_only=True)
class Obstacle:
    """Why a registry cannot become what the snapshot has; `hint` is what to do about it.

    `versions` are the recorded ones that the registry would not have under their numbers: messages
    that were stored with these would not decode.
    """

    subject: NamespaceName | TopicName
    reason: str
    hint: str = ""
    versions: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What a restore does not make as it was; `hint` is who can do that, and how."""

    subject: NamespaceName | TopicName
    reason: str
    hint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldPolicy:
    """A policy to which a restore gave a `value` for its time, and which nothing set back so far.

    `before` is what it was, `journal` the file that knows.
    """

    subject: NamespaceName | TopicName
    key: str
    value: PolicyValue
    before: PolicyValue
    journal: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnfinishedRestore:
    """What restores that came to no end left in a registry.

    `held` are policies that nothing set back, `created` namespaces that did not exist before.
    """

    held: tuple[HeldPolicy, ...] = ()
    created: frozenset[NamespaceName] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicRestore:
    """What is to be done to one history: first the deletions, then the versions, by their numbers.

    `recorded` is what the snapshot has. A deletion takes a number that no version has.
    """

    topic: TopicName
    recorded: SchemaHistory
    deletions: tuple[int, ...] = ()
    versions: tuple[int, ...] = ()
    obstacles: tuple[Obstacle, ...] = ()

    def with_remedies(self, registry: str) -> TopicRestore:
        """The same, where each obstacle without a hint has the one that always helps."""
        command = f"pulsar-gitops schemas delete --force {self.topic} --registry {registry} --yes"
        hint = f"if no stored message needs what is there: {command}"
        obstacles = (replace(obstacle, hint=obstacle.hint or hint) for obstacle in self.obstacles)
        return replace(self, obstacles=tuple(obstacles))

    @property
    def is_there(self) -> bool:
        """Whether the registry has all of it."""
        return not (self.deletions or self.versions or self.obstacles)


@dataclass(frozen=True, slots=True, kw_only=True)
class Restore:
    """A restore of the snapshot of `source`, proved from the snapshot before anything is written.

    `plan` has the actions in their order, and none where there is an obstacle. `release` is that
    of the brokers which the snapshot was taken of, empty where it is not known; `taken` when that
    was, in UTC as RFC 3339, empty where it is not known. `left` is no obstacle, and stays.
    `additions` have versions that the snapshot lacks. `unrecorded` are topics whose schema in git
    is none of the versions that are restored, and topics that only git's history records. `notes`
    say what of the records does not count.
    """

    source: str
    plan: Plan
    release: str = ""
    taken: str = ""
    topics: tuple[TopicRestore, ...] = ()
    others: tuple[Obstacle, ...] = ()
    left: tuple[Difference, ...] = ()
    additions: tuple[str, ...] = ()
    unrecorded: tuple[Difference, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def obstacles(self) -> tuple[Obstacle, ...]:
        """All that keeps it from being done, by subject."""
        obstacles = [
            *self.others,
            *(obstacle for topic in self.topics for obstacle in topic.obstacles),
        ]
        return tuple(obstacles)


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreCheck:
    """What the registry has after a restore: how many versions are as recorded, and what is not."""

    versions: int = 0
    differences: Mapping[TopicName, str] = field(default_factory=dict)
