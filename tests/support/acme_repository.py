"""A company's schemas repository, and edits of its files."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

API: Final = "apiVersion: pulsar-gitops/v1\n"
CONFIG: Final = (
    API + "kind: Config\nregistries:\n  production: {kind: embedded, path: .gitops/production.db}\n"
    "safety: {maxChangedShare: 1.0}\n"
)
ADDRESS: Final = "types/address.avsc"
OPTIONAL: Final = ["null", "string"]
_STRATEGIES: Final = {
    "customers": "FULL",
    "orders": "BACKWARD",
    "payments": "FULL",
    "shipping": "BACKWARD",
}

_TOPICS: Final[Mapping[str, tuple[Any, ...]]] = {
    "customers/account-registered": ("Address home",),
    "customers/address-changed": ("Address old", "Address new"),
    "customers/profile-updated": ("Address home", "string email"),
    "orders/order-created": ("Address delivery", "string currency", "int quantity"),
    "orders/order-changed": ("Address delivery", "int quantity"),
    "orders/order-cancelled": ("string reason",),
    "orders/quote-requested": ("Address delivery",),
    "payments/captured": ("Money amount", "date bookedOn"),
    "payments/refunded": ("Money amount",),
    "payments/invoice-sent": ("Address billing", "Money amount"),
    "shipping/parcel-packed": ("Address delivery", "int grams"),
    "shipping/parcel-sent": ("Address delivery", "string carrier"),
    "shipping/parcel-returned": ("Address delivery", "string reason"),
    "shipping/route-planned": ("Address start", "Address end"),
    "shipping/depot-opened": ("Address place",),
    "shipping/carrier-rated": ("string carrier", "int stars"),
}
_CLIENTS: Final = {
    "checkout": ("orders/order-created orders/order-cancelled", "payments/captured"),
    "crm": ("", "customers/account-registered customers/address-changed customers/profile-updated"),
    "account-site": ("customers/account-registered customers/address-changed", ""),
    "billing": ("payments/captured payments/invoice-sent", "orders/order-created"),
    "fraud": ("", "payments/captured orders/order-created customers/address-changed"),
    "shipping-planner": (
        "shipping/route-planned",
        "orders/order-created orders/order-changed shipping/parcel-packed",
    ),
    "warehouse": ("shipping/parcel-packed shipping/parcel-sent", "orders/order-created"),
    "data-lake": ("", " ".join(_TOPICS)),
}
_TYPES: Final = {
    "Address": "acme.types.Address",
    "Money": "acme.types.Money",
    "date": {"type": "int", "logicalType": "date"},
}


def folder_of(topic: str) -> str:
    """The path of a topic's files without their extension."""
    return f"namespaces/acme/{topic}"


def base_files() -> dict[str, str]:
    """The repository before any change: 16 topics, two shared types, eight clients."""
    files = {
        "gitops.yaml": CONFIG,
        ".gitignore": ".gitops/\n",
        ADDRESS: _definition(
            "Address", "acme.types", ["string street", "string postcode", "string city"]
        ),
        "types/money.avsc": _definition("Money", "acme.types", ["long amount", "string currency"]),
    }
    for namespace, strategy in _STRATEGIES.items():
        files[folder_of(f"{namespace}/namespace.yaml")] = (
            f"{API}kind: Namespace\nnamespace: acme/{namespace}\n"
            f"schemaCompatibilityStrategy: {strategy}\n"
            "isAllowAutoUpdateSchema: false\nschemaValidationEnforced: true\n"
        )
    for topic, fields in _TOPICS.items():
        files |= _topic(topic, ["string id", *fields])
    for name, (produced, consumed) in _CLIENTS.items():
        files[f"clients/{name}.yaml"] = _client(name, produced.split(), consumed.split())
    return files


def _topic(topic: str, fields: list[str], samples: str = "") -> dict[str, str]:
    namespace, name = topic.split("/")
    record = "".join(word.capitalize() for word in name.split("-"))
    return {
        f"{folder_of(topic)}.yaml": (
            f"{API}kind: Topic\nschema: {{type: AVRO, definition: {name}.avsc}}\n{samples}"
        ),
        f"{folder_of(topic)}.avsc": _definition(record, f"acme.{namespace}", fields),
    }


def _definition(name: str, namespace: str, fields: list[str]) -> str:
    each = []
    for one in fields:
        kind, called = one.split()
        each.append({"name": called, "type": _TYPES.get(kind, kind)})
    return show({"type": "record", "name": name, "namespace": namespace, "fields": each})


def _client(name: str, produced: list[str], consumed: list[str]) -> str:
    parts = [f'{API}kind: Client\nname: {name}\nowner: "@acme/{name}"\n']
    for key, topics in (("produces", produced), ("consumes", consumed)):
        subscription = f", subscription: {name}" if key == "consumes" else ""
        lines = [
            f"  - {{topic: acme/{topic}{subscription}, schema: {{version: 0}}}}\n"
            for topic in topics
        ]
        parts += [f"{key}:\n", *lines] if lines else []
    return "".join(parts)


def show(definition: dict[str, Any]) -> str:
    """A definition with one field a line, as people write it."""
    fields = ",\n".join(f"    {json.dumps(one)}" for one in definition["fields"])
    head = "".join(
        f"  {json.dumps(key)}: {json.dumps(value)},\n"
        for key, value in definition.items()
        if key != "fields"
    )
    return f'{{\n{head}  "fields": [\n{fields}\n  ]\n}}\n'


Files = dict[str, str]
Edit = Callable[[Files], None]
AvroType = str | list[str] | dict[str, Any]


def change(file: str, edit: Callable[[dict[str, Any]], object]) -> Edit:
    """An edit of one Avro definition."""

    def make(files: Files) -> None:
        definition = json.loads(files[file])
        edit(definition)
        files[file] = show(definition)

    return make


def add(file: str, name: str, kind: AvroType, **more: object) -> Edit:
    """One more field, last."""
    return change(file, lambda d: d["fields"].append({"name": name, "type": kind, **more}))


def retype(topic: str, name: str, kind: AvroType) -> Edit:
    """Another type for a field."""

    def edit(definition: dict[str, Any]) -> None:
        next(one for one in definition["fields"] if one["name"] == name)["type"] = kind

    return change(f"{folder_of(topic)}.avsc", edit)


def rename(topic: str, old: str, new: str) -> Edit:
    """Another name for a field."""

    def edit(definition: dict[str, Any]) -> None:
        one = next(one for one in definition["fields"] if one["name"] == old)
        one["name"] = new

    return change(f"{folder_of(topic)}.avsc", edit)


def replace(file: str, old: str, new: str) -> Edit:
    """Another text at one place of a file."""

    def make(files: Files) -> None:
        assert files[file].count(old) == 1, (file, old)
        files[file] = files[file].replace(old, new)

    return make


def create(topic: str, *fields: str) -> Edit:
    """A new topic."""
    return lambda files: files.update(_topic(topic, ["string id", *fields]))
