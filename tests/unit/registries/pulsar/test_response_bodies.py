"""Bodies of admin REST, right and wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops.model.errors import OutsideError
from gitops.model.policy import (
    NamespacePolicies,
    Retention,
    SchemaAutoUpdateCompatibilityStrategy,
    SchemaCompatibilityStrategy,
)
from gitops.model.schema import SchemaEntry, SchemaHistory, SchemaInfo, SchemaType
from gitops.model.state import NamespaceState
from gitops.registries.pulsar import response_bodies
from gitops.registries.pulsar.error_responses import Answer
from tests.support.states import ORDERS

STORED = {"version": 3, "type": "AVRO", "timestamp": 17, "data": "{}", "properties": {"a": "b"}}


def read_namespace(found: Answer) -> NamespaceState:
    return response_bodies.read_namespace(found, ORDERS)


READERS: list[Callable[[Answer], object]] = [
    response_bodies.read_entries,
    response_bodies.read_empty_history,
    response_bodies.read_posted_version,
    response_bodies.read_deleted_version,
    read_namespace,
    response_bodies.read_names,
    response_bodies.read_topic_strategy,
    response_bodies.read_boolean,
]


def answer(body: object) -> Answer:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Answer("GET", "http://b/admin/v2/x", 200, "OK", "application/json", data)


def all_schemas(*bodies: object) -> Answer:
    return answer({"getSchemaResponses": list(bodies)})


def test_entries_come_oldest_first() -> None:
    newer = {**STORED, "version": 4, "type": "STRING", "data": "", "properties": None, "new": 1}
    assert response_bodies.read_entries(all_schemas(newer, STORED)) == (
        SchemaEntry(
            version=3,
            info=SchemaInfo(type=SchemaType.AVRO, schema="{}", properties={"a": "b"}),
            timestamp=17,
        ),
        SchemaEntry(version=4, info=SchemaInfo(type=SchemaType.STRING), timestamp=17),
    )


@pytest.mark.parametrize(
    "change",
    [
        {"version": "3"},
        {"version": 3.5},
        {"version": -1},
        {"version": None},
        {"version": True},
        {"type": "NEWER"},
        {"type": 2},
        {"data": None},
        {"data": {}},
        {"timestamp": "17"},
        {"properties": {"a": 1}},
        {"properties": []},
    ],
    ids=str,
)
def test_an_entry_of_another_shape_fails_closed(change: dict[str, object]) -> None:
    with pytest.raises(OutsideError, match="list of schema versions"):
        response_bodies.read_entries(all_schemas({**STORED, **change}))


@pytest.mark.parametrize("member", sorted(STORED))
def test_an_entry_without_a_member_fails_closed(member: str) -> None:
    entry = {key: value for key, value in STORED.items() if key != member}
    with pytest.raises(OutsideError, match=member):
        response_bodies.read_entries(all_schemas(entry))


def test_a_version_that_comes_twice_fails_closed() -> None:
    with pytest.raises(OutsideError, match="twice"):
        response_bodies.read_entries(all_schemas(STORED, STORED))


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.__name__)
@pytest.mark.parametrize(
    "body", [b"<html>", b"{", b"{}", b"[{}]", b'"text"', b"null", b"12", b"\xff", b"[" * 10_000]
)
def test_another_body_fails_closed(reader: Callable[[Answer], object], body: bytes) -> None:
    with pytest.raises(OutsideError, match="answer is not") as error:
        reader(answer(body))
    assert error.value.where == "GET http://b/admin/v2/x"


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.__name__)
@given(body=st.binary())
def test_no_body_makes_another_error(reader: Callable[[Answer], object], body: bytes) -> None:
    try:
        reader(answer(body))
    except OutsideError as error:
        assert error.what.isprintable()  # noqa: PT017 - most bodies are refused, some are not


@pytest.mark.parametrize(
    ("body", "history"),
    [
        (b"", SchemaHistory()),
        (b'{"info":{"ledgerId":5,"version":2},"index":[]}', SchemaHistory(next_version=3)),
    ],
)  # fmt: skip
def test_what_follows_an_empty_history(body: bytes, history: SchemaHistory) -> None:
    assert response_bodies.read_empty_history(answer(body)) == history


def test_versions() -> None:
    assert response_bodies.read_posted_version(answer({"version": {"version": 7}})) == 7
    assert response_bodies.read_deleted_version(answer({"version": 2})) == 2
    assert response_bodies.read_deleted_version(answer({"version": -1})) == -1


def test_a_namespace() -> None:
    body = {
        "bundles": {},
        "schema_compatibility_strategy": "FULL_TRANSITIVE",
        "is_allow_auto_update_schema": False,
        "schema_validation_enforced": True,
        "schema_auto_update_compatibility_strategy": "AutoUpdateDisabled",
    }
    policies = NamespacePolicies(
        schema_compatibility_strategy=SchemaCompatibilityStrategy.FULL_TRANSITIVE,
        is_allow_auto_update_schema=False,
        schema_validation_enforced=True,
        schema_auto_update_compatibility_strategy=(
            SchemaAutoUpdateCompatibilityStrategy.AUTO_UPDATE_DISABLED
        ),
    )
    found = read_namespace(answer(body))
    assert found == NamespaceState(namespace=ORDERS, policies=policies)

    retention = {"retentionTimeInMinutes": 5, "retentionSizeInMB": -1}
    more = {
        "retention_policies": retention,
        "encryption_required": True,
        "replication_clusters": ["west", "east"],
        "compaction_threshold": 1,
    }
    assert read_namespace(answer({**body, **more})) == replace(
        found,
        retention=Retention(minutes=5, megabytes=-1),
        encryption_required=True,
        replication_clusters=("east", "west"),
        is_compacted=True,
    )
    assert not read_namespace(answer({**body, "compaction_threshold": 0})).is_compacted


@pytest.mark.parametrize(
    ("body", "strategy"),
    [
        (b"", None),
        (b'"UNDEFINED"', None),
        (b'"FORWARD"', SchemaCompatibilityStrategy.FORWARD),
    ],
)
def test_a_topics_own_strategy(body: bytes, strategy: SchemaCompatibilityStrategy | None) -> None:
    assert response_bodies.read_topic_strategy(answer(body)) is strategy


def test_a_posted_schema_has_exactly_three_members() -> None:
    info = SchemaInfo(type=SchemaType.JSON, schema='{"ü": 1}', properties={"k": "v"})
    assert json.loads(response_bodies.write_schema(info)) == {
        "type": "JSON",
        "schema": '{"ü": 1}',
        "properties": {"k": "v"},
    }
