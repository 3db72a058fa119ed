"""Keys stand in the order of the documents' classes."""

from __future__ import annotations

from gitops.repository.documents.config import ConfigDocument
from gitops.repository.documents.manifests import TopicDocument
from gitops.repository.formatting.yaml_text import Place, below, place_of, rank


def order(place: Place, *keys: str) -> list[str]:
    ranks = rank(place, keys)
    return sorted(keys, key=lambda key: ranks.get(key, len(ranks)))


def test_own_keys_stand_before_those_of_a_base_class() -> None:
    schema = below(place_of(TopicDocument), "schema")
    keys = ("properties", "definition", "value", "key", "other", "encoding", "type")
    assert order(schema, *keys) == [
        "type", "encoding", "key", "value", "definition", "properties", "other"
    ]  # fmt: skip


def test_of_several_documents_it_is_the_one_that_is_meant() -> None:
    registry = below(below(place_of(ConfigDocument), "registries"), "production")
    assert order(registry, "brokerDefaults", "path", "kind") == ["kind", "path", "brokerDefaults"]
    assert order(registry, "namespaces", "tls", "url", "kind") == [
        "kind",
        "url",
        "tls",
        "namespaces",
    ]


def test_free_mappings_have_no_order() -> None:
    registries = below(place_of(ConfigDocument), "registries")
    assert rank(registries, ("url", "kind")) == {}
    assert rank(below(below(place_of(TopicDocument), "schema"), "properties"), ("type",)) == {}


def test_items_of_lists_have_one() -> None:
    sample = below(below(place_of(TopicDocument), "samples"), 3)
    assert order(sample, "path", "format") == ["format", "path"]
    assert below(below(place_of(TopicDocument), "samples"), "x") == ()
