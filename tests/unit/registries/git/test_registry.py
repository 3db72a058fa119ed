"""The past of files as the history of a registry."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitops.git.checkout import Checkout, open_checkout
from gitops.git.tree import tree_of
from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import BrokerSettings, NamespacePolicies, SchemaCompatibilityStrategy
from gitops.model.state import NamespaceState, Scope
from gitops.registries.git.registry import GitHistory, GitRegistry
from gitops.repository.loader import load
from tests.support.git_repos import GitRepository
from tests.support.trees import SETTINGS

pytestmark = pytest.mark.slow


TOPIC = TopicName.parse("shop/orders/created")
FOLDER = "s/namespaces/shop/orders"
MANIFEST = "apiVersion: pulsar-gitops/v1\nkind: Topic\n"


def avro(*fields: str, name: str = "Created", **rest: object) -> str:
    each = [{"name": field, "type": "string", "default": ""} for field in fields]
    return json.dumps({"type": "record", "name": name, "fields": each} | rest)


def manifest(definition: str, kind: str = "AVRO", more: str = "") -> str:
    return f"{MANIFEST}schema: {{type: {kind}, definition: {definition}{more}}}\n"


@pytest.fixture
def repo(tmp_path: Path) -> GitRepository:
    made = GitRepository(tmp_path / "repo")
    made.write({"s/gitops.yaml": SETTINGS, f"{FOLDER}/created.yaml": manifest("created.avsc")})
    made.write({f"{FOLDER}/created.avsc": avro("a")})
    return made


@pytest.fixture
def checkout(repo: GitRepository) -> Iterator[Checkout]:
    with open_checkout(repo.root / "s") as opened:
        yield opened


def registry(checkout: Checkout, commit: str = "HEAD") -> GitRegistry:
    repository = load(tree_of(checkout, commit))
    files = {
        topic: frozenset({source.manifest.file, *source.definitions})
        for topic, source in repository.topics.items()
    }
    head = checkout.line("rev-parse", commit)
    past = GitHistory(checkout=checkout, commit=head, desired=repository.desired, files=files)
    return GitRegistry("local", past, BrokerSettings())


def fields(checkout: Checkout, found: GitRegistry | None = None) -> dict[int, list[str]]:
    """Version → names of fields."""
    state = (found or registry(checkout)).observe(Scope(topics=frozenset({TOPIC})))
    return {
        entry.version: [each["name"] for each in json.loads(entry.info.schema)["fields"]]
        for entry in state.topics[TOPIC].history.entries
    }


def test_each_definition_is_a_version(repo: GitRepository, checkout: Checkout) -> None:
    repo.commit()
    repo.commit({"s/else": "1"})
    repo.commit({f"{FOLDER}/created.avsc": avro("a", "b")})
    assert fields(checkout) == {0: ["a"], 1: ["a", "b"]}


def test_a_topic_keeps_its_history_when_its_domain_changes(
    repo: GitRepository, checkout: Checkout
) -> None:
    """A broker has one history for both."""
    repo.commit()
    repo.commit({f"{FOLDER}/created.avsc": avro("a", "b")})
    volatile = TopicName(TOPIC.namespace, TOPIC.local_name, "non-persistent")
    beside = registry(checkout).observe(Scope(topics=frozenset({volatile})))
    named = manifest("created.avsc").replace("kind: Topic", f"kind: Topic\ntopic: {volatile}")
    repo.commit({f"{FOLDER}/created.yaml": named, f"{FOLDER}/created.avsc": avro("a", "c")})
    after = registry(checkout).observe(Scope(topics=frozenset({volatile})))

    assert [each.version for each in beside.topics[volatile].history.entries] == [0, 1]
    assert [each.version for each in after.topics[volatile].history.entries] == [0, 1, 2]


def test_a_revert_and_a_doc_are_no_versions(repo: GitRepository, checkout: Checkout) -> None:
    repo.commit()
    repo.commit({f"{FOLDER}/created.avsc": avro("a", doc="said")})
    repo.commit({f"{FOLDER}/created.avsc": avro("a", "b")})
    repo.commit({f"{FOLDER}/created.avsc": avro("a")})
    assert fields(checkout) == {0: ["a"], 1: ["a", "b"]}


def test_what_was_merged_is_one_version(repo: GitRepository, checkout: Checkout) -> None:
    repo.commit()
    repo.git("switch", "--quiet", "--create", "side")
    repo.commit({f"{FOLDER}/created.avsc": avro("a", "tried")})
    repo.commit({f"{FOLDER}/created.avsc": avro("a", "b")})
    repo.git("switch", "--quiet", "main")
    repo.commit({"s/else": "1"})
    repo.git("merge", "--quiet", "--no-ff", "side", "--message", "merge")
    assert fields(checkout) == {0: ["a"], 1: ["a", "b"]}


def test_a_definition_that_had_another_name(repo: GitRepository, checkout: Checkout) -> None:
    repo.write({f"{FOLDER}/created.yaml": manifest("old.avsc"), f"{FOLDER}/created.avsc": None})
    repo.commit({f"{FOLDER}/old.avsc": avro("a")})
    repo.commit({f"{FOLDER}/old.avsc": avro("a", "b")})
    repo.write({f"{FOLDER}/old.avsc": None, f"{FOLDER}/created.avsc": avro("a", "b", "c")})
    repo.commit({f"{FOLDER}/created.yaml": manifest("created.avsc")})
    assert fields(checkout) == {0: ["a"], 1: ["a", "b"], 2: ["a", "b", "c"]}


def test_a_shared_type_makes_versions(repo: GitRepository, checkout: Checkout) -> None:
    uses = {"name": "total", "type": "Money"}
    repo.write({f"{FOLDER}/created.avsc": json.dumps(json.loads(avro()) | {"fields": [uses]})})
    repo.commit({"s/types/money.avsc": avro("cents", name="Money")})
    repo.commit({"s/types/money.avsc": avro("cents", "currency", name="Money")})
    state = registry(checkout).observe(Scope(topics=frozenset({TOPIC})))
    texts = [entry.info.schema for entry in state.topics[TOPIC].history.entries]
    assert ["currency" in text for text in texts] == [False, True]


def test_an_imported_proto_makes_versions(repo: GitRepository, checkout: Checkout) -> None:
    native = manifest("created.proto", "PROTOBUF_NATIVE", ", message: shop.Created")
    head = 'syntax = "proto3"; package shop;'
    repo.write({f"{FOLDER}/created.yaml": native, f"{FOLDER}/created.avsc": None})
    repo.write(
        {f"{FOLDER}/created.proto": f'{head} import "t.proto"; message Created {{ T t = 1; }}'}
    )
    repo.commit({"s/t.proto": f"{head} message T {{ int32 a = 1; }}"})
    repo.commit({"s/t.proto": f"{head} message T {{ int32 a = 1; int32 b = 2; }}"})
    state = registry(checkout).observe(Scope(topics=frozenset({TOPIC})))
    assert len(state.topics[TOPIC].history.entries) == 2


def test_what_could_not_be_read_then_is_left_out_and_told(
    repo: GitRepository, checkout: Checkout
) -> None:
    repo.commit()
    repo.commit({f"{FOLDER}/created.avsc": "{"})
    repo.commit({f"{FOLDER}/created.avsc": avro("a", "b")})
    found = registry(checkout)
    assert fields(checkout, found) == {0: ["a"], 1: ["a", "b"]}
    assert "1 earlier definitions could not be read and are left out." in found.limits()


def test_before_there_was_a_repository(repo: GitRepository, checkout: Checkout) -> None:
    repo.write({"s/gitops.yaml": None})
    repo.commit()
    repo.commit({"s/gitops.yaml": SETTINGS, f"{FOLDER}/created.avsc": avro("b")})
    assert fields(checkout) == {0: ["b"]}


def test_policies_are_those_of_the_files(repo: GitRepository, checkout: Checkout) -> None:
    full = "schemaCompatibilityStrategy: FULL\n"
    text = f"apiVersion: pulsar-gitops/v1\nkind: Namespace\nnamespace: shop/orders\n{full}"
    repo.commit({f"{FOLDER}/namespace.yaml": text})
    missing = NamespaceName("shop", "none")
    scope = Scope(namespaces=frozenset({TOPIC.namespace, missing}))
    state = registry(checkout).observe(scope)
    strategy = SchemaCompatibilityStrategy.FULL
    policies = NamespacePolicies(schema_compatibility_strategy=strategy)
    assert state.namespaces[TOPIC.namespace].policies == policies
    assert state.namespaces[missing] == NamespaceState(namespace=missing, exists=False)


def test_a_topic_that_never_was(repo: GitRepository, checkout: Checkout) -> None:
    repo.commit()
    other = TopicName.parse("shop/orders/other")
    state = registry(checkout).observe(Scope(topics=frozenset({other})))
    assert not state.topics[other].history.entries


def test_a_shallow_clone_says_so(repo: GitRepository, tmp_path: Path) -> None:
    repo.commit()
    repo.commit({f"{FOLDER}/created.avsc": avro("a", "b")})
    clone = tmp_path / "clone"
    repo.git("clone", "--quiet", "--depth=1", repo.root.as_uri(), str(clone))
    with open_checkout(clone / "s") as checkout:
        found = registry(checkout)
        assert fields(checkout, found) == {0: ["a", "b"]}
        assert any("git fetch --unshallow" in limit for limit in found.limits())


def test_lists(repo: GitRepository, checkout: Checkout) -> None:
    repo.commit()
    found = registry(checkout)
    assert found.list_namespaces() == (TOPIC.namespace,)
    assert found.list_topics(TOPIC.namespace) == (TOPIC,)
    assert found.address.startswith("git ")
