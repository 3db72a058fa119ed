"""A real broker takes what a waiver lets in, and refuses the same again afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gitops.model.errors import OutsideError, PartialApplyError, RegistryRefusedError
from gitops.model.names import NamespaceName, TopicName
from gitops.model.plan import RefusedSchema
from gitops.model.policy import NamespacePolicies, PolicyChange
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.planning.plan import make_plan
from gitops.usecases.apply import apply
from tests.support.admin_rest import admin_request
from tests.support.states import INT64, avro, field, observe, question, state, topic_state
from tests.support.waivers import refusal, waiver

if TYPE_CHECKING:
    from gitops.model.plan import Plan
    from gitops.model.schema import SchemaInfo
    from gitops.model.state import RegistryState, TopicState
    from gitops.ports import Registry

pytestmark = pytest.mark.broker

_KEY = "schemaCompatibilityStrategy"
_OLD, _BREAKING = avro(field("a")), avro(field("a"), field("b"))


@pytest.fixture(params=[0, 2], ids=["plain", "partitioned"])
def topic(
    request: pytest.FixtureRequest,
    registry: Registry,
    pulsar_admin_url: str,
    pulsar_namespace: NamespaceName,
) -> TopicName:
    """A topic with a version, in a namespace where producers register nothing."""
    path = f"{pulsar_admin_url}/admin/v2/persistent/{pulsar_namespace}/paid"
    if request.param:
        admin_request("PUT", f"{path}/partitions", request.param)
    else:
        admin_request("PUT", path)
    found = TopicName.of(pulsar_namespace, "paid")
    registry.register_schema(found, _OLD)
    locked = PolicyChange(key="isAllowAutoUpdateSchema", before=True, after=False)
    registry.set_policies(pulsar_namespace, [locked])
    return found


def _desired(topic: TopicName, info: SchemaInfo) -> RegistryState:
    return state(topic_state(topic, info), namespaces={topic.namespace: NamespacePolicies()})


def _plan(registry: Registry, desired: RegistryState, fingerprint: str = "") -> Plan:
    (topic,) = desired.topics
    waivers = [waiver(fingerprint, topic)] if fingerprint else []
    return make_plan(question(desired, observe(registry, desired), waivers=waivers))


def _now(registry: Registry, topic: TopicName) -> TopicState:
    return observe(registry, _desired(topic, _OLD)).topics[topic]


@pytest.mark.parametrize("own", [None, Strategy.FULL_TRANSITIVE])
@pytest.mark.parametrize("info", [_BREAKING, INT64], ids=["content", "type"])
def test_what_the_broker_refuses_is_let_in_once(
    registry: Registry, topic: TopicName, own: Strategy | None, info: SchemaInfo
) -> None:
    if own:
        registry.set_policies(topic, [PolicyChange(key=_KEY, before=None, after=own)])
    with pytest.raises(RegistryRefusedError):
        registry.register_schema(topic, info)
    desired = _desired(topic, info)
    agreed = refusal(_plan(registry, desired)).fingerprint

    apply(_plan(registry, desired, agreed), registry)

    after = _now(registry, topic)
    assert [entry.version for entry in after.history.entries] == [0, 1]
    assert after.policies.schema_compatibility_strategy is own
    assert _plan(registry, desired, agreed).actions == ()
    with pytest.raises(RegistryRefusedError):
        registry.register_schema(topic, avro(field("c", "int")))


def test_a_registration_that_fails_leaves_the_topic_as_it_was(
    registry: Registry, topic: TopicName, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut(_topic: TopicName, _info: SchemaInfo) -> int:
        raise OutsideError("the wire is cut")

    desired = _desired(topic, _BREAKING)
    plan = _plan(registry, desired, refusal(_plan(registry, desired)).fingerprint)
    monkeypatch.setattr(registry, "register_schema", cut)
    with pytest.raises(PartialApplyError, match="1 of 3 actions is done, then: the wire is cut"):
        apply(plan, registry)
    monkeypatch.undo()

    assert _now(registry, topic).policies.schema_compatibility_strategy is None
    with pytest.raises(RegistryRefusedError):
        registry.register_schema(topic, _BREAKING)


def test_an_apply_that_was_killed_is_finished_by_the_next(
    registry: Registry, topic: TopicName
) -> None:
    desired = _desired(topic, _BREAKING)
    agreed = refusal(_plan(registry, desired)).fingerprint
    opened = PolicyChange(key=_KEY, before=None, after=Strategy.ALWAYS_COMPATIBLE)
    registry.set_policies(topic, [opened])

    apply(_plan(registry, desired, agreed), registry)

    after = _now(registry, topic)
    assert after.policies.schema_compatibility_strategy is None
    assert len(after.history.entries) == 2


def test_a_topic_that_does_not_exist_cannot_be_loosened(
    registry: Registry, pulsar_namespace: NamespaceName
) -> None:
    missing = TopicName.of(pulsar_namespace, "missing")
    registry.register_schema(missing, _OLD)
    desired = _desired(missing, _BREAKING)
    agreed = refusal(_plan(registry, desired)).fingerprint

    plan = _plan(registry, desired, agreed)

    assert plan.actions == ()
    assert isinstance(plan.notices[0], RefusedSchema)
    assert plan.notices[0].waiver is None
    assert [one.rule for one in plan.findings if one.rule.startswith("WAIVER")] == ["WAIVER-R007"]
