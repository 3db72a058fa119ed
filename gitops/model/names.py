"""Pulsar's names: namespaces and topics, and the name under which a schema history is kept."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeVar

from gitops.model.errors import InvalidNameError

Domain = Literal["persistent", "non-persistent"]
_T = TypeVar("_T")

# Pulsar's NamedEntity: what a tenant's and a namespace's name may be made of.
_ENTITY: Final = re.compile(r"[-=:.\w]+", re.ASCII)
_NAMESPACE_PARTS: Final = 2
_TOPIC_PARTS: Final = 3
# What Java's TopicName takes for a partition: an int without leading zeros.
_PARTITION: Final = re.compile(r"-partition-(0|[1-9][0-9]{0,9})\Z")
_MAX_INT: Final = 2**31 - 1
_DOMAINS: Final[Mapping[str, Domain]] = {
    "persistent": "persistent",
    "non-persistent": "non-persistent",
    "topic": "persistent",
}
_OF_COORDINATOR: Final = ("transaction_coordinator_assign", "__transaction_log_")
_SYSTEM_TOPICS: Final = ("__change_events", "__transaction_")


@dataclass(frozen=True, slots=True, order=True)
class TenantName:
    """A tenant."""

    name: str

    @classmethod
    def parse(cls, text: str) -> TenantName:
        """Read a tenant's name; raises InvalidNameError for anything else."""
        if not _ENTITY.fullmatch(text):
            raise InvalidNameError(
                f"'{text}' is not a tenant", hint="write letters, digits and - = : . _"
            )
        return cls(text)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True, order=True)
class NamespaceName:
    """`tenant/namespace`."""

    tenant: str
    local_name: str

    @classmethod
    def parse(cls, text: str) -> NamespaceName:
        """Read `tenant/namespace`; raises InvalidNameError for anything else."""
        parts = text.split("/")
        if len(parts) != _NAMESPACE_PARTS or not all(map(_ENTITY.fullmatch, parts)):
            raise InvalidNameError(
                f"'{text}' is not a namespace",
                hint="write tenant/namespace, each of letters, digits and - = : . _",
            )
        return cls(*parts)

    def __str__(self) -> str:
        return f"{self.tenant}/{self.local_name}"


@dataclass(frozen=True, slots=True, order=True)
class TopicName:
    """A topic, without partition: a partitioned topic is one topic.

    A schema history belongs to tenant, namespace and local name; the domain is no part of it
    (Pulsar 4.0.7), so `persistent://a/b/c` and `non-persistent://a/b/c` share one.
    """

    namespace: NamespaceName
    local_name: str
    domain: Domain = "persistent"

    @classmethod
    def parse(cls, text: str) -> TopicName:
        """Read `tenant/namespace/topic`, with or without `persistent://` before it.

        A `-partition-N` at the end is cut off, as the schema registry of Pulsar 4.0.7 does. A
        scalable topic, `topic://`, is the persistent one, whose schemas it shares (Pulsar
        5.0.0-M1). Raises InvalidNameError.
        """
        given, rest = text.split("://", 1) if "://" in text else ("persistent", text)
        domain = _DOMAINS.get(given)
        if domain is None:
            raise InvalidNameError(
                f"'{given}' is not a topic domain",
                hint="use persistent, non-persistent or topic",
            )
        parts = rest.split("/", 2)
        if len(parts) != _TOPIC_PARTS:
            raise InvalidNameError(f"'{text}' is not a topic", hint="write tenant/namespace/topic")
        namespace = NamespaceName.parse("/".join(parts[:2]))
        return cls.of(namespace, parts[2], domain)

    @classmethod
    def parse_whole(cls, text: str) -> TopicName:
        """As `parse`, but for whatever is done to all partitions.

        Raises InvalidNameError for the name of one of them, too.
        """
        topic = cls.parse(text)
        if text.rpartition("/")[2] != topic.local_name:
            raise InvalidNameError(
                f"'{text}' is the name of a partition",
                hint=f"name the topic, with all of its partitions: {topic}",
            )
        return topic

    @classmethod
    def of(
        cls, namespace: NamespaceName, local_name: str, domain: Domain = "persistent"
    ) -> TopicName:
        """The topic of that local name; raises InvalidNameError for an empty or impossible one."""
        name = local_name
        if (match := _PARTITION.search(name)) and int(match[1]) <= _MAX_INT:
            name = name[: match.start()]
        if not name.strip() or "/" in name:
            raise InvalidNameError(
                f"'{local_name}' is not a topic's name",
                hint="a topic's name is not empty and has no slash",
            )
        return cls(namespace, name, domain)

    @property
    def is_system(self) -> bool:
        """Whether it is one of Pulsar's own topics, by its name."""
        return self.local_name.startswith(_SYSTEM_TOPICS)

    @property
    def is_of_transactions(self) -> bool:
        """Whether brokers keep it for transactions and refuse every client (Pulsar 4.0.7).

        Topics for pending acknowledgements of any namespace, and the coordinator's in
        `pulsar/system`, if they are persistent.
        """
        if self.domain != "persistent":
            return False
        of_coordinator = str(self.namespace) == "pulsar/system" and self.local_name.startswith(
            _OF_COORDINATOR
        )
        return of_coordinator or self.local_name.endswith("__transaction_pending_ack")

    @property
    def is_of_subscription(self) -> bool:
        """Whether it is named as the dead-letter or retry topic of a subscription.

        Clients make such names of a topic's and a subscription's: `<topic>-<subscription>-DLQ`
        and `-RETRY` (Pulsar 4.0.7).
        """
        return self.local_name.endswith(("-DLQ", "-RETRY"))

    @property
    def keeper(self) -> TopicName:
        """The persistent topic, by whose name a schema history is known."""
        is_its_own = self.domain == "persistent"
        return self if is_its_own else TopicName(self.namespace, self.local_name)

    def __str__(self) -> str:
        short = f"{self.namespace}/{self.local_name}"
        return short if self.domain == "persistent" else f"{self.domain}://{short}"


def find_in_either_domain(grouped: Mapping[TopicName, _T], topic: TopicName) -> _T | None:
    """What is known of a topic, or else of the one that shares its schema history."""
    other: Domain = "non-persistent" if topic.domain == "persistent" else "persistent"
    return grouped.get(topic) or grouped.get(replace(topic, domain=other))
