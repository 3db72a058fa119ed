"""The small repository that most situations begin with, and short ways to write its files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from tests.support.acme_repository import show

HEAD: Final = "apiVersion: pulsar-gitops/v1\nkind: "
ORDERS: Final = "namespaces/shop/orders"
CREATED: Final = f"{ORDERS}/created.avsc"


def config(*registries: str, more: str = "") -> str:
    """`gitops.yaml` with these registries, an embedded one named `local` without any."""
    entries = registries or ("local: {kind: embedded, path: .gitops/local.db}",)
    default = f"defaultRegistry: {entries[0].partition(':')[0]}\n"
    return f"{HEAD}Config\n{default}registries:\n  " + "\n  ".join(entries) + f"\n{more}"


def namespace(strategy: str, more: str = "", name: str = "shop/orders") -> str:
    """A namespace's manifest."""
    strategy = f"schemaCompatibilityStrategy: {strategy}\n" if strategy else ""
    return f"{HEAD}Namespace\nnamespace: {name}\n{strategy}{more}"


def topic(schema: str, more: str = "") -> str:
    """A topic's manifest."""
    return f"{HEAD}Topic\nschema: {{{schema}}}\n{more}"


def record(name: str, *fields: str | dict[str, Any], **members: str) -> str:
    """An Avro record, a field a line: `string id`, or a field's members."""
    listed = [
        {"name": field.split()[1], "type": field.split()[0]} if isinstance(field, str) else field
        for field in fields
    ]
    return show({"type": "record", "name": name, **members, "fields": listed})


def optional(name: str, kind: str = "string") -> dict[str, Any]:
    """A nullable field with a default."""
    return {"name": name, "type": ["null", kind], "default": None}


def enum(name: str, *symbols: str) -> dict[str, Any]:
    """An enum."""
    return {"type": "enum", "name": name, "symbols": list(symbols)}


def client(name: str, more: str = "", **uses: Mapping[str, str]) -> str:
    """A client's manifest; `consumes` and `produces` are topics with their schemas."""
    lines = [f'{HEAD}Client\nname: {name}\nowner: "@shop/{name}"\n{more}']
    for side, topics in uses.items():
        subscription = f", subscription: {name}" if side == "consumes" else ""
        lines.append(f"{side}:\n")
        lines += [
            f"  - {{topic: shop/orders/{topic}{subscription}, schema: {schema}}}\n"
            for topic, schema in topics.items()
        ]
    return "".join(lines)


def compact(definition: str) -> str:
    """A definition on one line."""
    return json.dumps(json.loads(definition))


SHOP: Final = {
    "gitops.yaml": config(),
    f"{ORDERS}/namespace.yaml": namespace("BACKWARD"),
    f"{ORDERS}/created.yaml": topic("type: AVRO, definition: created.avsc"),
    CREATED: record("Created", "string id", "int quantity", namespace="shop"),
    f"{ORDERS}/cancelled.yaml": topic("type: AVRO, definition: cancelled.avsc"),
    f"{ORDERS}/cancelled.avsc": record("Cancelled", "string id", "string reason", namespace="shop"),
    "clients/billing.yaml": client("billing", consumes={"created": "{version: 0}"}),
    "clients/checkout.yaml": client(
        "checkout", produces={"created": "{version: 0}", "cancelled": "{version: 0}"}
    ),
}
"""Two topics under BACKWARD, a producer and a consumer, an embedded registry."""
