"""What is written loads back as exactly what it was."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitops.model.errors import InvalidNameError, UsageError
from gitops.model.findings import Severity
from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import (
    NamespacePolicies,
    SchemaAutoUpdateCompatibilityStrategy,
    SchemaCompatibilityStrategy,
    TopicPolicies,
)
from gitops.model.schema import (
    AUTO_TYPES,
    KeyValueEncodingType,
    SchemaEntry,
    SchemaHistory,
    SchemaInfo,
    SchemaType,
)
from gitops.model.state import NamespaceState, RegistryState, TopicState
from gitops.repository.definitions.schema_builder import Half, pair_properties, pair_text
from gitops.repository.loader import load
from gitops.repository.writing.manifests import render, take_apart
from tests.support.examples import examples
from tests.support.trees import repository

_NAMESPACE = NamespaceName("shop", "orders")
_RECORD = '{"type":"record","name":"R","fields":[{"name":"a","type":"int"}]}'

texts = st.text(max_size=60) | st.sampled_from(
    [
        "",
        "null",
        _RECORD,
        f"{_RECORD}\n",
        "\ufeffx",
        "a\rb",
        "a\r\nb\n\n",
        "\0",
        '{"key":1,"value":2}',
        "\u2028",
        "true",
        "~",
    ]
)
maps = st.dictionaries(texts, texts, max_size=3)
stored_types = st.sampled_from([each for each in SchemaType if each not in AUTO_TYPES])
policies = st.builds(
    TopicPolicies,
    schema_compatibility_strategy=st.none() | st.sampled_from(SchemaCompatibilityStrategy),
    schema_validation_enforced=st.none() | st.booleans(),
)
namespace_policies = st.builds(
    NamespacePolicies,
    schema_compatibility_strategy=st.none() | st.sampled_from(SchemaCompatibilityStrategy),
    is_allow_auto_update_schema=st.none() | st.booleans(),
    schema_validation_enforced=st.none() | st.booleans(),
    schema_auto_update_compatibility_strategy=st.none()
    | st.sampled_from(SchemaAutoUpdateCompatibilityStrategy),
)


@st.composite
def topic_names(draw: st.DrawFn) -> TopicName:
    local_name = draw(
        st.text(min_size=1, max_size=30)
        | st.sampled_from(["namespace", "Namespace", "a", "A", "a.b", "a.key", "ä", "..", ".x"])
        | st.sampled_from(["x.", "con", "aux.yaml", "x.yaml", "a-b", "true", "a\\b", "1e5"])
        | st.sampled_from(["~", "true", "1", "- a", "a: b", "# a", "'", '"', " a", "a\n", "a\\b"])
    )
    domain = draw(st.sampled_from(["persistent", "persistent", "non-persistent"]))
    try:
        return TopicName.of(
            _NAMESPACE,
            local_name.replace("/", "|"),
            "persistent" if domain == "persistent" else "non-persistent",
        )
    except InvalidNameError:
        return TopicName.of(_NAMESPACE, "fallback")


@st.composite
def pairs(draw: st.DrawFn) -> SchemaInfo:
    json_values = st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    )
    types = st.sampled_from([SchemaType.AVRO, SchemaType.STRING, SchemaType.BYTES])
    key, value = (
        Half(
            type=draw(types),
            text=json.dumps(draw(json_values), separators=(",", ":"), ensure_ascii=False),
            name=draw(texts),
            properties=draw(maps),
        )
        for _ in ("key", "value")
    )
    encoding = draw(st.sampled_from(KeyValueEncodingType))
    return SchemaInfo(
        type=SchemaType.KEY_VALUE,
        schema=pair_text(key, value),
        properties={**draw(maps), **pair_properties(key, value, encoding)},
    )


infos = (
    st.builds(SchemaInfo, type=stored_types, schema=texts, properties=maps)
    | pairs()
    | st.just(SchemaInfo(type=SchemaType.AVRO, schema=_RECORD))
)


def _topic(name: TopicName, info: SchemaInfo, own: TopicPolicies) -> TopicState:
    history = SchemaHistory(entries=(SchemaEntry(version=3, info=info),), next_version=4)
    return TopicState(topic=name, history=history, policies=own)


topics = st.lists(
    st.builds(_topic, topic_names(), infos, policies),
    max_size=5,
    unique_by=lambda topic: topic.topic.local_name,
)


@pytest.mark.slow
@settings(max_examples=examples(300), deadline=None)
@given(topics, namespace_policies)
def test_what_is_written_loads_back_exactly(
    given_topics: list[TopicState], namespace: NamespacePolicies
) -> None:
    state = RegistryState(
        namespaces={_NAMESPACE: NamespaceState(namespace=_NAMESPACE, policies=namespace)},
        topics={topic.topic: topic for topic in given_topics},
    )

    files = render(state)
    loaded = load(repository(files))

    assert loaded.findings == ()
    assert loaded.desired.namespaces == state.namespaces
    assert loaded.desired.topics.keys() == state.topics.keys()
    for name, topic in state.topics.items():
        again = loaded.desired.topics[name]
        assert again.policies == topic.policies
        assert again.history.latest is not None
        assert topic.history.latest is not None
        assert again.history.latest.info == topic.history.latest.info
    folded = [path.lower() for path in files]
    assert len(set(folded)) == len(folded)
    assert all(path.isascii() and path.isprintable() for path in files)


def _state(*names: str, info: SchemaInfo | None = None) -> RegistryState:
    made = info or SchemaInfo(type=SchemaType.AVRO, schema=_RECORD)
    named = [TopicName.of(_NAMESPACE, name) for name in names]
    return RegistryState(topics={each: _topic(each, made, TopicPolicies()) for each in named})


def test_an_ordinary_topic_reads_as_a_person_would_write_it() -> None:
    files = render(_state("order-created"))

    assert files == {
        "namespaces/shop/orders/order-created.yaml": (
            b"# yaml-language-server: $schema=../../../.schemas/topic.schema.json\n"
            b"apiVersion: pulsar-gitops/v1\n"
            b"kind: Topic\n"
            b"schema:\n"
            b"  type: AVRO\n"
            b"  definition: order-created.avsc\n"
        ),
        "namespaces/shop/orders/order-created.avsc": _RECORD.encode(),
    }


def test_a_key_value_of_javas_client_is_taken_apart() -> None:
    key, value = (
        Half(type=SchemaType.STRING, name="String"),
        Half(type=SchemaType.AVRO, text=_RECORD),
    )
    info = SchemaInfo(
        type=SchemaType.KEY_VALUE,
        schema=pair_text(key, value),
        properties=pair_properties(key, value, KeyValueEncodingType.SEPARATED),
    )

    files = render(_state("by-customer", info=info))

    assert files["namespaces/shop/orders/by-customer.value.avsc"] == _RECORD.encode()
    assert (
        b"  encoding: SEPARATED\n  key:\n    type: STRING\n"
        in (files["namespaces/shop/orders/by-customer.yaml"])
    )


def test_an_empty_half_that_needs_a_definition_stays_as_it_is() -> None:
    properties = {
        "kv.encoding.type": "INLINE",
        **{
            f"{half}.schema.{what}": text
            for half in ("key", "value")
            for what, text in (("name", ""), ("type", "AVRO"), ("properties", "{}"))
        },
    }
    info = SchemaInfo(
        type=SchemaType.KEY_VALUE, schema='{"key":null,"value":""}', properties=properties
    )
    assert take_apart(info) is None


def test_a_key_value_that_our_words_cannot_say_stays_as_it_is() -> None:
    info = SchemaInfo(
        type=SchemaType.KEY_VALUE, schema='{"value":1,"key":""}', properties={"a": "b"}
    )

    files = render(_state("odd", info=info))

    assert files["namespaces/shop/orders/odd.json"] == b'{"value":1,"key":""}'


def test_names_that_differ_only_in_case_get_files_that_do_not() -> None:
    files = render(_state("Order", "order"))

    assert len({path.lower() for path in files}) == 4
    assert load(repository(files)).desired.topics.keys() == _state("Order", "order").topics.keys()


def test_files_that_are_there_are_left_alone() -> None:
    state = RegistryState(
        namespaces={_NAMESPACE: NamespaceState(namespace=_NAMESPACE)},
        topics=_state("order").topics,
    )
    taken = {"namespaces/shop/orders/namespace.yaml", "namespaces/shop/orders/ORDER.avsc"}

    files = render(state, taken=taken)

    assert not {path.lower() for path in files} & {path.lower() for path in taken}
    assert len(files) == 2


def test_a_topic_without_schema_and_policies_is_left_out() -> None:
    name = TopicName.of(_NAMESPACE, "empty")

    assert render(RegistryState(topics={name: TopicState(topic=name)})) == {}


def test_topics_that_share_a_history_get_one_manifest() -> None:
    info = SchemaInfo(type=SchemaType.STRING)
    both = [
        TopicName.of(_NAMESPACE, "shared", "non-persistent"),
        TopicName.of(_NAMESPACE, "shared"),
    ]
    state = RegistryState(topics={each: _topic(each, info, TopicPolicies()) for each in both})

    assert list(render(state)) == ["namespaces/shop/orders/shared.yaml"]


def test_a_namespace_that_no_folder_can_be_is_refused() -> None:
    name = NamespaceName("shop", "..")

    with pytest.raises(UsageError, match="cannot be a folder"):
        render(RegistryState(namespaces={name: NamespaceState(namespace=name)}))


def test_odd_content_is_reported_and_kept() -> None:
    loaded = load(
        repository(render(_state("odd", info=SchemaInfo(type=SchemaType.AVRO, schema="{"))))
    )

    source = loaded.topics[TopicName.of(_NAMESPACE, "odd")]
    assert [(each.rule, each.severity) for each in source.findings] == [
        ("AVRO-P001", Severity.ERROR)
    ]
    assert loaded.findings == ()
