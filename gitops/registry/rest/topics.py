"""The endpoints under /admin/v2/persistent and /admin/v2/non-persistent.

A topic is listed once it was created; posting a schema does not create it (Pulsar 4.0.7).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Final, cast

from starlette.responses import Response

from gitops.model.errors import RegistryRefusedError
from gitops.model.names import Domain, TopicName
from gitops.registry.embedded.places import CreatedTopic
from gitops.registry.rest import answers, bodies
from gitops.registry.rest.calls import Call

MOST_PARTITIONS: Final = 10_000
"""A list names every partition, so one request must not make any number of them."""

PARTITION: Final = re.compile(r"(.+)-partition-\d+")


def listed(created: Mapping[TopicName, CreatedTopic], domain: Domain) -> list[str]:
    """The names of topics and partitions as a broker lists them, sorted.

    A non-persistent partition is in memory only once a client is there, so none is listed.
    """
    names: list[str] = []
    for topic, each in created.items():
        if topic.domain != domain:
            continue
        if each.partitions == 0:
            names.append(full_name(topic))
        elif domain == "persistent":
            names += [f"{full_name(topic)}-partition-{n}" for n in range(each.partitions)]
    return sorted(names)


def list_topics(call: Call) -> Response:
    """The topics and partitions of a namespace."""
    return answers.value(listed(call.administration.topics(call.namespace), domain(call)))


def list_partitioned(call: Call) -> Response:
    """The partitioned topics of a namespace."""
    created = call.administration.topics(call.namespace)
    return answers.value(
        [
            full_name(topic)
            for topic, each in created.items()
            if topic.domain == domain(call) and each.partitions
        ]
    )


def put_topic(call: Call) -> Response:
    """Create a topic without partitions."""
    call.json_body()
    topic = call.topic(domain(call))
    if not PARTITION.fullmatch(call.params["topic"]):
        call.administration.create_topic(topic, 0)
        return answers.nothing()
    if topic in call.administration.topics(topic.namespace):
        raise RegistryRefusedError("This topic already exists", status=HTTPStatus.CONFLICT)
    raise RegistryRefusedError(
        f'Can\'t create topic {call.params["topic"]} with "-partition-" followed by numeric '
        f"value if there isn't a partitioned topic {topic.local_name} created.",
        status=HTTPStatus.PRECONDITION_FAILED,
    )


def put_partitions(call: Call) -> Response:
    """Create a topic with the body's number of partitions."""
    partitions = bodies.number(bodies.parse(call.json_body()))
    topic = call.topic(domain(call))
    if not 0 < partitions <= MOST_PARTITIONS:
        limit = f"less than or equal to {MOST_PARTITIONS}" if partitions > 0 else "more than 0"
        raise RegistryRefusedError(
            f"Number of partitions should be {limit}", status=HTTPStatus.NOT_ACCEPTABLE
        )
    call.administration.create_topic(topic, partitions)
    return answers.nothing()


def get_partitions(call: Call) -> Response:
    """The number of partitions, 0 for a topic that has none."""
    created = call.administration.topic(call.topic(domain(call)))
    return answers.value({"partitions": created.partitions, "deleted": False})


def delete_topic(call: Call) -> Response:
    """Remove a topic without partitions, and its schemas."""
    topic = call.topic(domain(call))
    if _partitions(call, topic, "not found"):
        raise RegistryRefusedError(
            f"{full_name(topic)} is a partitioned topic, instead of calling delete topic, "
            "please call delete-partitioned-topic.",
            status=HTTPStatus.CONFLICT,
        )
    call.administration.delete_topic(topic)
    return answers.nothing()


def delete_partitions(call: Call) -> Response:
    """Remove a partitioned topic, and its schemas."""
    topic = call.topic(domain(call))
    if not _partitions(call, topic, "not found."):
        raise RegistryRefusedError(
            f"{full_name(topic)} is a non-partitioned topic. Instead of calling "
            "delete-partitioned-topic please call delete.",
            status=HTTPStatus.CONFLICT,
        )
    call.administration.delete_topic(topic)
    return answers.nothing()


def _partitions(call: Call, topic: TopicName, not_found: str) -> int:
    """The partitions of a topic that is to be removed; refused (404) in the broker's words."""
    try:
        return call.administration.topic(topic).partitions
    except RegistryRefusedError as refusal:
        raise RegistryRefusedError(
            f"Topic {full_name(topic)} {not_found}", status=refusal.status
        ) from refusal


def domain(call: Call) -> Domain:
    """The domain, which the route admits only as one of the two."""
    return cast("Domain", call.params["domain"])


def full_name(topic: TopicName) -> str:
    """`persistent://tenant/namespace/topic`."""
    return f"{topic.domain}://{topic.namespace}/{topic.local_name}"
