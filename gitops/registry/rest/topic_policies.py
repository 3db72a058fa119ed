"""The policies of one topic, under /admin/v2/persistent and /admin/v2/non-persistent."""

from __future__ import annotations

from http import HTTPStatus

from starlette.responses import Response

from gitops.model.errors import RegistryRefusedError
from gitops.model.names import TopicName
from gitops.model.policy import (
    NamespacePolicies,
    PolicyChange,
    PolicyValue,
    SchemaCompatibilityStrategy,
    effective_strategy,
)
from gitops.registry.embedded.places import CreatedTopic
from gitops.registry.rest import answers, bodies
from gitops.registry.rest.calls import Call
from gitops.registry.rest.topics import PARTITION, domain, full_name


def get_strategy(call: Call) -> Response:
    """The topic's own strategy, an empty body where none was set; `applied=true`: what holds."""
    topic, created = _with_policies(call)
    if call.asked("applied"):
        namespace = call.administration.namespace(topic.namespace) or NamespacePolicies()
        defaults = call.registry.defaults
        return answers.value(effective_strategy(created.policies, namespace, defaults).value)
    own = created.policies.schema_compatibility_strategy
    if own is None or own is SchemaCompatibilityStrategy.UNDEFINED:
        return answers.empty()
    return answers.value(own.value)


def put_strategy(call: Call) -> Response:
    """Set the topic's strategy; null and what is not known remove it."""
    value = bodies.strategy(bodies.parse(call.json_body()))
    return _set(call, "schemaCompatibilityStrategy", value)


def delete_strategy(call: Call) -> Response:
    """Remove the topic's strategy."""
    return _set(call, "schemaCompatibilityStrategy", None)


def get_validation_enforced(call: Call) -> Response:
    """The topic's own setting, false where none was made; `applied=true`: what holds."""
    topic, created = _with_policies(call)
    own = created.policies.schema_validation_enforced
    if own is None and call.asked("applied"):
        namespace = call.administration.namespace(topic.namespace) or NamespacePolicies()
        own = (
            bool(namespace.schema_validation_enforced)
            or call.registry.defaults.is_schema_validation_enforced
        )
    return answers.value(bool(own))


def post_validation_enforced(call: Call) -> Response:
    """Set whether the topic's producers need a schema."""
    return _set(call, "schemaValidationEnforced", bodies.required_flag(call.json_body()))


def _with_policies(call: Call) -> tuple[TopicName, CreatedTopic]:
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
    topic, _created = _with_policies(call)
    call.registry.set_policies(topic, [PolicyChange(key=key, before=None, after=value)])
    return answers.nothing()
