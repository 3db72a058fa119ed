"""Each type of schema: a change that is accepted, one that is refused, and its versions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Final

from tests.corpus.catalogue import SITUATIONS, situation
from tests.corpus.shell import Shell
from tests.corpus.shop_files import ORDERS, SHOP, compact, namespace, optional, record, topic

_PROTO: Final = 'syntax = "proto3";\npackage shop;\nmessage Order {{ string id = 1; {} }}\n'


@dataclass(frozen=True, slots=True, kw_only=True)
class _Type:
    """A definition, an accepted and a refused successor under FULL, in a file of this name.

    `schema` is the topic's schema in its manifest, `options` are those of `compat`.
    """

    schema: str
    options: str
    file: str
    first: str
    accepted: str
    refused: str


def _avro(name: str = "Order") -> tuple[str, str, str]:
    return (
        record(name, "string id", "int quantity"),
        record(name, "string id", "int quantity", optional("note")),
        record(name, "string id", "string quantity", "string note"),
    )


def _pair(value: str) -> str:
    key = record("Key", "string id")
    return f'{{"key": {compact(key)}, "value": {compact(value)}}}'


def _of(schema: str, options: str, file: str, definitions: tuple[str, str, str]) -> _Type:
    first, accepted, refused = definitions
    return _Type(
        schema=schema, options=options, file=file, first=first, accepted=accepted, refused=refused
    )


_PAIR: Final = (
    "type: KEY_VALUE, encoding: {}, key: {{type: STRING}}, "
    "value: {{type: AVRO, definition: order.avsc}}"
)
_NATIVE: Final = (
    _PROTO.format("int32 quantity = 2;"),
    _PROTO.format("int32 quantity = 2; string note = 3;"),
    _PROTO.format("string quantity = 2; string note = 3;").replace("Order", "Purchase"),
)
_TYPES: Final = {
    "avro": _of("type: AVRO, definition: order.avsc", "", "order.avsc", _avro()),
    "json": _of("type: JSON, definition: order.avsc", "--type JSON", "order.avsc", _avro()),
    "protobuf": _of(
        "type: PROTOBUF, definition: order.avsc", "--type PROTOBUF", "order.avsc", _avro()
    ),
    "protobuf-native": _of(
        "type: PROTOBUF_NATIVE, definition: order.proto, message: shop.Order",
        "--message shop.Order",
        "order.proto",
        _NATIVE,
    ),
    "key-value-inline": _of(_PAIR.format("INLINE"), "", "order.avsc", _avro()),
    "key-value-separated": _of(_PAIR.format("SEPARATED"), "", "order.avsc", _avro()),
}


def _changes(kind: _Type, shell: Shell) -> None:
    manifest = f"{ORDERS}/order.yaml"
    path = f"{ORDERS}/{kind.file}"
    shell.start(
        {
            "gitops.yaml": SHOP["gitops.yaml"],
            f"{ORDERS}/namespace.yaml": namespace("FULL"),
            manifest: topic(kind.schema),
            path: kind.first,
        },
        "apply --auto-approve",
    )
    shell.branch()
    shell.write({path: kind.accepted})
    shell.commit()
    shell.report("check --base main", "text", "json", "markdown", name="check-accepted")
    shell.run("apply --auto-approve", with_files=False)
    shell.report("schemas versions shop/orders/order")
    shell.report("schemas get shop/orders/order")
    shell.write({path: kind.refused})
    shell.commit()
    formats = () if kind.file.endswith(".proto") else ("text", "json", "markdown")
    shell.report("check --base main", *formats, name="check-refused")
    shell.run("rollout --base main")
    shell.run(f"connect producer shop/orders/order {manifest}")
    shell.run(f"connect consumer shop/orders/order {manifest}")
    if kind.options or kind.schema.startswith("type: AVRO"):
        ending = kind.file.partition(".")[2]
        old, new, bad = (f"{name}.{ending}" for name in ("old", "new", "bad"))
        shell.write({old: kind.first, new: kind.accepted, bad: kind.refused})
        shell.report(f"compat {kind.options} {old} {new}", "text", "json", name="compat-accepted")
        shell.report(f"compat {kind.options} {old} {bad}", name="compat-refused")
    shell.run("schemas delete shop/orders/order --yes", with_files=False)


for _name, _type in _TYPES.items():
    SITUATIONS[f"type-{_name}"] = partial(_changes, _type)


@situation
def type_primitives(shell: Shell) -> None:
    """Types without a definition."""
    shell.start(SHOP)
    for name in ("STRING", "INT32", "BYTES", "BOOLEAN", "TIMESTAMP"):
        lower = name.lower()
        shell.run(f"schemas upload shop/orders/{lower} {name}", name=f"upload-{lower}")
        shell.report(f"schemas get shop/orders/{lower}", name=f"get-{lower}")
        shell.run(f"connect consumer shop/orders/{lower} {name}", name=f"consumer-{lower}")
    shell.run("schemas upload shop/orders/string INT64", name="upload-another-type")
    shell.run("connect producer shop/orders/string INT64", name="producer-another-type")
    shell.run("schemas versions shop/orders/string")
    shell.run("schemas upload shop/orders/none NONE", name="upload-none")
    shell.run("schemas upload shop/orders/odd ODD", name="upload-unknown-type")


@situation
def type_is_changed(shell: Shell) -> None:
    """A topic gets another type: AVRO becomes JSON, STRING becomes AVRO, BYTES becomes STRING."""
    files = {
        **SHOP,
        f"{ORDERS}/text.yaml": topic("type: STRING"),
        f"{ORDERS}/raw.yaml": topic("type: BYTES"),
    }
    shell.start(files, "apply --auto-approve", "snapshot")
    shell.branch()
    shell.write(
        {
            f"{ORDERS}/created.yaml": topic("type: JSON, definition: created.avsc"),
            f"{ORDERS}/text.yaml": topic("type: AVRO, definition: cancelled.avsc"),
            f"{ORDERS}/raw.yaml": topic("type: STRING"),
        }
    )
    shell.commit()
    shell.report("check --base main")
    shell.report("plan", "text", "json")
    shell.run("rollout --base main")


@situation
def compat_of_definitions(shell: Shell) -> None:
    """I ask about files alone: strategies, several versions, a stream, wrong input."""
    first, second, third = _avro()
    shell.start({"v0.avsc": first, "v1.avsc": second, "v2.avsc": third})
    for strategy in ("BACKWARD", "FORWARD", "FULL", "ALWAYS_COMPATIBLE", "ALWAYS_INCOMPATIBLE"):
        shell.run(f"compat -s {strategy} v0.avsc v2.avsc")
    shell.report("compat -s BACKWARD_TRANSITIVE v0.avsc v1.avsc v2.avsc")
    shell.run("compat --first v0.avsc")
    shell.run("compat v0.avsc v0.avsc", name="compat-same")
    shell.run("compat v0.avsc")
    shell.run("compat v0.avsc missing.avsc")
    shell.write({"broken.avsc": '{"type": "record", "name": "A"}', "text.avsc": "record"})
    shell.run("compat v0.avsc broken.avsc")
    shell.run("compat v0.avsc text.avsc")
    shell.run("compat --type STRING v0.avsc v1.avsc")
    case = '{"strategy": "BACKWARD", "type": "AVRO", "existing": [%s], "candidate": %s}\n'
    quoted = [f'"{compact(text)}"' for text in (first, second)]
    shell.run("compat --jsonl", stdin=case % tuple(quoted) + "{]\n")
    shell.run("compat -s WRONG v0.avsc v1.avsc", name="compat-unknown-strategy")
