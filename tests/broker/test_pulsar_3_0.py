"""A cluster of Pulsar 3.0.7, which has no path for a schema's metadata."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.error import HTTPError

import pytest

from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import BrokerSettings
from gitops.model.schema import SchemaHistory
from gitops.model.state import NamespaceState, Scope
from gitops.planning.plan import make_plan
from gitops.registries.embedded.registry import EmbeddedRegistry
from gitops.registries.pulsar.broker_probes import NamespaceProbes
from gitops.registries.pulsar.registry import PulsarRegistry
from gitops.registries.server.server import serve_in_thread
from gitops.usecases.apply import apply
from gitops.usecases.audit import AuditRequest, audit
from gitops.usecases.import_registry import observe_all
from tests.support import pulsar_broker
from tests.support.admin_rest import admin_request
from tests.support.pulsar_broker import BrokerUnavailableError
from tests.support.pulsar_client import open_test_client, open_test_registry
from tests.support.states import avro, field, info, question, record, state, topic_state

_NAMESPACE = NamespaceName("public", "default")
_BARE, _NEW = TopicName(_NAMESPACE, "bare"), TopicName(_NAMESPACE, "new")
_HELD, _DELETED = TopicName(_NAMESPACE, "held"), TopicName(_NAMESPACE, "deleted")
_TOPICS = (_BARE, _NEW, _HELD, _DELETED)

pytestmark = pytest.mark.broker


@pytest.fixture(scope="module")
def admin_url() -> Iterator[str]:
    try:
        with pulsar_broker.pulsar_broker(pulsar_broker.BrokerSettings(release="3.0.7")) as running:
            for each in (_BARE, _HELD, _DELETED):
                admin_request("PUT", f"{running.admin_url}/admin/v2/persistent/{each}")
            yield running.admin_url
    except BrokerUnavailableError as reason:
        pytest.skip(f"no Pulsar broker 3.0.7: {reason}")


@pytest.fixture
def registry(admin_url: str) -> Iterator[PulsarRegistry]:
    with closing(open_test_registry(admin_url)) as opened:
        yield opened


def test_a_release_before_4_2_is_not_shown_by_a_probe(admin_url: str) -> None:
    with closing(open_test_client(admin_url)) as client:
        probes = NamespaceProbes(client)
        probes.add([NamespaceState(namespace=_NAMESPACE)])
        shown = probes.ask(BrokerSettings())

    assert "schema_compatibility_strategy" in shown
    assert "release" not in shown


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "schemas/public/default/none/schema", None),
        ("GET", "schemas/public/default/none/schema/x", None),
        ("PUT", "namespaces/public/default", {}),
        ("POST", "schemas/public/default/none/schema", {"type": "NOPE", "schema": ""}),
    ],
)
def test_serve_has_the_message_of_an_error_in_the_status_line_as_a_broker(
    admin_url: str, method: str, path: str, body: object, tmp_path: Path
) -> None:
    registry = EmbeddedRegistry("local", tmp_path / "x.db", BrokerSettings(release="3.0"))
    registry.create_namespace(_NAMESPACE)  # which a standalone broker has
    with closing(registry), serve_in_thread(registry) as served:
        phrases = []
        for url in (served, admin_url):
            with pytest.raises(HTTPError) as raised:
                admin_request(method, f"{url}/admin/v2/{path}", body)
            raised.value.close()
            phrases.append(raised.value.reason)

    assert phrases[0] == phrases[1]


def test_topics_with_and_without_a_schema_are_planned_applied_imported_and_audited(
    registry: PulsarRegistry,
) -> None:
    first = info(record(field("a")))
    registry.register_schema(_HELD, first)
    registry.register_schema(_DELETED, first)
    registry.delete_schema(_DELETED)
    scope = Scope(namespaces=frozenset({_NAMESPACE}), topics=frozenset(_TOPICS))

    before = registry.observe(scope)
    imported = observe_all(registry, namespaces=(_NAMESPACE,))
    old, new = avro(field("a")), avro(field("a"), field("b", default=""))
    desired = state(*(topic_state(each, new if each == _HELD else old) for each in _TOPICS))
    results = apply(make_plan(question(desired, before)), registry)
    after = registry.observe(scope)
    report = audit(registry, AuditRequest(namespaces=(_NAMESPACE,), topics=frozenset({_NEW})))

    empty = {topic for topic, its in before.topics.items() if its.history == SchemaHistory()}
    assert empty == {_BARE, _NEW, _DELETED}
    assert set(imported.topics) == {_HELD}
    assert len(results) == len(_TOPICS)
    latest = {topic: its.history.entries[-1].version for topic, its in after.topics.items()}
    assert latest == {_BARE: 0, _NEW: 0, _HELD: 1, _DELETED: 2}
    assert (report.line, report.counts.topics, report.limits) == ("3.0", 4, ())
