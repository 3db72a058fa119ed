"""Requests about tenants, namespaces and topics, in groups that need nothing of each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tests.broker.rest_requests import (
    CLUSTERS,
    A,
    N,
    RawRequest,
    S,
    delete,
    get,
    post,
    put,
    record,
    schema,
    untyped,
)


def tenants() -> list[RawRequest]:
    new = "/tenants/{t}-new"
    return [
        get("/clusters"),
        get("/clusters/nobody"),
        put("/clusters/standalone", {"serviceUrl": "http://localhost:8080"}),
        get(new),
        put(new, CLUSTERS),
        put(new, CLUSTERS),
        get(new),
        post(new, {"adminRoles": ["x"], "allowedClusters": ["standalone"]}),
        get(new),
        post("/tenants/{t}-missing", CLUSTERS),
        put("/tenants/{t}-2", {"adminRoles": [], "allowedClusters": ["nobody"]}),
        put("/tenants/{t}-2", {"adminRoles": ["a"], "allowedClusters": []}),
        put("/tenants/{t}-2", {"adminRoles": "x", "allowedClusters": ["standalone"]}),
        put("/tenants/{t}-2", {}),
        put("/tenants/{t}-2", "null"),
        put("/tenants/{t}-2", "[]"),
        put("/tenants/{t}-2", "{bad"),
        put("/tenants/{t}-2"),
        untyped(put("/tenants/{t}-2", "x")),
        put("/tenants/b@d", CLUSTERS),
        get("/namespaces/{t}-new"),
        delete(new),
        delete(new),
        delete("/tenants/{t}"),
    ]


def namespaces() -> list[RawRequest]:
    policies = {
        "schema_compatibility_strategy": "BACKWARD",
        "is_allow_auto_update_schema": False,
        "schema_validation_enforced": True,
        "replication_clusters": ["standalone"],
    }
    legacy = {
        "schema_auto_update_compatibility_strategy": "Full",
        "schema_compatibility_strategy": None,
    }
    return [
        get("/namespaces/{t}-missing"),
        put("/namespaces/{t}-missing/n", {}),
        get("/namespaces/{t}"),
        get("/namespaces/{t}/x"),
        put("/namespaces/{t}/x", {}),
        put("/namespaces/{t}/x", {}),
        get("/namespaces/{t}/x"),
        get("/namespaces/{t}/x/"),
        put("/namespaces/{t}/y"),
        put("/namespaces/{t}/z", "null"),
        put("/namespaces/{t}/policies", policies),
        get("/namespaces/{t}/policies"),
        put("/namespaces/{t}/legacy", legacy),
        get("/namespaces/{t}/legacy"),
        put("/namespaces/{t}/unknown", {"schema_compatibility_strategy": "zzz", "foo": 1}),
        get("/namespaces/{t}/unknown"),
        put("/namespaces/{t}/bad", {"is_allow_auto_update_schema": "x"}),
        put("/namespaces/{t}/bad", {"replication_clusters": ["nobody"]}),
        put("/namespaces/{t}/bad", "[]"),
        put("/namespaces/{t}/bad", "{bad"),
        put("/namespaces/{t}/b@d", {}),
        get("/namespaces/{t}/b@d"),
        get("/namespaces/{t}"),
        delete("/namespaces/{t}/x"),
        delete("/namespaces/{t}/x"),
        delete("/namespaces/{t}/y?force=true"),
        get("/namespaces/{t}"),
    ]


def namespace_policies() -> list[RawRequest]:
    requests: list[RawRequest] = []
    settings = {
        "schemaCompatibilityStrategy": (
            put,
            ['"BACKWARD"', '"nope"', "1", '"3"', "99", '"FULL"', "null", "{}", "true", "1.5", "x"],
        ),
        "schemaAutoUpdateCompatibilityStrategy": (
            put,
            ['"Backward"', '"BACKWARD"', "2", "null", '"AutoUpdateDisabled"', "[]"],
        ),
        "isAllowAutoUpdateSchema": (
            post,
            ["false", "null", '"true"', "0", "2", '" True "', '""', '"x"', "1.5", "{}"],
        ),
        "schemaValidationEnforced": (post, ["true", "null", '"TRUE"', "[]"]),
    }
    for key, (send, values) in settings.items():
        path = f"{N}/{key}"
        requests += [get(path), get(f"/namespaces/{{t}}/missing/{key}")]
        for value in values:
            requests += [send(path, value), get(path)]
        requests += [
            send(f"/namespaces/{{t}}/missing/{key}", values[0]),
            send(path),
            get(path),
            untyped(send(path, "x")),
        ]
    return [*requests, get(N), get(f"{N}/schemaValidationEnforced?applied=true")]


def topics() -> list[RawRequest]:
    p, n = "/persistent/{t}/n", "/non-persistent/{t}/n"
    lists = [get(f"{domain}{end}") for domain in (p, n) for end in ("", "/partitioned")]
    return [
        *lists,
        post(f"{S}/schema", schema("STRING")),
        *lists,
        get("/persistent/{t}/missing"),
        get("/non-persistent/{t}-missing/n/partitioned"),
        get(f"{N}/topics"),
        get("/namespaces/{t}/missing/topics"),
        put(f"{p}/one"),
        put(f"{p}/one"),
        put(f"{p}/one/partitions", "2"),
        put(f"{p}/two/partitions", "2"),
        put(f"{p}/two/partitions", "2"),
        put(f"{p}/two"),
        put(f"{p}/two-partition-1"),
        put(f"{p}/none-partition-0"),
        put(f"{p}/bad/partitions", '"a"'),
        put(f"{p}/bad/partitions", "0"),
        put("/persistent/{t}/missing/one"),
        put(f"{n}/one"),
        put(f"{n}/two/partitions", "2"),
        *lists,
        *(get(f"{N}/topics{mode}") for mode in ("", "?mode=NON_PERSISTENT", "?mode=ALL")),
        *(get(f"{p}/{topic}/partitions") for topic in ("one", "two", "missing")),
        get("/persistent/{t}/missing/one/partitions"),
        delete(N),
        post("/schemas/{t}/n/one/schema", schema("STRING")),
        delete(f"{p}/two"),
        delete(f"{p}/one/partitions"),
        delete(f"{p}/missing"),
        delete("/persistent/{t}/missing/one"),
        delete(f"{p}/missing/partitions"),
        delete(f"{p}/one"),
        delete(f"{p}/two/partitions"),
        get("/schemas/{t}/n/one/schemas"),
        delete(f"{n}/one"),
        delete(f"{n}/two/partitions"),
        *lists,
        delete(N),
        get(f"{S}/schemas"),
    ]


def topic_policies() -> list[RawRequest]:
    p, n = "/persistent/{t}/n", "/non-persistent/{t}/n"
    requests = [
        put(f"{p}/one"),
        put(f"{p}/two/partitions", "2"),
        put(f"{n}/one"),
        put(f"{n}/two/partitions", "2"),
    ]
    subjects = [f"{p}/one", f"{p}/two", f"{n}/one", f"{n}/two", f"{p}/missing"]
    subjects += [f"{p}/two-partition-0", "/persistent/{t}/missing/one"]
    for subject in subjects:
        strategy = f"{subject}/schemaCompatibilityStrategy"
        enforced = f"{subject}/schemaValidationEnforced"
        requests += [get(strategy), get(f"{strategy}?applied=true")]
        for value in ('"BACKWARD"', '"UNDEFINED"', '"FULL"', '"x"', '"FULL"', "null"):
            requests += [put(strategy, value), get(strategy)]
        requests += [get(f"{strategy}?applied=true"), delete(strategy), get(strategy)]
        requests += [get(enforced), get(f"{enforced}?applied=true")]
        for value in ("true", "false", "true", "null"):
            requests += [post(enforced, value), get(enforced)]
    incompatible = [schema("AVRO", record(A)), schema("AVRO", record({"name": "x", "type": "int"}))]
    return [
        *requests,
        put(f"{p}/one/schemaCompatibilityStrategy", '"ALWAYS_COMPATIBLE"'),
        *(post("/schemas/{t}/n/one/schema", each) for each in incompatible),
        put(f"{n}/two/schemaCompatibilityStrategy", '"ALWAYS_COMPATIBLE"'),
        *(post("/schemas/{t}/n/two/schema", each) for each in incompatible),
        delete(f"{p}/one"),
        put(f"{p}/one"),
        get(f"{p}/one/schemaCompatibilityStrategy"),
    ]


def unserved() -> list[RawRequest]:
    return [
        get("/nonsense"),
        *(get(f"/tenants/{name}") for name in ("%zz", "100%", "%00", "%ff", "%2e%2e")),
        put("/persistent/{t}/n/%zz"),
        put(f"{S}/schema", schema("STRING")),
        delete(f"{S}/schemas"),
        RawRequest(method="PATCH", path=N),
        post(f"{N}/schemaCompatibilityStrategy", '"FULL"'),
        put(f"{N}/isAllowAutoUpdateSchema", "true"),
        delete("/persistent/{t}/n/one/schemaValidationEnforced"),
    ]


GROUPS: Final[tuple[Callable[[], list[RawRequest]], ...]] = (
    tenants,
    namespaces,
    namespace_policies,
    topics,
    topic_policies,
    unserved,
)
