"""The document that a reviewer approves, and its digest."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops.model.broker_settings import assumed_settings
from gitops.model.findings import Finding
from gitops.model.names import NamespaceName, TenantName, TopicName
from gitops.model.plan import CreateTenant, CreateTopic, Plan, RefusedSchema
from gitops.model.rules import make_finding
from gitops.model.state import TenantState
from gitops.model.waivers import WaiverProposal
from gitops.planning.plan_document import (
    Document,
    action_document,
    canonical,
    digest,
    finding_document,
    notice_document,
    summary,
    to_document,
)
from tests.support.plans import EVERYTHING, OTHER, REFUSAL
from tests.support.states import ORDERS

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


def _turned(value: object) -> object:
    """The same value, the members of every object in reverse."""
    if isinstance(value, dict):
        return {name: _turned(value[name]) for name in reversed(value)}
    return [_turned(each) for each in value] if isinstance(value, list) else value


@pytest.mark.slow
@given(_JSON)
def test_canonical_json_depends_on_the_value_alone(value: object) -> None:
    text = canonical(value)

    assert canonical(_turned(value)) == text
    assert canonical(json.loads(text)) == text
    assert json.loads(text) == value
    assert b"\n" not in text


@pytest.mark.slow
@given(st.dictionaries(st.text(), _JSON), st.text(), _JSON)
def test_a_digest_changes_with_any_member_but_itself(
    document: dict[str, Any], name: str, value: object
) -> None:
    document.pop("digest", None)
    before = digest(document)
    changed = {**document, name: value}

    assert digest({**document, "digest": value}) == before
    assert (digest(changed) == before) is (
        name in ("digest", *_TOLD) or canonical(changed) == canonical(document)
    )


def test_the_document_says_everything_and_its_digest_is_the_last_word() -> None:
    document = to_document(EVERYTHING)

    assert list(document) == [
        "apiVersion",
        "kind",
        "registry",
        "files",
        "broker",
        "prune",
        "summary",
        "actions",
        "notices",
        "findings",
        "causes",
        "observed",
        "expected",
        "unmanaged",
        "unmanagedNamespaces",
        "withoutSchema",
        "unlisted",
        "limits",
        "waivers",
        "digest",
    ]
    assert document["digest"] == digest(document)
    assert document["digest"].startswith("sha256:")
    assert json.loads(json.dumps(document)) == document


_OTHERS: dict[str, object] = {
    "registry": "staging",
    "address": "http://elsewhere",
    "files": "sha256:other",
    "broker": assumed_settings(),
    "prune": False,
    "actions": EVERYTHING.actions[1:],
    "notices": EVERYTHING.notices[1:],
    "findings": (),
    "observed": {},
    "expected": {},
    "namespaces": 3,
    "topics": 215,
    "unchanged": 209,
    "scope": ("shop/orders",),
    "keep_going": True,
}


_TOLD = (
    *("unmanaged", "unmanaged_namespaces", "without_schema", "unlisted", "limits", "latest"),
    "proposals",
)
"""What a plan tells and does not decide by."""


@pytest.mark.parametrize("member", [f.name for f in fields(Plan) if f.name not in _TOLD])
def test_no_member_of_a_plan_is_left_out_of_the_digest(member: str) -> None:
    other: Plan = replace(EVERYTHING, **{member: _OTHERS[member]})  # type: ignore[arg-type]

    assert to_document(other)["digest"] != to_document(EVERYTHING)["digest"]


def test_what_is_only_told_stays_out_of_the_digest() -> None:
    told = replace(
        EVERYTHING,
        unmanaged=(TopicName(ORDERS, "b"), TopicName(ORDERS, "c")),
        unmanaged_namespaces=(ORDERS,),
        without_schema=3,
        unlisted=(ORDERS,),
        limits=("The clone is shallow.",),
    )

    said = to_document(told)
    assert said["unmanaged"] == ["shop/orders/b", "shop/orders/c"]
    assert (said["unmanagedNamespaces"], said["unlisted"]) == (["shop/orders"], ["shop/orders"])
    assert (said["withoutSchema"], said["limits"]) == (3, ["The clone is shallow."])
    assert to_document(told)["digest"] == to_document(EVERYTHING)["digest"]


def test_what_another_day_says_does_not_count() -> None:
    (refused,) = (one for one in EVERYTHING.notices if isinstance(one, RefusedSchema))
    told = make_finding("WAIVER-R002", "2026-05-12 is its last day")
    tomorrow = WaiverProposal(file="waivers/a.yaml", text="expires: 2026-06-12\n")
    later = replace(
        EVERYTHING,
        findings=(*EVERYTHING.findings, told),
        notices=(*EVERYTHING.notices[:-1], replace(refused, waiver=tomorrow)),
    )
    other = replace(EVERYTHING, notices=(*later.notices[:-1], replace(refused, fingerprint="a")))

    assert to_document(later)["digest"] == to_document(EVERYTHING)["digest"]
    assert to_document(other)["digest"] != to_document(EVERYTHING)["digest"]


def test_creations_say_all_that_they_write() -> None:
    tenant = TenantState(tenant=TenantName("shop"), admin_roles=frozenset({"b", "a"}))
    narrow = replace(tenant, allowed_clusters=frozenset({"west", "east"}))
    topic = TopicName(NamespaceName("shop", "orders"), "created")

    found = [
        action_document(one)
        for one in (
            CreateTenant(state=tenant),
            CreateTenant(state=narrow),
            CreateTopic(topic=topic, partitions=4),
        )
    ]

    whole = {"action": "CreateTenant", "tenant": "shop", "adminRoles": ["a", "b"]}
    assert found == [
        whole | {"allowedClusters": None},
        whole | {"allowedClusters": ["east", "west"]},
        {"action": "CreateTopic", "topic": "shop/orders/created", "partitions": 4},
    ]


def test_actions_say_all_that_they_write() -> None:
    documents = [action_document(action) for action in EVERYTHING.actions]

    assert documents[0] == {"action": "CreateNamespace", "namespace": "shop/payments"}
    assert documents[1] == {
        "action": "SetPolicy",
        "subject": "namespace shop/orders",
        "key": "schemaCompatibilityStrategy",
        "before": "FULL",
        "after": "BACKWARD",
        "direction": "loosened",
        "waiver": None,
    }
    assert documents[2]["after"] is True
    assert documents[4] == {
        "action": "RegisterSchema",
        "topic": "shop/orders/order-cancelled",
        "version": 0,
        "latestVersion": None,
        "strategy": "BACKWARD",
        "pulsarAccepts": True,
        "waiver": None,
        "schema": {"type": "STRING", "schema": "", "properties": {}},
        "changes": [],
    }
    assert documents[5]["changes"][1] == {
        "kind": "changed",
        "path": "quantity",
        "before": "int",
        "after": "long",
        "note": "promoted for readers",
        "ignored": False,
    }
    assert documents[6] == {
        "action": "DeleteSchema",
        "topic": "shop/orders/order-legacy",
        "versions": [0, 1, 5],
    }


def test_notices_say_why_nothing_is_done() -> None:
    without_effect, drift, swallowed, refused = map(notice_document, EVERYTHING.notices)

    assert without_effect == {
        "notice": "WithoutEffect",
        "topic": "shop/orders/entry",
        "changes": [],
        "equalVersion": 2,
        "latestVersion": 5,
    }
    assert (drift["notice"], drift["equalVersion"], drift["latestVersion"]) == ("Drift", 0, 2)
    assert drift["unknownVersions"] == [
        {"version": 1, "timestamp": 1_795_000_000_000},
        {"version": 2, "timestamp": 1_795_212_345_678},
    ]
    assert drift["limit"] is None
    assert (swallowed["notice"], swallowed["version"]) == ("Swallowed", 1)
    assert [change["ignored"] for change in swallowed["changes"]] == [True]
    assert (refused["notice"], refused["type"], refused["latestVersion"]) == ("Refused", "AVRO", 7)
    assert refused["findings"] == [REFUSAL.fingerprint]
    assert refused["fingerprint"] == "9c0b41d2" * 4
    assert refused["waiver"]["file"] == "waivers/shop-payments-captured-9c0b41d2.yaml"
    assert (refused["waiver"]["hint"], refused["waiver"]["fits"]) == (
        "`plan --waivers waivers/` writes it",
        None,
    )


def _found(finding: Finding) -> Document:
    return finding_document(finding)


def test_findings_with_and_without_a_place() -> None:
    assert _found(REFUSAL)["location"] == {
        "file": "namespaces/shop/payments/captured.avsc",
        "line": 14,
        "column": 7,
        "pointer": "/fields/1/name",
        "inBase": False,
    }
    assert _found(OTHER)["location"] is None
    assert _found(OTHER)["severity"] == "error"


def test_every_refusal_is_among_the_findings_by_its_fingerprint() -> None:
    document = to_document(EVERYTHING)
    known = {found["fingerprint"] for found in document["findings"]}

    refused = [notice for notice in EVERYTHING.notices if isinstance(notice, RefusedSchema)]

    assert {found.fingerprint for notice in refused for found in notice.findings} <= known


def test_the_summary_counts() -> None:
    assert summary(EVERYTHING) == {
        "topics": 214,
        "namespaces": 2,
        "add": 1,
        "change": 1,
        "policies": 3,
        "createTenants": 0,
        "createNamespaces": 1,
        "createTopics": 0,
        "delete": 1,
        "refused": 1,
        "heldBack": 0,
        "withoutEffect": 1,
        "drift": 1,
        "swallowed": 1,
        "unchanged": 208,
    }
