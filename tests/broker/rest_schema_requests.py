"""Requests about schemas, in groups that need nothing of each other."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

from tests.broker.rest_requests import (
    B_DEFAULT,
    A,
    B,
    N,
    RawRequest,
    S,
    accepting,
    delete,
    get,
    post,
    put,
    record,
    schema,
    untyped,
)


def schemas() -> list[RawRequest]:
    first, second = record(A), record(A, B_DEFAULT)
    reads = [
        get(f"{S}/schema"),
        get(f"{S}/schema/0"),
        get(f"{S}/schemas"),
        get(f"{S}/metadata"),
    ]
    return [
        *reads,
        post(f"{S}/version", schema("AVRO", first)),
        post(f"{S}/compatibility", schema("AVRO", first)),
        post(f"{S}/schema", schema("AVRO", first, {"k": "v", "a": "€"})),
        post(f"{S}/schema", schema("AVRO", first + " ", {"other": "1"})),
        post(f"{S}/schema", schema("AVRO", record(A, doc="new"))),
        post(f"{S}/schema", schema("AVRO", record(A, B))),
        post(f"{S}/compatibility", schema("AVRO", record(A, B))),
        post(f"{S}/schema", schema("AVRO", second)),
        post(f"{S}/schema", schema("AVRO", first)),
        post(f"{S}/version", schema("AVRO", second)),
        post(f"{S}/version", schema("AVRO", second + " ")),
        post(f"{S}/compatibility", schema("AVRO", first)),
        post(f"{S}/schema", schema("STRING")),
        post(f"{S}/schema", schema("STRING", "zzz<&>\x07é")),
        post(f"{S}/schema", schema("AVRO", "not json")),
        post(f"{S}/compatibility", schema("STRING", "zzz")),
        post(f"{S}/compatibility", schema("INT8")),
        *reads,
        *(get(f"{S}/schema/{v}") for v in ("1", "7", "-1", "+1", "007", "00", "x", "1x", "1.0")),
        get(f"{S}/schema/99999999999999999999"),
        get(f"{S}/schema/9223372036854775807"),
        get(f"{S}/schema/"),
        get("/schemas/{t}/n/topic-partition-3/schema"),
        post("/schemas/{t}/n/topic-partition-0/schema", schema("AVRO", second)),
        get("/schemas/{t}/n/%C3%A9%3C%2b/schema"),
        post("/schemas/{t}/n/%C3%A9%3C%2b/schema", schema("STRING")),
        get("/schemas/{t}/n/%C3%A9%3C%2b/schema"),
        get("/schemas/{t}/n/%20/schema"),
    ]


def error_forms() -> list[RawRequest]:
    """A refused and an invalid schema, for clients that want this or that."""
    accepts = (
        "application/json",
        "*/*",
        "application/json, text/html",
        "application/json, */*",
        "application/json;q=0.5, */*",
    )
    refused = [post(f"{S}/schema", schema(type_, "x")) for type_ in ("AVRO", "STRING")]
    unserved = get("/nonsense")
    return [accepting(each, accept) for each in (*refused, unserved) for accept in accepts]


def strategies() -> list[RawRequest]:
    steps: list[RawRequest] = []
    for name in ("ALWAYS_INCOMPATIBLE", "BACKWARD", "FORWARD_TRANSITIVE", "ALWAYS_COMPATIBLE"):
        topic = f"/schemas/{{t}}/n/{name}"
        steps += [
            put(f"{N}/schemaCompatibilityStrategy", f'"{name}"'),
            *(
                post(f"{topic}/{what}", schema("AVRO", text))
                for text in (record(A), record(A, B), record(A, B_DEFAULT), record(), record(A))
                for what in ("compatibility", "schema")
            ),
            get(f"{topic}/schemas"),
        ]
    poisoned = record({"name": "a", "type": "int", "default": "x"})
    return [
        *steps,
        post(f"{S}/schema", schema("JSON", poisoned)),
        post(f"{S}/schema", schema("JSON", poisoned)),
        post(f"{S}/compatibility", schema("JSON", poisoned)),
        post("/schemas/{t}/n/broken/schema", schema("JSON", '{"type": "record"}')),
        post("/schemas/{t}/n/jackson/schema", schema("JSON", '{"type": "object"}')),
        get("/schemas/{t}/n/jackson/schema"),
    ]


def types() -> list[RawRequest]:
    halves = {"key": {"type": "record", "name": "K", "fields": []}, "value": ""}
    properties = {
        "key.schema.type": "AVRO",
        "value.schema.type": "INT32",
        "kv.encoding.type": "INLINE",
    }
    names = ("STRING", "INT8", "BYTES", "NONE", "AUTO", "AUTO_CONSUME", "AUTO_PUBLISH", "INSTANT")
    steps = [
        step
        for name in names
        for step in (
            post(f"/schemas/{{t}}/n/{name}/schema", schema(name)),
            post(f"/schemas/{{t}}/n/{name}/schema", schema(name)),
            get(f"/schemas/{{t}}/n/{name}/schema"),
        )
    ]
    return [
        *steps,
        post(f"{S}/schema", schema("KEY_VALUE", json.dumps(halves), properties)),
        post(f"{S}/version", schema("KEY_VALUE", json.dumps(halves), properties)),
        get(f"{S}/schema"),
        get(f"{S}/schemas"),
        post(f"{S}/schema", schema("KEY_VALUE", "zzz", properties)),
        post(f"{S}/version", schema("KEY_VALUE", "zzz", properties)),
        post(f"{S}/schema", schema("KEY_VALUE", "{}", properties)),
        post(f"{S}/schema", schema("PROTOBUF_NATIVE", "{}")),
        post("/schemas/{t}/n/bytes/schema", schema("BYTES", "any\u0000thing €")),
        get("/schemas/{t}/n/bytes/schema"),
    ]


def bodies() -> list[RawRequest]:
    text = record(A)
    properties: list[object] = [
        None,
        {"x": 1, "y": True, "z": 1.5},
        {"x": None},
        {"x": {}},
        ["x"],
        "x",
    ]
    texts: list[object] = [{}, [], 5, True]
    bodies: list[object] = [
        schema("WHAT"),
        schema("avro", text),
        schema(None),
        {"schema": ""},
        {"type": "STRING"},
        schema("STRING", None),
        *(schema("AVRO", each) for each in texts),
        schema(5),
        *({"type": "AVRO", "schema": text, "properties": each} for each in properties),
        schema("AVRO", text, zzz=1),
        *("{bad", "[]", "null", "5", '"x"', "{}", "{} trailing", "  ", '{"type":NaN}'),
        '{"type":"AVRO","type":"STRING","schema":"x","schema":""}',
        '{"type":"STRING","schema":"a\nb"}',
        '{"type":"STRING","schema":"",}',
        b'{"type":"STRING","schema":"\xff"}',
    ]
    requests = [post(f"{S}/schema", schema("AVRO", text))]
    for what in ("schema", "compatibility", "version"):
        path = f"{S}/{what}"
        requests += [post(path), *(post(path, body) for body in bodies)]
        requests += [
            untyped(post(path, "{}")),
            untyped(post(path, "{}"), "text/plain"),
            untyped(post(path, schema("AVRO", text)), "Application/JSON; charset=utf-8"),
        ]
    other = "/schemas/{t}/n/properties"
    return [
        *requests,
        get(f"{S}/schemas"),
        post(f"{other}/schema", schema("STRING", "", {"x": None})),
        post(f"{other}/schema", '{"type":"STRING","schema":"","properties":{"x":1e5,"y":-0.10}}'),
        get(f"{other}/schema"),
        post(f"{other}/schema", schema("STRING", "", {"x": None})),
        post("/schemas/{t}/n/half/schema", r'{"type":"NONE","schema":"a\ud800b\ud83d\ude00"}'),
        get("/schemas/{t}/n/half/schema"),
        post("/schemas/{t}/n/bom/schema", b'\xef\xbb\xbf{"type":"INT8","schema":""}'),
    ]


def missing() -> list[RawRequest]:
    requests: list[RawRequest] = []
    for place in ("{t}/missing", "{t}-missing/n", "{t}/n@", "{t}@/n"):
        topic = f"/schemas/{place}/topic"
        requests += [
            get(f"{topic}/schema"),
            get(f"{topic}/schema/0"),
            get(f"{topic}/schemas"),
            get(f"{topic}/metadata"),
            *(
                post(f"{topic}/{what}", body)
                for what in ("version", "compatibility", "schema")
                for body in (schema("AVRO", record(A)), schema("AVRO", "x"), "{}", "{bad")
            ),
            delete(f"{topic}/schema"),
            delete(f"{topic}/schema?force=true"),
        ]
    return requests


def deletion() -> list[RawRequest]:
    return [
        delete(f"{S}/schema"),
        get(f"{S}/schemas"),
        get(f"{S}/metadata"),
        post(f"{S}/schema", schema("AVRO", record(A))),
        get(f"{S}/schema"),
        delete(f"{S}/schema?force=false"),
        delete(f"{S}/schema?force=x"),
        get(f"{S}/schema"),
        get(f"{S}/schema/1"),
        get(f"{S}/schemas"),
        get(f"{S}/metadata"),
        post(f"{S}/version", schema("AVRO", record(A))),
        post(f"{S}/compatibility", schema("STRING")),
        post(f"{S}/schema", schema("STRING")),
        delete(f"{S}/schema?force=true"),
        delete(f"{S}/schema?force=true"),
        get(f"{S}/metadata"),
        post(f"{S}/schema", schema("INT8")),
        get(f"{S}/schemas"),
    ]


GROUPS: Final[tuple[Callable[[], list[RawRequest]], ...]] = (
    schemas,
    error_forms,
    strategies,
    types,
    bodies,
    missing,
    deletion,
)
