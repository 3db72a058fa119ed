"""Clients of topics: what services declare, and what the statistics of a cluster show."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from gitops.model.findings import Location
from gitops.model.names import TopicName
from gitops.model.schema import SchemaInfo

SchemalessClient = Literal["AUTO_CONSUME", "AUTO_PRODUCE", "NONE"]

ClientLanguage = Literal["java", "python", "go", "node", "cpp", "dotnet", "dotpulsar"]
"""Client libraries that decode differently: `dotnet` is Pulsar.Client."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionPin:
    """The schema that the default registry holds under this version."""

    version: int


ClientSchema = VersionPin | SchemaInfo | SchemalessClient


@dataclass(frozen=True, slots=True, kw_only=True)
class Consumes:
    """A subscription and the reader's schemas."""

    topic: TopicName
    subscription: str
    schemas: tuple[ClientSchema, ...]
    location: Location


@dataclass(frozen=True, slots=True, kw_only=True)
class Produces:
    """A topic that is written, with one schema or, for several kinds of event, several."""

    topic: TopicName
    schemas: tuple[ClientSchema, ...]
    location: Location


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """A service; `definitions` are the files that its schemas are made of.

    `language` is None where its manifest does not say it.
    """

    name: str
    owner: str
    consumes: tuple[Consumes, ...]
    produces: tuple[Produces, ...]
    location: Location
    definitions: tuple[str, ...] = ()
    language: ClientLanguage | None = None


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class ObservedProducer:
    """A connected producer; producers that differ in nothing else are recorded once.

    `name` is empty where the broker made it. `client` is the library's name for itself, such as
    `Pulsar-Java-v4.0.7` or `Pulsar-CPP-v3.7.2`, empty where it told none.
    """

    name: str
    client: str


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class ObservedSubscription:
    """A subscription, also one without a connected consumer.

    `name` is `reader-*` for the subscriptions that readers make under random names. `type` is
    empty where no consumer has connected since the broker loaded the topic. `clients` are the
    libraries of the connected consumers, as for a producer. `backlog` is a lower bound, one of
    `BACKLOGS`.
    """

    name: str
    type: str = ""
    is_durable: bool = True
    clients: tuple[str, ...] = ()
    backlog: int = 0


BACKLOGS: Final = (0, 1, 1_000, 1_000_000)
"""The lower bounds to which backlogs are rounded down, in messages: exact ones always change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedTopic:
    """Who was connected to a topic; `left_out` counts what was too much or too long to record.

    Statistics show no schema: a consumer may have that of any live version, or none. `messages`
    are those that a capture had, by schema version: there may be more, also of other versions.
    """

    producers: tuple[ObservedProducer, ...] = ()
    subscriptions: tuple[ObservedSubscription, ...] = ()
    left_out: int = 0
    messages: Mapping[int, int] = field(default_factory=dict)

    @property
    def is_used(self) -> bool:
        """Whether anybody writes or reads it, or has a subscription."""
        return bool(self.producers or self.subscriptions or self.left_out)

    def joined(self, topic: ObservedTopic) -> ObservedTopic:
        """The clients of both observations, with what `other` says of those in both."""
        subscriptions = {subscription.name: subscription for subscription in self.subscriptions}
        for later in topic.subscriptions:
            earlier = subscriptions.get(later.name, later)
            subscriptions[later.name] = replace(
                later,
                type=later.type or earlier.type,
                clients=tuple(sorted({*earlier.clients, *later.clients})),
            )
        return ObservedTopic(
            producers=tuple(sorted({*self.producers, *topic.producers})),
            subscriptions=tuple(sorted(subscriptions.values())),
            left_out=max(self.left_out, topic.left_out),
            messages=topic.messages or self.messages,
        )

    def without(self, topic: ObservedTopic) -> ObservedTopic:
        """Subscriptions and producers whose names `other` does not have."""
        subscriptions = {subscription.name for subscription in topic.subscriptions}
        producers = {producer.name for producer in topic.producers}
        return ObservedTopic(
            producers=tuple(
                producer for producer in self.producers if producer.name not in producers
            ),
            subscriptions=self._subscriptions_without(subscriptions),
        )

    def undeclared(self, topic: TopicName, clients: Iterable[Client]) -> ObservedTopic:
        """What no manifest declares of the clients of this topic.

        A subscription is declared by its name. Producers have no name in a manifest: if any client
        declares to produce, all producers of the topic are taken to be declared.
        """
        subscriptions: set[str] = set()
        has_producer = False
        for client in clients:
            uses = [use.subscription for use in client.consumes if use.topic == topic]
            subscriptions.update(uses)
            has_producer = has_producer or any(use.topic == topic for use in client.produces)
        return ObservedTopic(
            producers=() if has_producer else self.producers,
            subscriptions=self._subscriptions_without(subscriptions),
        )

    def _subscriptions_without(self, names: Collection[str]) -> tuple[ObservedSubscription, ...]:
        return tuple(
            subscription for subscription in self.subscriptions if subscription.name not in names
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortLivedTopics:
    """Topics that brokers may delete with their schemas once no client is connected.

    `unread` are topics of which that is not known, with the reason.
    """

    topics: tuple[TopicName, ...] = ()
    unread: Mapping[TopicName, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedClients:
    """The clients of a registry's topics; `unread` are topics whose statistics could not be read.

    A topic that is in neither had no clients, or was not asked for. `file` is where they are
    recorded, empty where they were read from the registry.
    """

    topics: Mapping[TopicName, ObservedTopic] = field(default_factory=dict)
    unread: Mapping[TopicName, str] = field(default_factory=dict)
    file: str = ""

    def with_messages(self, messages: Mapping[TopicName, Mapping[int, int]]) -> ObservedClients:
        """With the messages that captures had of these topics, by schema version."""
        topics = dict(self.topics)
        for topic, by_version in messages.items():
            topics[topic] = replace(topics.get(topic, ObservedTopic()), messages=by_version)
        return replace(self, topics=topics)

    def with_live(self, live: ObservedClients) -> ObservedClients:
        """The record with the clients that are connected now.

        Clients of the record stay, since one that is not connected now may connect again.
        """
        topics = dict(self.topics)
        for topic, seen in live.topics.items():
            if seen.is_used:
                topics[topic] = topics[topic].joined(seen) if topic in topics else seen
        unread = {topic: why for topic, why in self.unread.items() if topic not in live.topics}
        return replace(self, topics=topics, unread=unread)


_LIBRARIES: Final[tuple[tuple[str, ClientLanguage], ...]] = (
    ("Pulsar-Java-v", "java"),
    ("Pulsar-CPP-v", "python"),
    ("Pulsar Go ", "go"),
    ("Pulsar.Client v", "dotnet"),
    ("DotPulsar", "dotpulsar"),
)
"""How the version strings of client libraries begin (those of Go and .NET from their sources)."""


def language_of(client: str) -> ClientLanguage | None:
    """The language of the library that calls itself so, None for an unknown one.

    pulsar-client for Python 3.13.0 calls itself as the C++ client does, on which it is built. Such
    a client counts as Python's: of those on top of the C++ client it alone decodes Avro itself.
    """
    if client.startswith("Pulsar-CPP-v") and "-node-client-v" in client:
        return "node"
    return next((name for start, name in _LIBRARIES if client.startswith(start)), None)
