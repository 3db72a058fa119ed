"""The recorded history of a registry: what is written, and what is read of it again."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given

from gitops.model.errors import UsageError
from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import NamespacePolicies, SchemaCompatibilityStrategy, TopicPolicies
from gitops.model.schema import SchemaEntry, SchemaHistory
from gitops.model.state import NamespaceState, RegistryState, TopicPartitions, TopicState
from gitops.repository.documents.snapshots import TopicSnapshot
from gitops.repository.loader import load
from gitops.repository.snapshots import (
    read_namespace_state,
    read_topic,
    read_topic_state,
    recorded_namespaces,
    recorded_topics,
    render,
    replaceable_topics,
    snapshot_files,
)
from tests.support.states import CREATED, ORDERS, STRING, info, state, topic_state
from tests.support.strategies import registry_states
from tests.support.trees import SETTINGS, MemoryTree

_TOPIC = "snapshots/production/shop/orders/created.json"


def _one(files: dict[str, bytes], path: str) -> dict[str, object]:
    document: dict[str, object] = json.loads(files[path])
    return document


def test_a_topic_with_all_that_is_known_of_it() -> None:
    own = TopicPolicies(
        schema_compatibility_strategy=SchemaCompatibilityStrategy.FULL,
        schema_validation_enforced=False,
    )
    entry = SchemaEntry(
        version=3, info=info('"int"', properties={"b": "2", "a": "1"}), timestamp=17
    )
    topic = TopicState(
        topic=CREATED, policies=own, history=SchemaHistory(entries=(entry,), next_version=4)
    )

    files = render("production", state(topic))

    assert list(files) == ["snapshots/production/shop/orders.json", _TOPIC]
    assert _one(files, _TOPIC) == {
        "apiVersion": "pulsar-gitops/v1",
        "kind": "TopicSnapshot",
        "topic": "shop/orders/created",
        "nextVersion": 4,
        "policies": {"schemaCompatibilityStrategy": "FULL", "schemaValidationEnforced": False},
        "versions": [
            {
                "version": 3,
                "type": "AVRO",
                "timestamp": 17,
                "schema": '"int"',
                "properties": {"a": "1", "b": "2"},
            }
        ],
    }
    assert TopicSnapshot.model_validate_json(files[_TOPIC]).history() == topic.history


@pytest.mark.parametrize("count", [0, 4])
def test_a_topic_that_exists_has_its_partitions(count: int) -> None:
    found = {CREATED: TopicPartitions(topic=CREATED, count=count)}
    files = render("production", replace(state(topic_state(CREATED, STRING)), partitions=found))

    assert _one(files, _TOPIC)["partitions"] == count
    assert read_topic(MemoryTree(files), _TOPIC)[1] == found[CREATED]


def test_a_topic_that_does_not_exist_has_none() -> None:
    absent = {CREATED: TopicPartitions(topic=CREATED, exists=False)}
    files = render("production", replace(state(topic_state(CREATED, STRING)), partitions=absent))

    assert "partitions" not in _one(files, _TOPIC)
    assert read_topic(MemoryTree(files), _TOPIC)[1] == absent[CREATED]


@pytest.mark.parametrize("kind", ["TopicSnapshot", "NamespaceSnapshot"])
def test_a_snapshot_of_a_newer_release_is_refused_and_not_overwritten(kind: str) -> None:
    name = _TOPIC if kind == "TopicSnapshot" else "snapshots/production/shop/orders.json"
    content = json.dumps({"apiVersion": "pulsar-gitops/v2", "kind": kind, "new": 1}).encode()
    tree = MemoryTree({name: content})
    read = read_topic_state if kind == "TopicSnapshot" else read_namespace_state

    with pytest.raises(UsageError, match="the snapshot is of the version pulsar-gitops/v2") as one:
        read(tree, name)
    assert one.value.hint == "this release reads pulsar-gitops/v1: use the release that wrote it"
    with pytest.raises(UsageError, match="pulsar-gitops/v2, and would be overwritten"):
        replaceable_topics(tree, "production")


def test_a_namespace_stands_beside_its_folder() -> None:
    policies = NamespacePolicies(is_allow_auto_update_schema=False)
    missing = NamespaceState(namespace=NamespaceName("shop", "payments"), exists=False)
    known = state(namespaces={ORDERS: policies})

    files = render(
        "production",
        RegistryState(namespaces={**known.namespaces, missing.namespace: missing}),
    )

    assert _one(files, "snapshots/production/shop/orders.json")["policies"] == {
        "isAllowAutoUpdateSchema": False
    }
    assert list(files) == ["snapshots/production/shop/orders.json"]


def test_a_deletion_is_remembered_and_a_topic_without_a_past_is_not() -> None:
    gone = TopicState(topic=CREATED, history=SchemaHistory(next_version=2))
    never = topic_state(TopicName(ORDERS, "never"))

    files = render("production", state(gone, never))

    assert [path for path in files if path.count("/") == 4] == [_TOPIC]
    assert (_one(files, _TOPIC)["nextVersion"], _one(files, _TOPIC)["versions"]) == (2, [])


@pytest.mark.slow
@given(registry_states())
def test_every_topic_that_was_written_is_named_again(known: RegistryState) -> None:
    files = render("production", known)
    tree = MemoryTree(files)
    written = {name for name, topic in known.topics.items() if topic.history.next_version}

    assert recorded_topics(tree, "production") == written
    assert snapshot_files(tree, "production") == tuple(sorted(files))
    assert recorded_topics(tree, "staging") == frozenset()


def test_namespaces_of_a_snapshot_are_named_whatever_lies_in_their_files() -> None:
    files = {
        "snapshots/production/shop/orders.json": b"{",
        "snapshots/production/shop/payments/created.json": b"",
        "snapshots/production/a b/c.json": b"",
        "snapshots/staging/audit/log.json": b"",
    }

    found = recorded_namespaces(MemoryTree(files), "production")

    assert {str(name) for name in found} == {"shop/orders", "shop/payments"}


def test_names_that_only_differ_in_case_or_are_no_file_names_have_files_of_their_own() -> None:
    names = ["a", "A", "x.y", "CON", "é", "a b", "..", "nul\x00", "long" * 80]
    topics = [TopicName(ORDERS, name) for name in names]
    files = render("production", state(*(topic_state(topic, STRING) for topic in topics)))

    assert len({path.casefold() for path in files}) == len(names) + 1
    assert recorded_topics(MemoryTree(files), "production") == set(topics)


def test_both_domains_of_one_name_are_told_apart() -> None:
    topics = [CREATED, TopicName(ORDERS, "created", "non-persistent")]
    files = render("production", state(*(topic_state(topic, STRING) for topic in topics)))

    assert recorded_topics(MemoryTree(files), "production") == set(topics)


def test_odd_letters_of_a_schema_do_no_harm() -> None:
    content = render("production", _with("\u2028é漢"))[_TOPIC]

    assert content.isascii()
    document = TopicSnapshot.model_validate_json(content)
    assert document.versions[0].schema_ == "\u2028é漢"


def _with(text: str) -> RegistryState:
    return state(topic_state(CREATED, info(text)))


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "there is nothing"),
        (b"{", "the text ends too early"),
        (b'{"kind": "TopicSnapshot", "more": 1}', "missing key 'apiVersion'"),
        (b'{"kind": "TopicSnapshot", "\xff": 1}', "not UTF-8"),
        (b"\xff", "does not look like a snapshot"),
        (b"[]", "does not look like a snapshot"),
    ],
)
def test_a_broken_file_says_which_and_what_to_do(content: bytes, what: str) -> None:
    with pytest.raises(UsageError) as raised:
        read_topic_state(MemoryTree({_TOPIC: content}), _TOPIC)

    assert what in raised.value.what
    assert raised.value.where.startswith(_TOPIC)
    assert "pulsar-gitops snapshot" in raised.value.hint or "move it" in raised.value.hint


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("apiVersion", "pulsar-gitops/v2"),
        ("kind", "Topic"),
        ("topic", "no topic"),
        ("nextVersion", -1),
        ("versions", [{"version": 0, "type": "AVROO", "schema": ""}]),
        ("versions", [{"version": "0", "type": "AVRO", "schema": ""}]),
        ("more", 1),
    ],
)
def test_a_file_with_a_wrong_member_is_broken(member: str, value: object) -> None:
    good = _one(render("production", _with('"int"')), _TOPIC)
    tree = MemoryTree({_TOPIC: json.dumps({**good, member: value})})

    with pytest.raises(UsageError, match="cannot be read"):
        read_topic_state(tree, _TOPIC)
    assert TopicName.parse("shop/orders/created") in recorded_topics(tree, "production")


def test_a_file_that_leads_outside_is_not_read() -> None:
    tree = MemoryTree({}, outside=frozenset({_TOPIC}))

    with pytest.raises(UsageError, match="outside the repository"):
        read_topic_state(tree, _TOPIC)


def test_other_files_are_passed_over() -> None:
    files = {
        "snapshots/production/README.md": b"",
        "snapshots/production/shop/orders.json": b"{",
        "snapshots/production/shop/orders/notes.txt": b"",
        "snapshots/production2/shop/orders/x.json": b"{",
    }

    assert recorded_topics(MemoryTree(files), "production") == frozenset()


def test_what_is_no_snapshot_is_not_one_of_its_files() -> None:
    files = {"snapshots/production/README.md": b"", _TOPIC: b"", f"{_TOPIC}.bak": b""}

    assert snapshot_files(MemoryTree(files), "production") == (_TOPIC,)


_GOOD = render("production", state(topic_state(TopicName(ORDERS, "other"), STRING)))
_OTHER = next(data for path, data in _GOOD.items() if path.endswith("other.json"))


@pytest.mark.parametrize(
    ("content", "also"),
    [
        (b"", None),
        (b"{\n", None),
        (_OTHER[:30], None),
        (_OTHER[:150], "other"),
        (_OTHER.replace(b"\n}\n", b"\n>>>>>>> theirs\n"), "other"),
        (_OTHER.replace(b'"versions": [', b'"versions": [,'), "other"),
    ],
)
def test_a_broken_file_is_recorded_again_with_the_topic_of_its_path(
    content: bytes, also: str | None
) -> None:
    found = replaceable_topics(MemoryTree({_TOPIC: content}), "production")

    assert found == {CREATED} | ({TopicName(ORDERS, also)} if also else set())


def test_a_good_file_is_recorded_again_with_the_topic_that_it_names() -> None:
    assert replaceable_topics(MemoryTree(_GOOD), "production") == {TopicName(ORDERS, "other")}


@pytest.mark.parametrize("content", [b"[]", b'{"mine": true}', b"\xff\xfe", b"notes"])
@pytest.mark.parametrize("path", [_TOPIC, "snapshots/production/shop/orders.json"])
def test_a_file_of_somebody_else_is_not_overwritten(path: str, content: bytes) -> None:
    with pytest.raises(UsageError, match="does not look like a snapshot") as raised:
        replaceable_topics(MemoryTree({path: content}), "production")

    assert raised.value.where == path
    assert "move it" in raised.value.hint


@pytest.mark.slow
@given(registry_states())
def test_nothing_is_wrong_with_what_is_written(known: RegistryState) -> None:
    files = render("local", known)

    found = load(MemoryTree({"gitops.yaml": SETTINGS, **files})).findings

    assert [each for each in found if each.rule == "REPO-R024"] == []


def test_a_snapshot_does_not_count_as_a_part_of_the_files() -> None:
    with_it = load(MemoryTree({"gitops.yaml": SETTINGS, **_GOOD}))

    assert with_it.digest == load(MemoryTree({"gitops.yaml": SETTINGS})).digest


@pytest.mark.parametrize(
    ("registry", "told"),
    [
        ("{kind: embedded, path: x.db, brokerDefaultss: {}}", "unknown key 'brokerDefaultss'"),
        ("{kind: pulsar, url: nonsense}", "url is not an http or https address"),
        ("{kind: Pulsar, url: 'http://a:8080'}", "unknown value 'Pulsar' for kind"),
        ("{kind: nonsense, path: x.db}", "unknown value 'nonsense' for kind"),
        ("{kind: 7}", "unknown value '7' for kind"),
        ("{path: x.db}", "missing key 'kind'"),
    ],
)
def test_a_registry_with_a_mistake_is_there(registry: str, told: str) -> None:
    settings = (
        "apiVersion: pulsar-gitops/v1\nkind: Config\ndefaultRegistry: live\nregistries:\n"
        f"  live: {{kind: embedded, path: live.db}}\n  dev: {registry}\n"
    )
    recorded = render("dev", state(topic_state(CREATED, STRING)))

    found = load(MemoryTree({"gitops.yaml": settings.encode(), **recorded})).findings

    assert [each.message for each in found] == [told]
