"""The messages that the replay's benchmarks read: orders of twelve fields, as Parquet files.

A payload takes about 165 bytes in Avro and 365 in JSON. One in a thousand has the currency OLD,
which the reader no longer knows: those fail, all others are read. The reader also has int as long,
float as double, an alias, two fields with defaults (one nested), and leaves one field out.

    python -m benchmarks.replay_data FOLDER [--rows 1000000] [--encoding avro|json] [--topics 10]
"""

from __future__ import annotations

import argparse
import copy
import io
import json
import random
import sys
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parents[1]))

import fastavro
import pyarrow
import pyarrow.parquet

FILE_ROWS: Final = 125_000
ROW_GROUP: Final = 62_500
SEEDS: Final = 8
"""Files of other messages; further ones repeat them, since making them takes longest."""

TOPIC: Final = "persistent://perf/shop/orders"

_ADDRESS: Final[dict[str, Any]] = {
    "type": "record",
    "name": "Address",
    "fields": [
        {"name": "street", "type": "string"},
        {"name": "zip", "type": "string"},
        {"name": "geo", "type": ["null", "double"], "default": None},
    ],
}
_AMOUNT: Final = {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 2}
_SYMBOLS: Final = ["EUR", "USD", "GBP", "OLD"]

WRITER: Final[dict[str, Any]] = {
    "type": "record",
    "name": "Order",
    "namespace": "acme.shop",
    "fields": [
        {"name": "id", "type": "string"},
        {"name": "ts", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "amount", "type": _AMOUNT},
        {"name": "currency", "type": {"type": "enum", "name": "Currency", "symbols": _SYMBOLS}},
        {"name": "quantity", "type": "int"},
        {"name": "customer_email", "type": ["null", "string"], "default": None},
        {"name": "note", "type": ["null", "string"], "default": None},
        {"name": "tags", "type": {"type": "array", "items": "string"}},
        {"name": "address", "type": _ADDRESS},
        {"name": "score", "type": "float"},
        {"name": "active", "type": "boolean"},
        {"name": "legacy_code", "type": "string"},
    ],
}


def reader(*, takes_old: bool = False) -> dict[str, Any]:
    """The reader's definition; `takes_old` gives its enum a default, so that nothing fails."""
    found: dict[str, Any] = copy.deepcopy(WRITER)
    by_name = {field["name"]: field for field in found["fields"]}
    currency = by_name["currency"]["type"]
    currency["symbols"].remove("OLD")
    if takes_old:
        currency["default"] = "EUR"
    by_name["quantity"]["type"] = "long"
    by_name["score"]["type"] = "double"
    by_name["customer_email"] |= {"name": "email", "aliases": ["customer_email"]}
    country = {"name": "country", "type": "string", "default": "DE"}
    by_name["address"]["type"]["fields"].append(country)
    found["fields"].remove(by_name["legacy_code"])
    found["fields"].append({"name": "source", "type": "string", "default": "web"})
    return found


def orders(seed: int, rows: int) -> Iterator[dict[str, Any]]:
    """Orders as fastavro writes them; the same for the same seed."""
    chance = random.Random(seed)  # noqa: S311 - nothing is kept secret
    below = chance.randrange
    for _ in range(rows):
        maybe = chance.random
        yield {
            "id": f"{chance.getrandbits(128):032x}",
            "ts": 1_700_000_000_000 + below(10**10),
            "amount": Decimal(below(1, 10**7)).scaleb(-2),
            "currency": "OLD" if maybe() < 0.001 else chance.choice(_SYMBOLS[:3]),
            "quantity": below(1, 500),
            "customer_email": f"user{below(10**6)}@example-company.com" if maybe() < 0.7 else None,
            "note": f"please deliver to the back door, thank you {below(10**4)}"
            if maybe() < 0.5
            else None,
            "tags": [f"tag-{below(1000)}" for _ in range(below(5))],
            "address": {
                "street": f"Some Long Street Name {below(1000)}",
                "zip": f"{below(99999):05}",
                "geo": maybe() * 90 if maybe() < 0.5 else None,
            },
            "score": maybe(),
            "active": maybe() < 0.5,
            "legacy_code": f"LC-{below(10**8):08}",
        }


def avro_payloads(seed: int, rows: int) -> list[bytes]:
    """The orders' payloads as WRITER writes them."""
    schema = fastavro.parse_schema(copy.deepcopy(WRITER))
    found = []
    for order in orders(seed, rows):
        stream = io.BytesIO()
        fastavro.schemaless_writer(stream, schema, order)
        found.append(stream.getvalue())
    return found


def json_payloads(seed: int, rows: int) -> list[bytes]:
    """The same orders in JSON; an amount is a number there."""
    return [
        json.dumps(order | {"amount": float(order["amount"])}, separators=(",", ":")).encode()
        for order in orders(seed, rows)
    ]


def write(folder: Path, *, rows: int, encoding: str = "avro", topics: int = 10) -> list[Path]:
    """Parquet files `part-N.parquet` with `topic`, `version` and `payload`; their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    made: dict[int, pyarrow.Table] = {}
    paths = []
    for number, start in enumerate(range(0, rows, FILE_ROWS)):
        count = min(FILE_ROWS, rows - start)
        seed = number % SEEDS
        if seed not in made or made[seed].num_rows < count:
            made[seed] = _table(seed, count, encoding, topics)
        path = folder / f"part-{number}.parquet"
        pyarrow.parquet.write_table(
            made[seed].slice(0, count),
            path,
            row_group_size=ROW_GROUP,
            compression="snappy",
            use_dictionary=["topic"],
        )
        paths.append(path)
    return paths


def _table(seed: int, rows: int, encoding: str, topics: int) -> pyarrow.Table:
    payloads = (avro_payloads if encoding == "avro" else json_payloads)(seed, rows)
    chance = random.Random(f"topics {seed}")  # noqa: S311 - nothing is kept secret
    return pyarrow.table(
        {
            "topic": pyarrow.array([f"{TOPIC}-{chance.randrange(topics)}" for _ in range(rows)]),
            "version": pyarrow.array([1] * rows, pyarrow.int64()),
            "payload": pyarrow.array(payloads, pyarrow.binary()),
        }
    )


def main() -> None:
    """Write the files and say what they hold."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--encoding", choices=("avro", "json"), default="avro")
    parser.add_argument("--topics", type=int, default=10)
    options = parser.parse_args()
    paths = write(
        options.folder, rows=options.rows, encoding=options.encoding, topics=options.topics
    )
    print(f"{options.rows} rows in {len(paths)} files in {options.folder}")


if __name__ == "__main__":
    main()
