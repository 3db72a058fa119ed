"""Who is connected to topics, from the statistics that brokers show of them."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gitops.model.clients import (
    BACKLOGS,
    ObservedClients,
    ObservedProducer,
    ObservedSubscription,
    ObservedTopic,
    ShortLivedTopics,
)
from gitops.model.errors import OutsideError, RegistryRefusedError
from gitops.registries.pulsar.address import topic_path
from gitops.registries.pulsar.error_responses import refusal, unexpected_body
from gitops.registries.pulsar.threads import map_in_threads

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from gitops.model.names import TopicName
    from gitops.ports import Progress
    from gitops.registries.pulsar.admin_client import AdminClient

STATISTICS_PERMISSION: Final = "the permission to produce or to consume on the topic"
_READER: Final = re.compile(r"(multiTopicsReader|reader)-[0-9a-zA-Z]{5,}")
"""The subscription of a reader: Pulsar's clients make such a name for each (Pulsar 4.0.7)."""
_GENERATED: Final = re.compile(r".+-\d+-\d+")
"""`<cluster>-<broker>-<number>`: the name that brokers give a producer without one."""
_OWN: Final = "__"
"""How subscriptions of brokers begin, such as `__compaction`."""
_MOST: Final = 1000
"""So many producers, and subscriptions, are recorded of one topic."""
_LONGEST: Final = 200
_MAY_BE_DELETED: Final = (
    "it has no subscription, and brokers may delete such a topic once they load it for statistics "
    "(brokerDeleteInactiveTopicsEnabled)"
)


class _Body(BaseModel):
    """Members that later brokers add are passed over."""

    model_config = ConfigDict(extra="ignore")


class _PublisherBody(_Body):
    name: str | None = Field(default=None, alias="producerName")
    client: str | None = Field(default=None, alias="clientVersion")


class _ConsumerBody(_Body):
    client: str | None = Field(default=None, alias="clientVersion")


class _SubscriptionBody(_Body):
    type: str | None = None
    is_durable: bool = Field(default=True, alias="isDurable")
    durable: bool = True
    backlog: int = Field(default=0, alias="msgBacklog")
    consumers: list[_ConsumerBody] = []


class _TopicBody(_Body):
    publishers: list[_PublisherBody] = []
    subscriptions: dict[str, _SubscriptionBody] = {}


class _PartitionedBody(_Body):
    partitions: dict[str, _TopicBody] = {}


class _LedgerBody(_Body):
    cursors: dict[str, object] = {}


class _InfoBody(_LedgerBody):
    """GET …/internal-info, of a topic or of each of its partitions."""

    partitions: dict[str, _LedgerBody] = {}


def observe_clients(
    admin_client: AdminClient,
    topics: Collection[TopicName],
    progress: Progress,
    *,
    threads: int,
    deletes_inactive_topics: bool,
) -> ObservedClients:
    """Who is connected to each topic, several topics at a time.

    A topic whose statistics cannot be read stops no other, and one that does not exist has no
    clients. A broker loads a topic to show its statistics, and deletes a loaded one that nobody
    uses, with its schemas, a minute later (Pulsar 4.0.7). Unless it is known that they do not,
    topics without a subscription are not asked for.
    """
    names = sorted(topics)

    def read(topic: TopicName) -> ObservedTopic | str:
        try:
            if deletes_inactive_topics:
                info = _read_ledgers(admin_client, topic)
                if not _has_subscriptions(info):
                    return _MAY_BE_DELETED
            return _summary(_read_parts(admin_client, topic))
        except RegistryRefusedError as error:
            is_missing = error.status == HTTPStatus.NOT_FOUND and topic.domain == "persistent"
            return ObservedTopic() if is_missing else error.what
        except OutsideError as error:
            return error.what

    items = map_in_threads(
        read,
        names,
        threads=threads,
        on_progress=lambda done: progress("reading statistics", done, len(names)),
    )
    by_topic = dict(zip(names, items, strict=True))
    return ObservedClients(
        topics={name: item for name, item in by_topic.items() if isinstance(item, ObservedTopic)},
        unread={name: item for name, item in by_topic.items() if isinstance(item, str)},
    )


def find_short_lived_topics(
    admin_client: AdminClient, topics: Iterable[TopicName], *, threads: int
) -> ShortLivedTopics:
    """The topics without partitions and without a subscription, several at a time.

    A topic that does not exist is none of them: its schemas stay (Pulsar 4.0.7).
    """
    names = sorted(topic for topic in topics if topic.domain == "persistent")

    def read(topic: TopicName) -> bool | str:
        try:
            info = _read_ledgers(admin_client, topic)
        except RegistryRefusedError as error:
            return False if error.status == HTTPStatus.NOT_FOUND else error.what
        except OutsideError as error:
            return error.what
        return not info.partitions and not _has_subscriptions(info)

    answers = map_in_threads(read, names, threads=threads, on_progress=lambda _: None)
    grouped = dict(zip(names, answers, strict=True))
    return ShortLivedTopics(
        topics=tuple(name for name, item in grouped.items() if item is True),
        unread={name: item for name, item in grouped.items() if isinstance(item, str)},
    )


def _has_subscriptions(info: _InfoBody) -> bool:
    """Whether the topic, or each of its partitions, has a subscription that keeps it."""
    parts = list(info.partitions.values()) or [info]
    return all(any(not name.startswith(_OWN) for name in part.cursors) for part in parts)


def _read_ledgers(admin_client: AdminClient, topic: TopicName) -> _InfoBody:
    """The metadata of a topic's ledgers, for which no broker loads the topic."""
    answer = admin_client.get(f"{topic.domain}/{topic_path(topic)}/internal-info")
    if answer.status != HTTPStatus.OK:
        message = admin_client.redact(answer.message)
        raise refusal(answer, message, permission=STATISTICS_PERMISSION)
    try:
        return _InfoBody.model_validate_json(answer.body)
    except ValidationError as cause:
        raise unexpected_body(answer, "a topic's ledgers") from cause


def _read_parts(admin_client: AdminClient, topic: TopicName) -> list[_TopicBody]:
    """The statistics of a topic, or of each of its partitions; none where nobody has made it.

    Each partition is read by itself: the sum of a partitioned topic's lacks the clients' versions
    (Pulsar 4.0.7).
    """
    path = f"{topic.domain}/{topic_path(topic)}"
    for rest, model in (
        ("partitioned-stats?perPartition=true", _PartitionedBody),
        ("stats", _TopicBody),
    ):
        answer = admin_client.get(f"{path}/{rest}")
        if answer.status == HTTPStatus.NOT_FOUND:
            continue
        if answer.status != HTTPStatus.OK:
            message = admin_client.redact(answer.message)
            raise refusal(answer, message, permission=STATISTICS_PERMISSION)
        try:
            body = model.model_validate_json(answer.body)
        except ValidationError as cause:
            raise unexpected_body(answer, "a topic's statistics") from cause
        return list(body.partitions.values()) if isinstance(body, _PartitionedBody) else [body]
    return []


def _summary(parts: Iterable[_TopicBody]) -> ObservedTopic:
    """What all partitions show together, without what differs at each look.

    Names that brokers and clients make by themselves, rates and addresses are left out.
    """
    producers: set[ObservedProducer] = set()
    subscriptions: dict[str, ObservedSubscription] = {}
    backlogs: dict[str, int] = {}
    too_long: set[str] = set()
    for part in parts:
        for publisher in part.publishers:
            name = publisher.name or ""
            name = "" if _GENERATED.fullmatch(name) else name
            if len(name) > _LONGEST:
                too_long.add(name)
            else:
                producers.add(ObservedProducer(name=name, client=_client_text(publisher.client)))
        for name, body in part.subscriptions.items():
            if name.startswith(_OWN):
                continue
            if len(name) > _LONGEST:
                too_long.add(name)
                continue
            kind = _READER.fullmatch(name)
            name_or_kind = f"{kind[1]}-*" if kind else name
            backlogs[name_or_kind] = backlogs.get(name_or_kind, 0) + body.backlog
            before = subscriptions.get(name_or_kind)
            clients = {_client_text(consumer.client) for consumer in body.consumers}
            subscriptions[name_or_kind] = ObservedSubscription(
                name=name_or_kind,
                type=_type_text(body.type) or (before.type if before else ""),
                is_durable=body.is_durable and body.durable,
                clients=tuple(sorted(clients.union(before.clients if before else ()))),
            )
    observed_subscriptions = sorted(
        ObservedSubscription(
            name=subscription.name,
            type=subscription.type,
            is_durable=subscription.is_durable,
            clients=subscription.clients,
            backlog=max(
                bound for bound in BACKLOGS if bound <= max(backlogs[subscription.name], 0)
            ),
        )
        for subscription in subscriptions.values()
    )
    left_out = (
        len(too_long) + max(0, len(observed_subscriptions) - _MOST) + max(0, len(producers) - _MOST)
    )
    return ObservedTopic(
        producers=tuple(sorted(producers)[:_MOST]),
        subscriptions=tuple(observed_subscriptions[:_MOST]),
        left_out=left_out,
    )


def _client_text(client: str | None) -> str:
    return (client or "")[:_LONGEST]


def _type_text(given: str | None) -> str:
    return given if given in ("Exclusive", "Shared", "Failover", "Key_Shared") else ""
