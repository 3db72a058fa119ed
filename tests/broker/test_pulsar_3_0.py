"""A cluster of Pulsar 3.0.7, which has no path for a schema's metadata."""

from __future__ import annotations

from contextlib import closing

import pytest

from gitops.model.names import NamespaceName, TopicName
from gitops.model.schema import SchemaHistory
from gitops.model.state import Scope
from gitops.planning.plan import make_plan
from gitops.usecases.apply import apply
from gitops.usecases.audit import AuditRequest, audit
from tests.support import pulsar_broker
from tests.support.admin_rest import admin_request
from tests.support.pulsar_broker import BrokerUnavailableError
from tests.support.pulsar_client import open_test_registry
from tests.support.states import avro, field, question, state, topic_state

_NAMESPACE = NamespaceName("public", "default")
_BARE, _NEW = TopicName(_NAMESPACE, "bare"), TopicName(_NAMESPACE, "new")


@pytest.mark.broker
def test_topics_without_a_schema_are_planned_applied_and_audited() -> None:
    try:
        with pulsar_broker.pulsar_broker(pulsar_broker.BrokerSettings(release="3.0.7")) as running:
            admin_request("PUT", f"{running.admin_url}/admin/v2/persistent/{_BARE}")
            with closing(open_test_registry(running.admin_url)) as registry:
                scope = Scope(namespaces=frozenset({_NAMESPACE}), topics=frozenset({_BARE, _NEW}))
                before = registry.observe(scope)
                desired = state(
                    topic_state(_BARE, avro(field("a"))), topic_state(_NEW, avro(field("a")))
                )
                results = apply(make_plan(question(desired, before)), registry)
                after = registry.observe(scope)
                report = audit(registry, AuditRequest(namespaces=(_NAMESPACE,)))
    except BrokerUnavailableError as reason:
        pytest.skip(f"no Pulsar broker 3.0.7: {reason}")

    assert {one.history for one in before.topics.values()} == {SchemaHistory()}
    assert len(results) == 2
    assert {one.history.next_version for one in after.topics.values()} == {1}
    assert (report.line, report.counts.topics, report.limits) == ("3.0", 1, ())
