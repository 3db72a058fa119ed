"""A repository in which every kind of document is there, and all is right."""

from __future__ import annotations

import json
from typing import Any, Final

from tests.support.protos import order
from tests.support.wrong_values import Document, Embedded

HEAD: Final = {"apiVersion": "pulsar-gitops/v1"}
ORDERS: Final = "namespaces/shop/orders"
_MONEY: Final = {
    "type": "record",
    "name": "Money",
    "namespace": "shop",
    "fields": [
        {
            "name": "amount",
            "type": {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 2},
        },
        {"name": "currency", "type": "string"},
    ],
}
OLD: Final = {
    "type": "record",
    "name": "Order",
    "namespace": "shop",
    "fields": [{"name": "id", "type": "string"}, {"name": "count", "type": "int"}],
}
_ORDER: Final[dict[str, Any]] = {
    "type": "record",
    "name": "Order",
    "namespace": "shop",
    "doc": "An order.",
    "aliases": ["Purchase"],
    "fields": [
        {"name": "id", "type": "string", "order": "ignore"},
        {"name": "count", "type": "int", "aliases": ["number"], "default": 1},
        {"name": "total", "type": ["null", "Money"], "default": None},
        {
            "name": "state",
            "type": {"type": "enum", "name": "State", "symbols": ["A", "B"], "default": "A"},
            "default": "B",
        },
        {
            "name": "hash",
            "type": {"type": "fixed", "name": "Hash", "size": 2},
            "default": "\x00\u00ff",
        },
        {
            "name": "tags",
            "type": {"type": "map", "values": {"type": "array", "items": "long"}},
            "default": {"a": [1]},
        },
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}, "default": 0},
        {"name": "next", "type": ["null", "Order"], "default": None},
    ],
}
ORDER_ALONE: Final = {
    **_ORDER,
    "fields": [each for each in _ORDER["fields"] if each["name"] != "total"],
}
PLAIN: Final = {
    "type": "record",
    "name": "Plain",
    "fields": [{"name": "a", "type": ["null", "string"], "default": None}],
}
JACKSON: Final = {
    "type": "object",
    "id": "urn:jsonschema:shop:Order",
    "required": False,
    "properties": {
        "id": {"type": "string", "enum": ["a"], "maxLength": 3},
        "items": {"type": "array", "items": {"type": "integer", "maximum": 5}},
        "more": {"type": "object", "additionalProperties": {"type": "any"}},
    },
}
_PARSING_INFO: Final = [
    {"number": 1, "name": "a", "type": "STRING", "label": "LABEL_OPTIONAL", "definition": {}}
]


def _topic(**members: Document) -> Document:
    return {**HEAD, "kind": "Topic", **members}


_SETTINGS: Final = {
    **HEAD,
    "kind": "Config",
    "defaultRegistry": "local",
    "registries": {
        "local": {
            "kind": "embedded",
            "path": ".gitops/registry.db",
            "brokerDefaults": {
                "schemaCompatibilityStrategy": "FULL",
                "isAllowAutoUpdateSchemaEnabled": True,
            },
            "namespaces": {"shop/orders": {"schemaCompatibilityStrategy": "BACKWARD"}},
        },
        "live": {
            "kind": "pulsar",
            "url": "http://127.0.0.1:9",
            "authentication": {"basic": {"username": "a", "password": "${HOME}"}},
            "tls": {"caFile": "ca.pem", "verifyHostname": True},
            "timeouts": {"connect": 1, "read": 1.5},
            "concurrency": 2,
        },
    },
    "safety": {"maxChangedShare": 0.9, "minTopics": 100, "allowDeletions": True},
    "rules": {"REPO-R023": "off", "AVRO-W001": "error"},
}
_CLIENT: Final = {
    **HEAD,
    "kind": "Client",
    "name": "billing",
    "owner": "@acme/billing",
    "consumes": [
        {"topic": "shop/orders/order", "subscription": "b", "schema": {"version": 0}},
        {
            "topic": "persistent://shop/orders/inline",
            "subscription": "b",
            "schema": {"definition": "billing.avsc"},
        },
        {"topic": "shop/orders/pair", "subscription": "b", "schema": "AUTO_CONSUME"},
    ],
    "produces": [
        {
            "topic": "shop/orders/order",
            "schema": [{"version": 0}, {"type": "AVRO", "definition": OLD}],
        },
        {
            "topic": "shop/orders/pair",
            "schema": {
                "type": "KEY_VALUE",
                "encoding": "INLINE",
                "key": {"type": "STRING"},
                "value": {"type": "AVRO", "definition": Embedded(PLAIN)},
            },
        },
    ],
}
_WAIVER: Final = {
    **HEAD,
    "kind": "Waiver",
    "topic": "shop/orders/order",
    "fingerprint": "0123456789abcdef" * 2,
    "reason": "because",
    "approvedBy": "@acme/owners",
    "expires": "2099-12-31",
}
_TOPIC: Final = _topic(
    topic="persistent://shop/orders/order",
    schema={"type": "AVRO", "definition": "order.avsc", "properties": {"owner": "checkout"}},
    policies={"schemaCompatibilityStrategy": "FULL", "schemaValidationEnforced": True},
    samples=[
        {
            "format": "avro",
            "path": "../../../samples/*.avro",
            "version": 0,
            "sensitive": ["id"],
            "maxFailures": 0.5,
        },
        {
            "format": "table",
            "path": "../../../samples/no.parquet",
            "columns": {"topic": "t", "schema_version": "v", "payload": "p"},
            "maxFailures": 3,
        },
    ],
)
_INLINE: Final = _topic(
    schema={"type": "JSON", "definition": PLAIN},
    samples=[{"format": "json", "path": "../../../samples/inline.jsonl", "version": 0}],
)
_PAIR: Final = _topic(
    schema={
        "type": "KEY_VALUE",
        "encoding": "SEPARATED",
        "key": {"type": "STRING", "name": "K", "properties": {"a": "b"}},
        "value": {"type": "AVRO", "definition": PLAIN},
        "properties": {"owner": "x"},
    }
)
WHOLE: Final[dict[str, Any]] = _topic(
    schema={
        "type": "KEY_VALUE",
        "definition": Embedded({"key": "", "value": PLAIN}),
        "properties": {
            "key.schema.name": "",
            "key.schema.type": "STRING",
            "key.schema.properties": Embedded({"a": "b"}),
            "value.schema.name": "",
            "value.schema.type": "AVRO",
            "value.schema.properties": Embedded({}),
            "kv.encoding.type": "INLINE",
        },
    }
)
_PROTO: Final = _topic(
    schema={
        "type": "PROTOBUF",
        "definition": PLAIN,
        "properties": {"__PARSING_INFO__": Embedded(_PARSING_INFO)},
    }
)
ENVELOPE: Final = json.loads(order("string id = 1; int32 count = 2;").schema)
_NAMESPACE: Final = {
    **HEAD,
    "kind": "Namespace",
    "namespace": "shop/orders",
    "schemaCompatibilityStrategy": "BACKWARD",
    "isAllowAutoUpdateSchema": False,
    "schemaValidationEnforced": True,
    "schemaAutoUpdateCompatibilityStrategy": "Full",
}


def _version(number: int, kind: str, schema: Document, **properties: Document) -> Document:
    return {
        "version": number,
        "type": kind,
        "timestamp": 1_767_225_600_000 + number,
        "schema": schema,
        "properties": properties,
    }


_TOPIC_SNAPSHOT: Final = {
    **HEAD,
    "kind": "TopicSnapshot",
    "topic": "persistent://shop/orders/order",
    "nextVersion": 2,
    "policies": {"schemaCompatibilityStrategy": "FULL", "schemaValidationEnforced": None},
    "versions": [_version(0, "AVRO", Embedded(OLD)), _version(1, "AVRO", Embedded(OLD), a="b")],
}
_PAIR_SNAPSHOT: Final = {
    **_TOPIC_SNAPSHOT,
    "topic": "persistent://shop/orders/whole",
    "nextVersion": 1,
    "versions": [
        _version(0, "KEY_VALUE", WHOLE["schema"]["definition"], **WHOLE["schema"]["properties"])
    ],
}
_NATIVE_SNAPSHOT: Final = {
    **_TOPIC_SNAPSHOT,
    "topic": "persistent://shop/orders/native",
    "nextVersion": 1,
    "versions": [_version(0, "PROTOBUF_NATIVE", Embedded(ENVELOPE))],
}
_JACKSON_SNAPSHOT: Final = {
    **_TOPIC_SNAPSHOT,
    "topic": "persistent://shop/orders/inline",
    "nextVersion": 1,
    "versions": [_version(0, "JSON", Embedded(JACKSON))],
}
_NAMESPACE_SNAPSHOT: Final = {
    **HEAD,
    "kind": "NamespaceSnapshot",
    "namespace": "shop/orders",
    "policies": {"schemaCompatibilityStrategy": "FULL", "isAllowAutoUpdateSchema": True},
}

FILES: Final[dict[str, Document]] = {
    "gitops.yaml": _SETTINGS,
    f"{ORDERS}/namespace.yaml": _NAMESPACE,
    f"{ORDERS}/order.yaml": _TOPIC,
    f"{ORDERS}/order.avsc": _ORDER,
    f"{ORDERS}/inline.yaml": _INLINE,
    f"{ORDERS}/pair.yaml": _PAIR,
    f"{ORDERS}/whole.yaml": WHOLE,
    f"{ORDERS}/proto.yaml": _PROTO,
    f"{ORDERS}/native.yaml": _topic(
        schema={"type": "PROTOBUF_NATIVE", "definition": "native.json"}
    ),
    f"{ORDERS}/native.json": ENVELOPE,
    "types/money.avsc": _MONEY,
    "clients/billing.yaml": _CLIENT,
    "clients/billing.avsc": PLAIN,
    "waivers/one.yaml": _WAIVER,
    "snapshots/local/shop/orders.json": _NAMESPACE_SNAPSHOT,
    "snapshots/local/shop/orders/order.json": _TOPIC_SNAPSHOT,
    "snapshots/local/shop/orders/whole.json": _PAIR_SNAPSHOT,
    "snapshots/local/shop/orders/native.json": _NATIVE_SNAPSHOT,
    "snapshots/local/shop/orders/inline.json": _JACKSON_SNAPSHOT,
}
"""A repository in which all is right; each of its files goes wrong in turn."""

DEFINITIONS: Final[dict[str, tuple[Document, Document]]] = {
    "AVRO": (OLD, ORDER_ALONE),
    "JSON": (JACKSON, ORDER_ALONE),
    "PROTOBUF": (OLD, ORDER_ALONE),
    "PROTOBUF_NATIVE": (ENVELOPE, ENVELOPE),
    "KEY_VALUE": ({"key": "", "value": OLD}, {"key": "", "value": ORDER_ALONE}),
}
"""An older definition and a newer one, by SchemaType."""


def payload(kind: str, definition: Document) -> Document:
    """What admin REST takes, and `pulsar-admin schemas upload` reads from a file."""
    properties = WHOLE["schema"]["properties"] if kind == "KEY_VALUE" else {"a": "b"}
    return {"type": kind, "schema": Embedded(definition), "properties": properties}
