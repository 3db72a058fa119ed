"""The way to a new topic, where no order of upgrades leads to a new schema."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Final

from gitops.broker.consumer_compatibility import check_consumer
from gitops.broker.registration import register
from gitops.model.decision import StoredHistory
from gitops.model.names import TopicName
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.model.rollout import Migration
from gitops.model.schema import SchemaInfo
from gitops.rollout.model import Role, Service
from gitops.schemas.payload import PayloadError, to_stored

_NUMBERED: Final = re.compile(r"(.+)-v(\d{1,9})")
_FIRST: Final = 2


def next_name(topic: TopicName, taken: Collection[TopicName]) -> TopicName:
    """The topic's name with the next number that is free: `orders-v2` after `orders`."""
    found = _NUMBERED.fullmatch(topic.local_name)
    stem, number = (found[1], int(found[2]) + 1) if found else (topic.local_name, _FIRST)
    names = {(one.namespace, one.local_name) for one in taken}
    while (topic.namespace, f"{stem}-v{number}") in names:
        number += 1
    return replace(topic, local_name=f"{stem}-v{number}")


def migration(
    topic: TopicName,
    to: TopicName,
    services: Iterable[Service],
    schema: tuple[SchemaInfo, SchemaCompatibilityStrategy],
) -> Migration | None:
    """Who moves; None where Pulsar would not let them in at the new topic either (4.0.7)."""
    info, strategy = schema
    sides: dict[Role, dict[str, bool]] = {role: {} for role in Role}
    for service in services:
        for use in (*service.before, *service.after):
            if use.topic == topic:
                has_schema = any(isinstance(one, SchemaInfo) for one in use.schemas)
                side = sides[use.role]
                side[service.name] = side.get(service.name, False) or has_schema
    if not _lets_in(info, strategy, consumers=any(sides[Role.CONSUMER].values())):
        return None
    consumers, producers = (tuple(sides[role]) for role in (Role.CONSUMER, Role.PRODUCER))
    return Migration(topic=topic, to=to, consumers=consumers, producers=producers)


def _lets_in(info: SchemaInfo, strategy: SchemaCompatibilityStrategy, *, consumers: bool) -> bool:
    try:
        stored = to_stored(info)
    except PayloadError:
        return False
    if not register(StoredHistory(), info, strategy).accepted:
        return False
    alone = StoredHistory(entries=((0, stored),), next_version=1)
    return not consumers or check_consumer(alone, info, strategy).accepted
