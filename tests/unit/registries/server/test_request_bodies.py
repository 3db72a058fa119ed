"""Bodies as a broker's Jackson reads them."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops.model.policy import (
    NamespacePolicies,
    SchemaAutoUpdateCompatibilityStrategy,
    SchemaCompatibilityStrategy,
)
from gitops.registries.server import request_bodies
from gitops.registries.server.request_bodies import BadBodyError, PostSchemaPayload, TenantPayload

READERS = (
    request_bodies.parse,
    request_bodies.schema_payload,
    request_bodies.tenant_payload,
    request_bodies.namespace_payload,
    request_bodies.required_flag,
)


@pytest.mark.parametrize("body", [b"", b"  \n", b"null"])
def test_no_body_is_no_payload(body: bytes) -> None:
    assert request_bodies.schema_payload(body) is None
    assert request_bodies.tenant_payload(body) is None
    assert request_bodies.namespace_payload(body) == (NamespacePolicies(), ())


def test_members_may_be_missing_and_unknown_ones_are_ignored() -> None:
    assert request_bodies.schema_payload(b'{"other": {"a": [1]}}') == PostSchemaPayload()


def test_numbers_and_booleans_stand_in_for_text_as_they_were_written() -> None:
    body = b'{"type":5,"schema":true,"properties":{"a":1e5,"b":-0.10,"c":false,"d":null}}'
    assert request_bodies.schema_payload(body) == PostSchemaPayload(
        type="5",
        schema="true",
        properties={"a": "1e5", "b": "-0.10", "c": "false", "d": None},
    )


def test_the_last_of_two_equal_keys_wins() -> None:
    assert request_bodies.schema_payload(b'{"type":"A","type":"B"}') == PostSchemaPayload(type="B")


def test_half_a_surrogate_pair_becomes_a_question_mark() -> None:
    payload = request_bodies.schema_payload(rb'{"schema":"a\ud800b\ud83d\ude00"}')
    assert payload == PostSchemaPayload(schema="a?b😀")


def test_a_byte_order_mark_is_skipped() -> None:
    assert request_bodies.schema_payload(b'\xef\xbb\xbf{"type":"A"}') == PostSchemaPayload(type="A")


@pytest.mark.parametrize(
    "body",
    [
        b"{bad",
        b"{} trailing",
        b"[]",
        b"5",
        b'"x"',
        b'{"type":NaN}',
        b'{"schema":{}}',
        b'{"schema":[]}',
        b'{"properties":[]}',
        b'{"properties":{"x":{}}}',
        b'{"schema":"\xff"}',
        b'{"schema":"a\nb"}',
        b"[" * 100_000,
    ],
)
def test_what_does_not_fit_is_a_bad_body(body: bytes) -> None:
    with pytest.raises(BadBodyError):
        request_bodies.schema_payload(body)


def test_a_tenant_names_its_clusters_once() -> None:
    body = b'{"adminRoles":["b","a","b"],"allowedClusters":["standalone","standalone"]}'
    assert request_bodies.tenant_payload(body) == TenantPayload(
        admin_roles=("b", "a"), allowed_clusters=("standalone",)
    )
    with pytest.raises(BadBodyError):
        request_bodies.tenant_payload(b'{"adminRoles":"a"}')


def test_a_new_namespace_may_bring_schema_policies() -> None:
    policies, clusters = request_bodies.namespace_payload(
        b'{"schema_compatibility_strategy":"FORWARD","is_allow_auto_update_schema":"false",'
        b'"schema_auto_update_compatibility_strategy":"Full","replication_clusters":["a"],'
        b'"retention_policies":{}}'
    )
    assert policies == NamespacePolicies(
        schema_compatibility_strategy=SchemaCompatibilityStrategy.FORWARD,
        is_allow_auto_update_schema=False,
        schema_auto_update_compatibility_strategy=SchemaAutoUpdateCompatibilityStrategy.FULL,
    )
    assert clusters == ("a",)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b'"FULL"', SchemaCompatibilityStrategy.FULL),
        (b"1", SchemaCompatibilityStrategy.ALWAYS_INCOMPATIBLE),
        (b'"3"', SchemaCompatibilityStrategy.BACKWARD),
        (b"99", None),
        (b"99999999999999999999", None),
        (b'"full"', None),
        (b"null", None),
        (b"", None),
    ],
)
def test_a_strategy_is_a_name_or_a_number(
    body: bytes, expected: SchemaCompatibilityStrategy | None
) -> None:
    assert request_bodies.strategy(request_bodies.parse(body)) is expected


@pytest.mark.parametrize("body", [b"true", b"{}", b"[]", b"1.5", b"-1"])
def test_a_strategy_is_nothing_else(body: bytes) -> None:
    with pytest.raises(BadBodyError):
        request_bodies.strategy(request_bodies.parse(body))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"true", True),
        (b'" True "', True),
        (b"2", True),
        (b"0", False),
        (b'""', False),
        (b"null", False),
        (b'"FALSE"', False),
    ],
)
def test_a_flag_is_read_leniently(body: bytes, expected: bool) -> None:  # noqa: FBT001
    assert request_bodies.required_flag(body) is expected


@pytest.mark.parametrize("body", [b"", b'"x"', b"1.5", b"{}"])
def test_a_flag_is_nothing_else(body: bytes) -> None:
    with pytest.raises(BadBodyError):
        request_bodies.required_flag(body)


@pytest.mark.parametrize("body", [b'"a"', b"1.5", b"", b"true", b"[1]", b"1e3"])
def test_a_number_of_partitions_is_a_whole_number(body: bytes) -> None:
    assert request_bodies.number(request_bodies.parse(b"-12")) == -12
    with pytest.raises(BadBodyError):
        request_bodies.number(request_bodies.parse(body))


@pytest.mark.slow
@given(st.binary() | st.text().map(str.encode))
def test_any_body_is_read_or_bad(body: bytes) -> None:
    for read in READERS:
        with contextlib.suppress(BadBodyError):
            read(body)
