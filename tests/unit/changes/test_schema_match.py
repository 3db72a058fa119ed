"""A schema from elsewhere: the file's, registered, a new version, or refused."""

from __future__ import annotations

import json
from typing import Final

import pytest

from gitops.changes.schema_match import SchemaMatch, TopicPlace, match_schema
from gitops.model.errors import NotThereError, OutsideError
from gitops.model.findings import Location
from gitops.model.policy import NamespacePolicies, SchemaCompatibilityStrategy
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.repository.loader import load
from tests.support.fake_registry import FakeRegistry
from tests.support.states import CREATED, INT64, ORDERS, avro, field, info, state, topic_state
from tests.support.trees import SETTINGS, MemoryTree

V0: Final = avro(field("id"))
V1: Final = avro(field("id"), field("note", default="-"))
V2: Final = avro(field("id"), field("note", default="-"), field("more", default="-"))
REFUSED: Final = avro(field("id", "int"))
FILE: Final = "namespaces/shop/orders/created.avsc"


def match(
    asked: SchemaInfo,
    *,
    file: SchemaInfo | None = None,
    registered: tuple[SchemaInfo, ...] = (),
    strategy: SchemaCompatibilityStrategy = SchemaCompatibilityStrategy.FULL,
) -> SchemaMatch:
    """With the file's definition, and these versions in the registry."""
    files: dict[str, str | bytes] = {"gitops.yaml": SETTINGS}
    if file:
        files["namespaces/shop/orders/namespace.yaml"] = (
            "apiVersion: pulsar-gitops/v1\nkind: Namespace\nnamespace: shop/orders\n"
            f"schemaCompatibilityStrategy: {strategy.value}\n"
        )
        files["namespaces/shop/orders/created.yaml"] = (
            "apiVersion: pulsar-gitops/v1\nkind: Topic\n"
            "schema: {type: AVRO, definition: created.avsc}\n"
        )
        files[FILE] = json.dumps(json.loads(file.schema), indent=1)
    tree = MemoryTree(files)
    repository = load(tree)
    policies = NamespacePolicies(schema_compatibility_strategy=strategy)
    topics = [topic_state(CREATED, *registered)] if registered else []
    place = TopicPlace(
        topic=CREATED,
        repository=repository,
        tree=tree,
        registry=FakeRegistry(state(*topics, namespaces={ORDERS: policies})),
        config=repository.config.registries["local"],
    )
    return match_schema(asked, lambda pointer: Location(file="orders.py", pointer=pointer), place)


def test_the_schema_of_the_file_is_known_before_anybody_registers_it() -> None:
    found = match(V0, file=V0)
    assert (found.decision.known, found.is_registered, found.is_new) == (True, False, False)
    assert (found.file, found.file_version, found.registered) == (FILE, 0, None)
    assert found.changes == ()


def test_what_is_registered_is_told_from_what_the_file_will_be() -> None:
    old = match(V0, file=V1, registered=(V0,))
    assert (old.is_registered, old.decision.version, old.file_version) == (True, 0, 1)
    new = match(V1, file=V1, registered=(V0,))
    assert (new.is_registered, new.decision.known, new.decision.version) == (False, True, 1)


def test_the_next_version_is_behind_that_of_the_file() -> None:
    found = match(V2, file=V1, registered=(V0,))
    assert (found.is_new, found.decision.version, found.file_version) == (True, 2, 1)
    assert [change.path for change in found.changes] == ["more"]
    assert found.findings == ()


def test_a_refused_schema_has_its_line_and_the_place_that_it_is_compared_with() -> None:
    """The file's own definition where that is the version, else the version's number."""
    with_file = match(REFUSED, file=V0)
    assert (with_file.decision.accepted, with_file.is_new) == (False, False)
    (finding, *_) = with_file.findings
    assert finding.location is not None
    assert finding.location.file == "orders.py"
    assert finding.compared is not None
    assert finding.compared.file == FILE
    (finding, *_) = match(REFUSED, registered=(V0,)).findings
    assert finding.compared is not None
    assert finding.compared.file == "v0"


def test_a_file_that_is_refused_itself_has_no_version_and_counts_not() -> None:
    found = match(V1, file=REFUSED, registered=(V0,))
    assert (found.file, found.file_version) == (FILE, None)
    assert (found.is_new, found.decision.version) == (True, 1)


def test_the_strategy_is_that_of_the_topics_namespace() -> None:
    found = match(REFUSED, registered=(V0,), strategy=SchemaCompatibilityStrategy.ALWAYS_COMPATIBLE)
    assert found.strategy is SchemaCompatibilityStrategy.ALWAYS_COMPATIBLE
    assert found.is_new


def test_properties_alone_are_no_change() -> None:
    found = match(SchemaInfo(type=V1.type, schema=V1.schema, properties={"a": "b"}), file=V0)
    assert [change.path for change in found.changes] == ["note"]


def test_another_type_is_refused_with_a_finding() -> None:
    found = match(INT64, registered=(V0,))
    assert not found.decision.accepted
    assert found.findings


def test_a_topic_that_nobody_has_is_named() -> None:
    with pytest.raises(NotThereError) as caught:
        match(V0)
    assert str(CREATED) in caught.value.what
    assert caught.value.hint


def test_a_registry_with_a_broken_schema_is_an_error_of_it() -> None:
    with pytest.raises(OutsideError, match="contains a schema that cannot be read"):
        match(V0, registered=(info("x", SchemaType.KEY_VALUE),))
