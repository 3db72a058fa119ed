"""A cluster that others filled, with schemas of every kind: imported, it plans empty."""

from __future__ import annotations

import contextlib
import json
import urllib.error
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from gitops.cli.app import run
from gitops.model.names import NamespaceName
from tests.scenarios.repositories import empty_for
from tests.support.admin_rest import admin_request
from tests.support.pulsar_broker import RunningBroker

WANTED = 200
MOST_OF_A_TYPE = 30
CASES = Path(__file__).parents[1] / "conformance"

pytestmark = pytest.mark.broker


def test_an_import_of_200_mixed_schemas_plans_empty(
    pulsar: RunningBroker,
    pulsar_namespace: NamespaceName,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    filled = _fill_by_rest(pulsar.admin_url, pulsar_namespace)
    assert filled.total() == WANTED
    assert len(filled) >= 20, filled
    by_client = _fill_by_client(pulsar.service_url, pulsar_namespace)

    repo = empty_for(tmp_path / "repo", f"{{kind: pulsar, url: '{pulsar.admin_url}'}}")
    assert run(["import", "--repo", str(repo), str(pulsar_namespace)]) == 0
    capsys.readouterr()
    assert run(["plan", "--repo", str(repo), "--format", "json"]) == 0
    plan = json.loads(capsys.readouterr().out)

    assert plan["actions"] == []
    assert plan["notices"] == []
    assert plan["summary"]["topics"] == WANTED + by_client
    # What is odd about them is said, and stands in the way of nothing.
    assert {finding["severity"] for finding in plan["findings"]} <= {"warning", "info"}
    assert any(finding["rule"] == "AVRO-P002" for finding in plan["findings"])


def _fill_by_rest(url: str, namespace: NamespaceName) -> Counter[str]:
    """Topics of several kinds, each with a schema as somebody else's tool posts it."""
    filled: Counter[str] = Counter()
    for schema in _schemas():
        number = filled.total()
        if number == WANTED:
            break
        if filled[schema["type"]] == MOST_OF_A_TYPE:
            continue
        topic = f"t{number:03}" if number % 20 else f"odd name, {number} (ä+ö) 100%"
        _create_topic(url, namespace, topic, number)
        # Pulsar decodes the topic's name of these paths twice.
        name = quote(quote(topic, safe=""), safe="")
        path = f"{url}/admin/v2/schemas/{namespace}/{name}/schema"
        with contextlib.suppress(urllib.error.HTTPError):
            admin_request("POST", path, schema)
            filled[schema["type"]] += 1
    return filled


def _create_topic(url: str, namespace: NamespaceName, topic: str, number: int) -> None:
    domain = "non-persistent" if number % 7 == 3 else "persistent"
    name = quote(topic, safe="")
    # A topic whose schema was refused is there already, and takes the next one.
    with contextlib.suppress(urllib.error.HTTPError):
        if domain == "non-persistent" or number % 5 == 4:
            admin_request("PUT", f"{url}/admin/v2/{domain}/{namespace}/{name}/partitions", 2)
        else:
            admin_request("PUT", f"{url}/admin/v2/{domain}/{namespace}/{name}")


def _schemas() -> list[dict[str, Any]]:
    """What the conformance cases post, rare types first, valid or not."""
    found: dict[str, list[dict[str, Any]]] = {}
    for name in ("parsing.jsonl", "generated.jsonl"):
        for line in (CASES / name).read_text(encoding="utf-8").splitlines():
            case = json.loads(line)
            if case["broker"]["accepted"] and case.get("mode", "producer") == "producer":
                schema = case["candidate"]
                found.setdefault(schema["type"], []).append(
                    {
                        "type": schema["type"],
                        "schema": schema["schema"],
                        "properties": schema.get("properties") or {},
                    }
                )
    # A real-world accident of Pulsar's own documentation: a default that is none.
    bad_default = {"name": "a", "type": "string", "default": None}
    poison = json.dumps({"type": "record", "name": "R", "fields": [bad_default]})
    first = {"type": "AVRO", "schema": poison, "properties": {"owner": "nobody"}}
    return [first, *(s for kind in sorted(found, key=lambda k: len(found[k])) for s in found[kind])]


def _fill_by_client(service_url: str, namespace: NamespaceName) -> int:
    """Topics as a producer of the Python client leaves them."""
    if not service_url:
        return 0
    pulsar_client = pytest.importorskip("pulsar", reason="the extra 'pulsar' is not installed")
    schema = pulsar_client.schema

    class Order(schema.Record):  # type: ignore[misc,name-defined]  # the client has no types
        id = schema.String(required=True)
        total = schema.Double()
        tags = schema.Array(schema.String())

    kinds = {
        "avro": schema.AvroSchema(Order),
        "json": schema.JsonSchema(Order),
        "string": schema.StringSchema(),
    }
    client = pulsar_client.Client(service_url)
    try:
        for name, kind in kinds.items():
            client.create_producer(f"persistent://{namespace}/client-{name}", schema=kind).close()
    finally:
        client.close()
    return len(kinds)
