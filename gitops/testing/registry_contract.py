"""What every Registry must do, as a suite that each implementation runs.

Subclass RegistryContract as `Test…` and override `registry`, and the other fixtures where the
implementation needs more than its own methods to get there. A plug-in does the same.
"""

from __future__ import annotations

import json
import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from gitops.model.errors import RegistryRefusedError
from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import (
    NamespacePolicies,
    PolicyValue,
    SchemaAutoUpdateCompatibilityStrategy,
    SchemaCompatibilityStrategy,
    TopicPolicies,
)
from gitops.model.schema import SchemaHistory, SchemaInfo, SchemaType
from gitops.model.state import Scope, TopicState
from gitops.ports import ConcurrentRegistry
from gitops.testing.creation_contract import CreationContract
from gitops.testing.registry_examples import (
    KEY_VALUE_PROPERTIES,
    A,
    B,
    avro,
    change,
    field,
    history,
    namespace_state,
    record,
    stored_versions,
    topic_policies,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gitops.ports import Registry


class RegistryContract(CreationContract):
    """Behaviour that callers rely on, decided as Pulsar 4.0.7 does."""

    @pytest.fixture
    def registry(self) -> Iterator[Registry]:
        """The registry under test; the fixture closes it."""
        raise NotImplementedError

    @pytest.fixture
    def namespace(self, registry: Registry) -> NamespaceName:
        """A fresh, empty namespace."""
        namespace = NamespaceName("contract", f"ns-{uuid.uuid4().hex[:10]}")
        registry.create_namespace(namespace)
        return namespace

    @pytest.fixture
    def topic(self, namespace: NamespaceName) -> TopicName:
        """A topic that need not exist yet, without schemas."""
        return TopicName.of(namespace, "orders")

    @pytest.fixture
    def existing_topic(self, namespace: NamespaceName) -> TopicName:
        """A topic that can have policies of its own; Pulsar wants it to exist for that."""
        return TopicName.of(namespace, "existing")

    # ------------------------------------------------------------------ what it is

    def test_it_has_a_name_and_an_address(self, registry: Registry) -> None:
        assert registry.name
        assert registry.address

    # ------------------------------------------------------------------ names

    def test_a_namespace_is_listed_in_order(
        self, registry: Registry, namespace: NamespaceName
    ) -> None:
        listed = registry.list_namespaces()
        assert namespace in listed
        assert listed == tuple(sorted(set(listed)))

    def test_an_empty_namespace_lists_no_topics(
        self, registry: Registry, namespace: NamespaceName
    ) -> None:
        assert registry.list_topics(namespace) == ()

    def test_an_existing_topic_with_a_schema_is_listed(
        self, registry: Registry, existing_topic: TopicName
    ) -> None:
        registry.register_schema(existing_topic, avro(A))
        assert registry.list_topics(existing_topic.namespace) == (existing_topic,)

    def test_topics_of_a_missing_namespace_are_refused(
        self, registry: Registry, namespace: NamespaceName
    ) -> None:
        missing = NamespaceName(namespace.tenant, "missing")
        with pytest.raises(RegistryRefusedError) as refused:
            registry.list_topics(missing)
        assert refused.value.status == 404

    # ------------------------------------------------------------------ observe

    def test_every_name_asked_for_is_answered(self, registry: Registry, topic: TopicName) -> None:
        missing = NamespaceName(topic.namespace.tenant, "missing")
        scope = Scope(
            namespaces=frozenset({topic.namespace, missing}),
            topics=frozenset({topic, TopicName.of(missing, "t")}),
        )
        state = registry.observe(scope)
        assert list(state.namespaces) == sorted(scope.namespaces)
        assert list(state.topics) == sorted(scope.topics)
        assert not state.namespaces[missing].exists
        # Whether a topic exists is for the registry to say: the embedded one makes it when needed.
        mapping = {name: replace(result, exists=True) for name, result in state.topics.items()}
        assert mapping == {name: TopicState(topic=name) for name in scope.topics}

    def test_progress_counts_up_to_the_total(
        self, registry: Registry, namespace: NamespaceName
    ) -> None:
        topics = frozenset(TopicName.of(namespace, f"t{number}") for number in range(5))
        seen: list[tuple[int, int]] = []
        registry.observe(
            Scope(topics=topics), lambda _what, done, total: seen.append((done, total))
        )
        assert seen
        assert [done for done, _ in seen] == sorted(done for done, _ in seen)
        assert seen[-1][0] == seen[-1][1]

    def test_an_empty_scope_answers_nothing(self, registry: Registry) -> None:
        state = registry.observe(Scope())
        assert not state.namespaces
        assert not state.topics

    def test_a_new_namespace_has_no_strategy_of_its_own(
        self, registry: Registry, namespace: NamespaceName
    ) -> None:
        policies = namespace_state(registry, namespace).policies
        assert policies.schema_compatibility_strategy in (
            None,
            SchemaCompatibilityStrategy.UNDEFINED,
        )
        assert policies.schema_auto_update_compatibility_strategy is None

    # ------------------------------------------------------------------ schemas

    def test_versions_count_from_zero_and_come_oldest_first(
        self, registry: Registry, topic: TopicName
    ) -> None:
        first, second = avro(A), avro(A, B)
        assert [registry.register_schema(topic, schema) for schema in (first, second)] == [0, 1]
        assert stored_versions(registry, topic) == [(0, first), (1, second)]
        assert history(registry, topic).next_version == 2

    def test_several_topics_are_written_at_once_where_it_takes_several_requests(
        self, registry: Registry, namespace: NamespaceName
    ) -> None:
        topics = [TopicName.of(namespace, f"t{number}") for number in range(20)]
        schema = avro(A)
        width = registry.concurrency if isinstance(registry, ConcurrentRegistry) else 1
        with ThreadPoolExecutor(width) as pool:
            work = pool.map if width > 1 else map
            versions = [*work(lambda topic: registry.register_schema(topic, schema), topics)]
        assert versions == [0] * len(topics)
        assert [stored_versions(registry, topic) for topic in topics] == [[(0, schema)]] * len(
            topics
        )

    def test_text_properties_and_time_are_kept(self, registry: Registry, topic: TopicName) -> None:
        info = SchemaInfo(
            type=SchemaType.AVRO,
            schema=record(A, doc='"€ 🙂').replace(", ", " ,\n\t"),
            properties={"owner": "é ☃", "empty": ""},
        )
        registry.register_schema(topic, info)
        (entry,) = history(registry, topic).entries
        assert entry.info == info
        assert entry.timestamp is not None
        assert entry.timestamp > 1_500_000_000_000

    def test_an_equal_schema_answers_its_version_and_stores_nothing(
        self, registry: Registry, topic: TopicName
    ) -> None:
        first = avro(A)
        registry.register_schema(topic, first)
        registry.register_schema(topic, avro(A, B))
        documented = SchemaInfo(
            type=SchemaType.AVRO, schema=record(A, doc="new"), properties={"new": "1"}
        )
        assert registry.register_schema(topic, documented) == 0
        assert registry.register_schema(topic, avro(A, B)) == 1
        assert len(stored_versions(registry, topic)) == 2

    def test_an_incompatible_schema_is_refused_with_409(
        self, registry: Registry, topic: TopicName
    ) -> None:
        registry.register_schema(topic, avro(A))
        with pytest.raises(RegistryRefusedError) as refused:
            registry.register_schema(topic, avro(field("a", "int")))
        assert refused.value.status == 409
        assert refused.value.what
        assert len(stored_versions(registry, topic)) == 1

    def test_another_type_is_refused_with_409(self, registry: Registry, topic: TopicName) -> None:
        registry.register_schema(topic, avro(A))
        with pytest.raises(RegistryRefusedError) as refused:
            registry.register_schema(topic, SchemaInfo(type=SchemaType.STRING))
        assert refused.value.status == 409

    @pytest.mark.parametrize(
        "info",
        [
            SchemaInfo(type=SchemaType.AVRO, schema="not a schema"),
            SchemaInfo(type=SchemaType.AVRO, schema=""),
            SchemaInfo(type=SchemaType.STRING, schema="text \x01\r\n that STRING has not"),
            SchemaInfo(type=SchemaType.INT32, schema="x"),
            SchemaInfo(type=SchemaType.AUTO_CONSUME),
        ],
        ids=lambda info: info.type.value,
    )
    def test_invalid_data_is_refused_with_422(
        self, registry: Registry, topic: TopicName, info: SchemaInfo
    ) -> None:
        with pytest.raises(RegistryRefusedError) as refused:
            registry.register_schema(topic, info)
        assert refused.value.status == 422
        assert stored_versions(registry, topic) == []

    def test_a_schema_in_a_missing_namespace_is_refused_with_404(
        self, registry: Registry, namespace: NamespaceName
    ) -> None:
        topic = TopicName.of(NamespaceName(namespace.tenant, "missing"), "orders")
        with pytest.raises(RegistryRefusedError) as refused:
            registry.register_schema(topic, avro(A))
        assert refused.value.status == 404

    @pytest.mark.parametrize(
        "type_",
        [SchemaType.STRING, SchemaType.INT64, SchemaType.DOUBLE, SchemaType.LOCAL_DATE_TIME],
    )
    def test_a_primitive_comes_back(
        self, registry: Registry, topic: TopicName, type_: SchemaType
    ) -> None:
        info = SchemaInfo(type=type_, properties={"k": "v"})
        assert registry.register_schema(topic, info) == 0
        assert stored_versions(registry, topic) == [(0, info)]

    def test_bytes_are_stored_as_none(self, registry: Registry, topic: TopicName) -> None:
        registry.register_schema(topic, SchemaInfo(type=SchemaType.BYTES))
        assert stored_versions(registry, topic) == [(0, SchemaInfo(type=SchemaType.NONE))]

    def test_a_key_value_schema_comes_back(self, registry: Registry, topic: TopicName) -> None:
        halves = {"key": "", "value": json.loads(record(A))}
        info = SchemaInfo(
            type=SchemaType.KEY_VALUE,
            schema=json.dumps(halves, separators=(",", ":")),
            properties=KEY_VALUE_PROPERTIES,
        )
        assert registry.register_schema(topic, info) == 0
        ((_, schema),) = stored_versions(registry, topic)
        assert json.loads(schema.schema) == halves
        assert schema.properties == KEY_VALUE_PROPERTIES

    def test_a_history_belongs_to_both_domains(self, registry: Registry, topic: TopicName) -> None:
        other_topic = TopicName.of(topic.namespace, topic.local_name, "non-persistent")
        registry.register_schema(topic, avro(A))
        assert registry.register_schema(other_topic, avro(A, B)) == 1
        assert stored_versions(registry, topic) == stored_versions(registry, other_topic)

    # ------------------------------------------------------------------ deletion

    def test_a_tombstone_takes_a_number_and_hides_what_was_before(
        self, registry: Registry, topic: TopicName
    ) -> None:
        registry.register_schema(topic, avro(A))
        assert registry.delete_schema(topic) == 1
        assert history(registry, topic) == SchemaHistory(next_version=2)
        assert registry.delete_schema(topic) == 2
        assert registry.register_schema(topic, SchemaInfo(type=SchemaType.STRING)) == 3
        assert stored_versions(registry, topic) == [(3, SchemaInfo(type=SchemaType.STRING))]

    def test_deleting_nothing_makes_a_tombstone_too(
        self, registry: Registry, topic: TopicName
    ) -> None:
        assert registry.delete_schema(topic) == 0
        assert history(registry, topic) == SchemaHistory(next_version=1)

    def test_deleting_by_force_forgets_everything(
        self, registry: Registry, topic: TopicName
    ) -> None:
        registry.register_schema(topic, avro(A))
        registry.delete_schema(topic)
        assert registry.delete_schema(topic, force=True) == -1
        assert history(registry, topic) == SchemaHistory()
        assert registry.register_schema(topic, avro(B)) == 0

    # ------------------------------------------------------------------ policies

    def test_namespace_policies_are_set_together(
        self, registry: Registry, namespace: NamespaceName
    ) -> None:
        wanted = NamespacePolicies(
            schema_compatibility_strategy=SchemaCompatibilityStrategy.BACKWARD_TRANSITIVE,
            is_allow_auto_update_schema=False,
            schema_validation_enforced=True,
            schema_auto_update_compatibility_strategy=(
                SchemaAutoUpdateCompatibilityStrategy.FORWARD
            ),
        )
        legacy = wanted.schema_auto_update_compatibility_strategy
        registry.set_policies(
            namespace,
            [
                change("schemaCompatibilityStrategy", wanted.schema_compatibility_strategy),
                change("isAllowAutoUpdateSchema", after=False),
                change("schemaValidationEnforced", after=True),
                change("schemaAutoUpdateCompatibilityStrategy", legacy),
            ],
        )
        assert namespace_state(registry, namespace).policies == wanted

    def test_strategies_of_a_namespace_are_removed(
        self, registry: Registry, namespace: NamespaceName
    ) -> None:
        keys: dict[str, PolicyValue] = {
            "schemaCompatibilityStrategy": SchemaCompatibilityStrategy.BACKWARD,
            "schemaAutoUpdateCompatibilityStrategy": (
                SchemaAutoUpdateCompatibilityStrategy.AUTO_UPDATE_DISABLED
            ),
        }
        registry.set_policies(namespace, [change(key, after) for key, after in keys.items()])
        registry.set_policies(namespace, [change(key, None) for key in keys])
        policies = namespace_state(registry, namespace).policies
        assert policies.schema_compatibility_strategy in (
            None,
            SchemaCompatibilityStrategy.UNDEFINED,
        )
        assert policies.schema_auto_update_compatibility_strategy is None

    def test_the_namespace_strategy_decides(self, registry: Registry, topic: TopicName) -> None:
        registry.register_schema(topic, avro(A))
        required = avro(A, field("d"))
        with pytest.raises(RegistryRefusedError):
            registry.register_schema(topic, required)
        strategy = SchemaCompatibilityStrategy.FORWARD
        registry.set_policies(topic.namespace, [change("schemaCompatibilityStrategy", strategy)])
        assert registry.register_schema(topic, required) == 1

    def test_policies_of_a_missing_namespace_are_refused(
        self, registry: Registry, namespace: NamespaceName
    ) -> None:
        missing = NamespaceName(namespace.tenant, "missing")
        strategy = SchemaCompatibilityStrategy.FULL
        with pytest.raises(RegistryRefusedError) as refused:
            registry.set_policies(missing, [change("schemaCompatibilityStrategy", strategy)])
        assert refused.value.status == 404

    def test_a_topic_has_policies_of_its_own(
        self, registry: Registry, existing_topic: TopicName
    ) -> None:
        assert topic_policies(registry, existing_topic) == TopicPolicies()
        strategy = SchemaCompatibilityStrategy.ALWAYS_COMPATIBLE
        registry.set_policies(
            existing_topic,
            [
                change("schemaCompatibilityStrategy", strategy),
                change("schemaValidationEnforced", after=True),
            ],
        )
        assert topic_policies(registry, existing_topic) == TopicPolicies(
            schema_compatibility_strategy=strategy, schema_validation_enforced=True
        )
        registry.register_schema(existing_topic, avro(A))
        assert registry.register_schema(existing_topic, avro(field("a", "int"))) == 1

    def test_a_topic_strategy_is_removed(
        self, registry: Registry, existing_topic: TopicName
    ) -> None:
        strategy = SchemaCompatibilityStrategy.ALWAYS_INCOMPATIBLE
        for after in (strategy, None):
            registry.set_policies(existing_topic, [change("schemaCompatibilityStrategy", after)])
        assert topic_policies(registry, existing_topic) == TopicPolicies()
