"""The template's samples: messages of its topics as their producers would have written them.

`python -m tests.support.template_samples` writes them anew, always the same. The version of each
message is 0, which is what the definitions of the template become when they are applied.
"""

from __future__ import annotations

import io
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import fastavro
import pyarrow
import pyarrow.parquet

from gitops.model.names import TopicName
from gitops.repository.file_trees import FolderTree
from gitops.repository.loader import load
from gitops.repository.template import template_root

_ROWS: Final = 200
_START: Final = 1_767_225_600_000
"""2026-01-01, in milliseconds since 1970."""
_MARKER: Final = b"pulsar-gitops: 0"
_REASONS: Final = ("CUSTOMER", "OUT_OF_STOCK", "PAYMENT_FAILED", "OTHER")
_METHODS: Final = (None, "card", "invoice", "voucher")
_NOTES: Final = (None, None, "Please ring twice", "Leave it with the neighbours", "für Zoë ☂")

Message = dict[str, Any]


def _money(chance: random.Random) -> Message:
    currency = chance.choices(("EUR", "USD", "GBP"), (6, 3, 1))[0]
    return {"amount": chance.randrange(100, 50_000), "currency": currency}


def _created(chance: random.Random, number: int) -> Message:
    lines = [
        {
            "sku": f"sku-{chance.randrange(1_000):03}",
            "quantity": chance.randrange(1, 9),
            "price": _money(chance),
        }
        for _ in range(chance.randrange(1, 5))
    ]
    return {
        "orderId": f"o-{number:05}",
        "customerId": f"c-{chance.randrange(60):03}",
        "createdAt": _START + number * 61_000,
        "total": _money(chance),
        "lines": lines,
        "note": chance.choice(_NOTES),
    }


def _cancelled(chance: random.Random, number: int) -> Message:
    return {
        "orderId": f"o-{number * 7:05}",
        "cancelledAt": _START + number * 427_000,
        "reason": chance.choices(_REASONS, (70, 6, 20, 4))[0],
    }


def _captured(chance: random.Random, number: int) -> Message:
    return {
        "paymentId": f"p-{number:05}",
        "orderId": f"o-{number:05}",
        "amount": _money(chance),
        "capturedAt": _START + number * 61_000 + chance.randrange(60_000),
        "method": chance.choice(_METHODS),
    }


def _by_customer(chance: random.Random, number: int) -> Message:
    return {"orderId": f"o-{number:05}", "total": _money(chance)}


def messages(topic: str) -> Iterator[Message]:
    """The messages of one of the template's topics, by its local name."""
    makers = {
        "order-created": _created,
        "order-cancelled": _cancelled,
        "captured": _captured,
        "order-by-customer": _by_customer,
    }
    chance = random.Random(topic)  # noqa: S311 - always the same
    for number in range(_ROWS):
        yield makers[topic](chance, number)


def _definition(topic: str) -> Any:  # noqa: ANN401 - what a schema is made of
    loaded = load(FolderTree(template_root()))
    latest = loaded.desired.topics[TopicName.parse(topic)].history.latest
    assert latest is not None
    return json.loads(latest.info.schema)


def _payload(schema: Any, message: Message) -> bytes:  # noqa: ANN401
    out = io.BytesIO()
    fastavro.schemaless_writer(out, schema, message)
    return out.getvalue()


def write_samples(folder: Path) -> None:
    """Write all of them below `folder`, which is `samples` of the template."""
    orders, payments = folder / "shop" / "orders", folder / "shop" / "payments"
    for each in (orders, payments):
        each.mkdir(parents=True, exist_ok=True)
    created = fastavro.parse_schema(_definition("shop/orders/order-created"))
    with (orders / "order-created.avro").open("wb") as file:
        fastavro.writer(file, created, messages("order-created"), "deflate", sync_marker=_MARKER)
    lines = [json.dumps(one, separators=(",", ":")) + "\n" for one in messages("order-cancelled")]
    (orders / "order-cancelled.jsonl").write_text("".join(lines), "utf-8", newline="\n")
    captured = fastavro.parse_schema(_definition("shop/payments/captured"))
    _write_parquet(
        payments / "captured.parquet",
        {"payload": [_payload(captured, one) for one in messages("captured")]},
    )
    pair = _definition("shop/orders/order-by-customer")
    value = fastavro.parse_schema(pair["value"])
    totals = list(messages("order-by-customer"))
    _write_parquet(
        orders / "order-by-customer.parquet",
        {
            "key": [f"c-{number % 60:03}".encode() for number in range(len(totals))],
            "payload": [_payload(value, one) for one in totals],
        },
    )


def _write_parquet(path: Path, columns: dict[str, list[bytes]]) -> None:
    rows = len(columns["payload"])
    table = pyarrow.table(
        {"schema_version": pyarrow.array([0] * rows, pyarrow.int32())}
        | {name: pyarrow.array(values, pyarrow.binary()) for name, values in columns.items()}
    )
    pyarrow.parquet.write_table(table, path, compression="zstd")


if __name__ == "__main__":
    write_samples(template_root() / "samples")
