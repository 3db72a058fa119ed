"""What `import` and `snapshot` read of a registry."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitops.model.config import Config
from gitops.model.errors import NotThereError
from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import NamespacePolicies, TopicPolicies
from gitops.model.schema import SchemaHistory
from gitops.model.state import RegistryState, Repository, TopicState
from gitops.usecases.import_registry import new_to, observe_all
from gitops.usecases.snapshot import observe_managed
from tests.support.fake_registry import FakeRegistry
from tests.support.states import CREATED, ORDERS, STRING, state, topic_state

_PAYMENTS = NamespaceName("shop", "payments")
_RECORDED = TopicName(ORDERS, "recorded")
_VOLATILE = TopicName(ORDERS, "created", "non-persistent")


def _repository(desired: RegistryState) -> Repository:
    config = Config(registries={}, default_registry="")
    return Repository(config=config, desired=desired, digest="sha256:0")


# ------------------------------------------------------------------ import


def test_everything_is_read_where_no_namespace_is_named() -> None:
    known = state(
        topic_state(CREATED, STRING),
        topic_state(_RECORDED, STRING),
        namespaces={_PAYMENTS: NamespacePolicies()},
    )

    found = observe_all(FakeRegistry(known, listed=[CREATED]), recorded=[_RECORDED])

    assert set(found.namespaces) == {ORDERS, _PAYMENTS}
    assert set(found.topics) == {CREATED, _RECORDED}


def test_only_the_namespaces_that_are_named_are_read() -> None:
    known = state(topic_state(CREATED, STRING), namespaces={_PAYMENTS: NamespacePolicies()})

    found = observe_all(
        FakeRegistry(known, listed=[CREATED]), namespaces=(_PAYMENTS,), recorded=[_RECORDED]
    )

    assert (set(found.namespaces), set(found.topics)) == ({_PAYMENTS}, set())


def test_a_namespace_that_is_not_there_is_an_error() -> None:
    with pytest.raises(NotThereError, match="no namespace 'shop/payments'"):
        observe_all(FakeRegistry(state()), namespaces=(_PAYMENTS,))


def test_a_history_belongs_to_both_domains_and_is_read_once() -> None:
    known = state(topic_state(CREATED, STRING), topic_state(_VOLATILE, STRING))

    found = observe_all(FakeRegistry(known, listed=[CREATED, _VOLATILE]), recorded=[_VOLATILE])

    assert set(found.topics) == {CREATED}


def test_topics_with_nothing_to_say_are_left_out() -> None:
    silent = [
        TopicState(topic=TopicName(ORDERS, "empty")),
        TopicState(topic=TopicName(ORDERS, "gone"), history=SchemaHistory(next_version=2)),
    ]
    own = TopicPolicies(schema_validation_enforced=False)
    told = [topic_state(CREATED, STRING), topic_state(_RECORDED, policies=own)]
    known = state(*silent, *told)

    found = observe_all(FakeRegistry(known, listed=[one.topic for one in (*silent, *told)]))

    assert set(found.topics) == {CREATED, _RECORDED}


def test_topics_that_have_a_manifest_are_kept_as_they_are() -> None:
    files = _repository(state(topic_state(CREATED, STRING)))
    observed = state(topic_state(_VOLATILE, STRING), topic_state(_RECORDED, STRING))

    new, kept = new_to(files, observed)

    assert kept == (_VOLATILE,)
    assert set(new.topics) == {_RECORDED}
    assert new.namespaces == observed.namespaces


# ------------------------------------------------------------------ snapshot


def test_a_snapshot_holds_managed_listed_and_recorded_topics() -> None:
    listed = TopicName(ORDERS, "listed")
    registry = FakeRegistry(state(namespaces={ORDERS: NamespacePolicies()}), listed=[listed])
    files = _repository(state(topic_state(CREATED, STRING)))
    elsewhere = TopicName(_PAYMENTS, "recorded")

    found = observe_managed(files, registry, frozenset({_RECORDED, elsewhere}))

    assert set(found.topics) == {CREATED, listed, _RECORDED}
    assert set(found.namespaces) == {ORDERS}


def test_one_history_is_recorded_once_under_the_files_own_name() -> None:
    registry = FakeRegistry(state(topic_state(CREATED, STRING)), listed=[CREATED])
    files = _repository(state(topic_state(_VOLATILE, STRING)))

    found = observe_managed(files, registry, frozenset({CREATED}))

    assert set(found.topics) == {_VOLATILE}


def test_a_namespace_that_the_registry_lacks_is_not_listed() -> None:
    files = _repository(state(topic_state(CREATED, STRING)))

    found = observe_managed(files, FakeRegistry(), frozenset())

    assert not found.namespaces[ORDERS].exists
    assert found.topics == {CREATED: TopicState(topic=CREATED)}


def test_a_namespace_of_a_topic_needs_no_manifest() -> None:
    files = _repository(replace(state(topic_state(CREATED, STRING)), namespaces={}))

    assert set(observe_managed(files, FakeRegistry(), frozenset()).namespaces) == {ORDERS}
