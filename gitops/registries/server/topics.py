"""The endpoints under /admin/v2/persistent and /admin/v2/non-persistent, with topic policies."""

from __future__ import annotations

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Final, cast

from starlette.responses import Response

from gitops.model.errors import RegistryRefusedError
from gitops.model.names import Domain, TopicName
from gitops.model.policy import (
    NamespacePolicies,
    PolicyChange,
    PolicyValue,
    SchemaCompatibilityStrategy,
    effective_strategy,
)
from gitops.registries.embedded.namespace_rows import CreatedTopic
from gitops.registries.server import request_bodies, responses
from gitops.registries.server.requests import Call

# The endpoints under /admin/v2/persistent and /admin/v2/non-persistent.
#
# A topic is listed once it was created; posting a schema does not create it (Pulsar 4.0.7).

MOST_PARTITIONS: Final = 10_000
"""A list names every partition, so one request must not make any number of them."""

PARTITION: Final = re.compile(r"(.+)-partition-\d+")


def topic_and_partition_names(
    created: Mapping[TopicName, CreatedTopic], domain: Domain
) -> list[str]:
    """The names of topics and partitions as a broker lists them, sorted.

    A non-persistent partition is in memory only once a client is there, so none is listed.
    """
    names: list[str] = []
    for topic, created_topic in created.items():
        if topic.domain != domain:
            continue
        if created_topic.partitions == 0:
            names.append(full_name(topic))
        elif domain == "persistent":
            names += [f"{full_name(topic)}-partition-{n}" for n in range(created_topic.partitions)]
    return sorted(names)


def list_topics(call: Call) -> Response:
    """The topics and partitions of a namespace."""
    return responses.value(
        topic_and_partition_names(call.administration.topics(call.namespace), domain(call))
    )


def list_partitioned(call: Call) -> Response:
    """The partitioned topics of a namespace."""
    created = call.administration.topics(call.namespace)
    return responses.value(
        [
            full_name(topic)
            for topic, created_topic in created.items()
            if topic.domain == domain(call) and created_topic.partitions
        ]
    )


def put_topic(call: Call) -> Response:
    """Create a topic without partitions."""
    call.json_body()
    topic = call.topic(domain(call))
    if not PARTITION.fullmatch(call.params["topic"]):
        call.administration.create_topic(topic, 0)
        return responses.no_content()
    if topic in call.administration.topics(topic.namespace):
        raise RegistryRefusedError("This topic already exists", status=HTTPStatus.CONFLICT)
    raise RegistryRefusedError(
        f'Can\'t create topic {call.params["topic"]} with "-partition-" followed by numeric '
        f"value if there isn't a partitioned topic {topic.local_name} created.",
        status=HTTPStatus.PRECONDITION_FAILED,
    )


def put_partitions(call: Call) -> Response:
    """Create a topic with the body's number of partitions."""
    partitions = request_bodies.number(request_bodies.parse(call.json_body()))
    topic = call.topic(domain(call))
    if not 0 < partitions <= MOST_PARTITIONS:
        limit = f"less than or equal to {MOST_PARTITIONS}" if partitions > 0 else "more than 0"
        raise RegistryRefusedError(
            f"Number of partitions should be {limit}", status=HTTPStatus.NOT_ACCEPTABLE
        )
    call.administration.create_topic(topic, partitions)
    return responses.no_content()


def get_partitions(call: Call) -> Response:
    """The number of partitions, 0 for a topic that has none."""
    created = call.administration.topic(call.topic(domain(call)))
    return responses.value({"partitions": created.partitions, "deleted": False})


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
    return responses.no_content()


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
    return responses.no_content()


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


# The policies of one topic, under /admin/v2/persistent and /admin/v2/non-persistent.


def get_strategy(call: Call) -> Response:
    """The topic's own strategy, an empty body where none was set; `applied=true`: what holds."""
    topic, created = _topic_with_policies(call)
    if call.asked("applied"):
        namespace = call.administration.namespace(topic.namespace) or NamespacePolicies()
        defaults = call.registry.broker
        return responses.value(effective_strategy(created.policies, namespace, defaults).value)
    own = created.policies.schema_compatibility_strategy
    if own is None or own is SchemaCompatibilityStrategy.UNDEFINED:
        return responses.empty()
    return responses.value(own.value)


def put_strategy(call: Call) -> Response:
    """Set the topic's strategy; null and what is not known remove it."""
    value = request_bodies.strategy(request_bodies.parse(call.json_body()))
    return _set(call, "schemaCompatibilityStrategy", value)


def delete_strategy(call: Call) -> Response:
    """Remove the topic's strategy."""
    return _set(call, "schemaCompatibilityStrategy", None)


def get_validation_enforced(call: Call) -> Response:
    """The topic's own setting, false where none was made; `applied=true`: what holds."""
    topic, created = _topic_with_policies(call)
    own = created.policies.schema_validation_enforced
    if own is None and call.asked("applied"):
        namespace = call.administration.namespace(topic.namespace) or NamespacePolicies()
        own = (
            bool(namespace.schema_validation_enforced)
            or call.registry.broker.is_schema_validation_enforced
        )
    return responses.value(bool(own))


def post_validation_enforced(call: Call) -> Response:
    """Set whether the topic's producers need a schema."""
    return _set(call, "schemaValidationEnforced", request_bodies.required_flag(call.json_body()))


def _topic_with_policies(call: Call) -> tuple[TopicName, CreatedTopic]:
    """A topic that can have policies of its own; refused otherwise.

    Not a partition (412), and not a non-persistent topic without partitions: that is in memory
    only while it has clients, and so is not found (404).
    """
    topic = call.topic(domain(call))
    if PARTITION.fullmatch(call.params["topic"]):
        raise RegistryRefusedError(
            "Not allowed to set/get topic policy for a partition",
            status=HTTPStatus.PRECONDITION_FAILED,
        )
    created = call.administration.topic(topic)
    if topic.domain == "non-persistent" and created.partitions == 0:
        raise RegistryRefusedError(
            f"Topic {full_name(topic)} not found", status=HTTPStatus.NOT_FOUND
        )
    return topic, created


def _set(call: Call, key: str, value: PolicyValue) -> Response:
    """Set one policy of the topic."""
    topic, _created = _topic_with_policies(call)
    call.registry.set_policies(topic, [PolicyChange(key=key, before=None, after=value)])
    return responses.no_content()
