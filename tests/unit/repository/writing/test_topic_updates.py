"""Topics that are updated from a registry together share the `.proto` files that are the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pytest

from gitops.model.names import TopicName
from gitops.model.state import TopicState
from gitops.repository.file_trees import OverlaidTree
from gitops.repository.loader import load
from gitops.repository.writing.topic_updates import update_topics
from tests.support.trees import MemoryTree, repository

_FOLDER: Final = "namespaces/shop/orders"
_TOPICS: Final = ("a", "b", "c")
_NAMESPACE: Final = "apiVersion: pulsar-gitops/v1\nkind: Namespace\nnamespace: shop/orders\n"


def _proto(*fields: str) -> str:
    lines = "".join(f"  string {name} = {number};\n" for number, name in enumerate(fields, 1))
    return f'syntax = "proto3";\n\npackage shop;\n\nmessage Order {{\n{lines}}}\n'


def _tree(definitions: Mapping[str, str], protos: Mapping[str, str]) -> MemoryTree:
    """Topics with the `.proto` files that they name."""
    files = {f"{_FOLDER}/namespace.yaml": _NAMESPACE}
    for topic, proto in definitions.items():
        schema = f"{{type: PROTOBUF_NATIVE, definition: {proto}, message: shop.Order}}"
        files[f"{_FOLDER}/{topic}.yaml"] = (
            f"apiVersion: pulsar-gitops/v1\nkind: Topic\nschema: {schema}\n"
        )
    return repository(files | {f"{_FOLDER}/{name}": text for name, text in protos.items()})


def _states(tree: MemoryTree) -> list[TopicState]:
    """What a registry has after an apply of these files."""
    return list(load(tree).desired.topics.values())


@pytest.mark.slow
@pytest.mark.parametrize("shared", [True, False])
def test_topics_with_the_same_new_messages_share_one_file(shared: bool) -> None:  # noqa: FBT001
    names = {topic: "order.proto" if shared else f"{topic}.proto" for topic in _TOPICS}
    tree = _tree(names, dict.fromkeys(names.values(), _proto("id")))
    live = _tree(dict.fromkeys(_TOPICS, "order.proto"), {"order.proto": _proto("id", "note")})

    made = update_topics(tree, load(tree), _states(live))

    after = OverlaidTree(tree, made.files)
    left = {path for path in after.paths() if path.endswith(".proto")} - {*made.removed}
    assert left == {f"{_FOLDER}/order.proto"}
    assert "note" in after.read(f"{_FOLDER}/order.proto").decode()
    assert _latest(after) == _latest(live)


@pytest.mark.slow
def test_a_topic_with_other_messages_gets_a_file_of_its_own() -> None:
    tree = _tree(dict.fromkeys(_TOPICS, "order.proto"), {"order.proto": _proto("id")})
    live = _tree(
        {"a": "order.proto", "b": "order.proto", "c": "c/order.proto"},
        {"order.proto": _proto("id", "note"), "c/order.proto": _proto("id", "total")},
    )

    made = update_topics(tree, load(tree), _states(live))

    after = OverlaidTree(tree, made.files)
    assert [path for path in after.paths() if path.endswith(".proto")] == [
        f"{_FOLDER}/c/order.proto",
        f"{_FOLDER}/order.proto",
    ]
    assert _latest(after) == _latest(live)


def _latest(tree: MemoryTree | OverlaidTree) -> dict[TopicName, object]:
    topics = load(tree).desired.topics
    return {name: topic.history.latest for name, topic in topics.items()}
