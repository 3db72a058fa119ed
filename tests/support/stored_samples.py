"""Samples in every common format, on disk or in an object store, and what comes of them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pyarrow
import pyarrow.parquet

from gitops.repository.template import copy_template
from tests.support.spark import require_packages

BUCKET: Final = "lake"
_ORDERS: Final = "namespaces/shop/orders"
_ON_DISK: Final = "../../../samples"
_CANCELLED: Final = (
    {"format": "json", "path": "{}/can celled/*.jsonl", "version": 0},
    {"format": "parquet", "path": "{}/{{cancelled,none}}.parquet"},
)
_CREATED: Final = ({"format": "avro", "path": "{}/created", "version": 0},)


def write_repository(folder: Path) -> None:
    """The template with samples whose files have awkward names and hold broken messages."""
    copy_template(folder)
    shop, samples = folder / "samples" / "shop" / "orders", folder / "samples"
    lines = (shop / "order-cancelled.jsonl").read_bytes().splitlines(keepends=True)
    lines[70:72] = [b"\n", b'{"orderId": \n', b"\xff\n"]
    (samples / "can celled").mkdir()
    (samples / "can celled" / "a%20ü+.jsonl").write_bytes(b"".join(lines[:110]))
    (samples / "can celled" / "b.jsonl").write_bytes(b"".join(lines[110:]).rstrip(b"\n"))
    table = pyarrow.table({"payload": lines, "schema_version": [0, 0, 9] * (len(lines) // 3)})
    pyarrow.parquet.write_table(table, samples / "cancelled.parquet", row_group_size=50)
    (samples / "created" / "2026").mkdir(parents=True)
    shutil.copy(shop / "order-created.avro", samples / "created" / "2026" / "orders.avro")


def replayed(folder: Path, place: str, environment: Mapping[str, str], *options: str) -> str:
    """The report as JSON, with the samples at `place` and their names as on disk.

    Skips where Spark cannot get its packages.
    """
    for name, samples in (("order-cancelled", _CANCELLED), ("order-created", _CREATED)):
        manifest = folder / _ORDERS / f"{name}.yaml"
        head = manifest.read_text().partition("samples:")[0]
        listed = [{**each, "path": str(each["path"]).format(place)} for each in samples]
        lines = "".join(f"  - {json.dumps(each)}\n" for each in listed)
        manifest.write_text(f"{head}samples:\n{lines}")
    command = Path(sys.executable).parent / "pulsar-gitops"
    topics = ("shop/orders/order-cancelled", "shop/orders/order-created")
    done = subprocess.run(
        [command, "replay", "--format", "json", *options, *topics],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    require_packages(done.stderr)
    assert done.returncode == 1, done.stdout + done.stderr
    assert not done.stderr
    for name, value in environment.items():
        assert not (name.startswith("AWS_") and "KEY" in name and value in done.stdout)
    return done.stdout.replace(f"{place}/", "samples/")


def on_disk(folder: Path, environment: Mapping[str, str]) -> str:
    """The same messages read from the repository, in this machine's quickest way."""
    return replayed(folder, _ON_DISK, environment, "--engine", "local")
