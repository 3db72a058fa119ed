"""Nine changes of one company's repository, which reviewers meet: what the pictures show.

`python -m tests.support.situations FOLDER` writes them all.
"""

from __future__ import annotations

import json
import random
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import fastavro

from tests.support.acme_repository import (
    ADDRESS,
    OPTIONAL,
    Edit,
    add,
    base_files,
    change,
    create,
    folder_of,
    rename,
    replace,
    retype,
)
from tests.support.command_line import captured
from tests.support.git_repos import GitRepository


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """A change, what it is called, and what a reviewer should learn from its report."""

    name: str
    title: str
    edits: tuple[Edit, ...]
    before: tuple[Edit, ...] = ()
    replayed: bool = False
    waived: bool = False


_REASON: Final = {
    "type": "enum",
    "name": "Reason",
    "symbols": ["CUSTOMER", "OUT_OF_STOCK", "PAYMENT_FAILED"],
}
_SHORTER: Final = {**_REASON, "symbols": ["CUSTOMER", "PAYMENT_FAILED"]}
_SAMPLES: Final = "samples: [{{format: avro, path: ../../../samples/{}.avro}}]\n"


def _bookings(chance: random.Random, number: int) -> dict[str, Any]:
    amount = {"amount": chance.randrange(100, 900_000), "currency": "EUR"}
    return {"id": f"p-{number:04}", "amount": amount, "bookedOn": 20_454 + number // 40}


def _cancellations(chance: random.Random, number: int) -> dict[str, Any]:
    return {"id": f"o-{number:04}", "reason": chance.choice(_REASON["symbols"])}


_MESSAGES: Final = {
    "payments/captured": _bookings,
    "orders/order-cancelled": _cancellations,
}


def _add_samples(root: Path) -> None:
    """400 messages of two topics, always the same ones."""
    money = json.loads((root / "types/money.avsc").read_text())
    for topic, message in (
        ("payments/captured", _bookings),
        ("orders/order-cancelled", _cancellations),
    ):
        definition = json.loads((root / f"{folder_of(topic)}.avsc").read_text())
        for one in definition["fields"]:
            one["type"] = money if one["type"] == "acme.types.Money" else one["type"]
        chance = random.Random(7)  # noqa: S311 - the same messages each time, no secret
        place = root / f"samples/{topic.split('/')[1]}.avro"
        place.parent.mkdir(exist_ok=True)
        with place.open("wb") as file:
            messages = [message(chance, number) for number in range(400)]
            fastavro.writer(file, definition, messages, sync_marker=b"pulsar-gitops: 0")
        manifest = root / f"{folder_of(topic)}.yaml"
        manifest.write_text(manifest.read_text() + _SAMPLES.format(place.stem))


_FILLED_IN: Final = {
    'reason: ""': 'reason: "The backlog is read within an hour; the consumers upgrade after that"',
    'approvedBy: ""': 'approvedBy: "@acme/billing"',
}

SITUATIONS: Final = (
    Situation(
        name="good",
        title="A compatible change",
        edits=(
            add(
                f"{folder_of('orders/order-created')}.avsc",
                "coupon",
                ["null", "string"],
                default=None,
            ),
            create("orders/order-archived", "string reason"),
        ),
    ),
    Situation(
        name="breaking",
        title="A field without a default",
        edits=(add(f"{folder_of('payments/captured')}.avsc", "iban", "string"),),
    ),
    Situation(
        name="mixed",
        title="Fifteen topics, some of them refused",
        edits=(
            add(f"{folder_of('customers/account-registered')}.avsc", "locale", "string"),
            add(f"{folder_of('customers/address-changed')}.avsc", "since", "long", default=0),
            retype("customers/profile-updated", "email", ["null", "string"]),
            add(
                f"{folder_of('orders/order-created')}.avsc",
                "coupon",
                ["null", "string"],
                default=None,
            ),
            retype("orders/order-created", "quantity", "long"),
            retype("orders/order-changed", "quantity", "long"),
            change(
                f"{folder_of('orders/order-cancelled')}.avsc",
                lambda d: d.update(doc="The customer cancelled the order."),
            ),
            create("orders/order-archived", "string reason"),
            add(
                f"{folder_of('payments/refunded')}.avsc", "reason", ["null", "string"], default=None
            ),
            add(f"{folder_of('payments/invoice-sent')}.avsc", "dueOn", "string", default=""),
            retype("shipping/parcel-packed", "grams", "string"),
            change(f"{folder_of('shipping/parcel-sent')}.avsc", lambda d: d["fields"].pop()),
            create("shipping/parcel-lost", "string carrier"),
            create("shipping/depot-closed", "string reason"),
            add(f"{folder_of('shipping/carrier-rated')}.avsc", "comment", "string", default=""),
        ),
    ),
    Situation(
        name="policy",
        title="A looser strategy",
        edits=(
            replace(
                "namespaces/acme/payments/namespace.yaml",
                "schemaCompatibilityStrategy: FULL",
                "schemaCompatibilityStrategy: BACKWARD",
            ),
            change(f"{folder_of('payments/captured')}.avsc", lambda d: d["fields"].pop()),
        ),
    ),
    Situation(
        name="rename",
        title="A renamed field",
        edits=(rename("shipping/parcel-sent", "carrier", "carrierName"),),
    ),
    Situation(
        name="waiver",
        title="A refused change with a waiver",
        edits=(add(f"{folder_of('payments/captured')}.avsc", "iban", "string"),),
        waived=True,
    ),
    Situation(
        name="shared-type-good",
        title="An optional field in a shared type",
        edits=(add(ADDRESS, "addition", OPTIONAL, default=None),),
    ),
    Situation(
        name="shared-type-bad",
        title="A required field in a shared type",
        edits=(add(ADDRESS, "house", "string"),),
    ),
    Situation(
        name="replay",
        title="Messages that the new schema reads otherwise",
        before=(retype("orders/order-cancelled", "reason", _REASON),),
        edits=(
            retype("orders/order-cancelled", "reason", _SHORTER),
            retype("payments/captured", "bookedOn", {"type": "int", "logicalType": "time-millis"}),
        ),
        replayed=True,
    ),
)


def build(folder: Path, situation: Situation) -> GitRepository:
    """`main` with its snapshot, and the branch `change`, which is checked out."""
    repo = GitRepository(folder)
    files = base_files()
    for edit in situation.before:
        edit(files)
    repo.write(files)
    if situation.replayed:
        _add_samples(folder)
    _run("apply", "--auto-approve", "--repo", folder)
    _run("snapshot", "--repo", folder)
    repo.commit(message="All topics")
    repo.git("switch", "--quiet", "--create", "change")
    before = dict(files)
    for edit in situation.edits:
        edit(files)
    repo.write({path: text for path, text in files.items() if before.get(path) != text})
    repo.commit(message=situation.title)
    if situation.waived:
        _waive(repo)
    return repo


def _waive(repo: GitRepository) -> None:
    """The waiver that `check` proposes, filled in as people do."""
    _run("check", "--base", "main", "--repo", repo.root, "--waivers", repo.root / "waivers", code=1)
    for waiver in (repo.root / "waivers").iterdir():
        text = waiver.read_text()
        for empty, filled in _FILLED_IN.items():
            text = text.replace(empty, filled)
        waiver.write_text(text)
    repo.commit(message="A waiver")


def _run(*args: object, code: int = 0) -> None:
    ended = captured(*args)
    assert ended.code == code, ended


def main() -> None:
    """Write all nine below a folder."""
    for situation in SITUATIONS:
        build(Path(sys.argv[1], situation.name), situation)


if __name__ == "__main__":
    main()
