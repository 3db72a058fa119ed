"""Pull requests against the template, in the order in which people make them, and the verdicts."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tests.scenarios.repositories import edit_json
from tests.scenarios.repository_edits import Schemas

ORDERS: Final = "namespaces/shop/orders"
PAYMENTS: Final = "namespaces/shop/payments"
CREATED: Final = f"{ORDERS}/order-created.avsc"
CAPTURED: Final = f"{PAYMENTS}/captured.avsc"
MONEY: Final = "types/money.avsc"


Edit = Callable[[Schemas], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A pull request: what it does, and what `check` must say.

    `plan` are the actions and notices of the plan, `findings` rule and place of each finding that
    is a warning or worse, `touched` the topics, where they are worth naming. `start` is where the
    branch begins.
    """

    name: str
    edit: Edit
    code: int = 0
    plan: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    touched: tuple[str, ...] | None = None
    merged: bool = True
    start: str = "main"


def loosen(s: Schemas, namespace: str, old: str, new: str) -> None:
    key = "schemaCompatibilityStrategy: "
    s.replace(f"{namespace}/namespace.yaml", key + old, key + new)


def both(*edits: Edit) -> Edit:
    """One edit after the other."""

    def make(s: Schemas) -> None:
        for edit in edits:
            edit(s)

    return make


def shipped(s: Schemas) -> None:
    manifest = "apiVersion: pulsar-gitops/v1\nkind: Topic\n"
    s.write(
        f"{ORDERS}/order-shipped.yaml",
        f"{manifest}schema: {{type: AVRO, definition: order-shipped.avsc}}\n",
    )
    fields = [{"name": "orderId", "type": "string"}]
    schema = {"type": "record", "name": "OrderShipped", "namespace": "shop.orders"}
    s.write(f"{ORDERS}/order-shipped.avsc", json.dumps(schema | {"fields": fields}, indent=2))


def rename_shipped(s: Schemas) -> None:
    s.move(f"{ORDERS}/order-shipped.yaml", f"{ORDERS}/order-sent.yaml")
    s.move(f"{ORDERS}/order-shipped.avsc", f"{ORDERS}/order-sent.avsc")
    s.replace(f"{ORDERS}/order-sent.yaml", "order-shipped.avsc", "order-sent.avsc")


def link_definition(s: Schemas) -> None:
    s.remove(CAPTURED)
    (s.root / CAPTURED).symlink_to("../../../../secrets.avsc")


def waive(s: Schemas) -> None:
    s.write(
        "waivers/captured.yaml",
        "apiVersion: pulsar-gitops/v1\nkind: Waiver\ntopic: shop/payments/captured\n"
        'fingerprint: "0123456789abcdef0123456789abcdef"\nreason: the only consumer is gone\n'
        'approvedBy: "@acme/payments"\nexpires: "2100-01-01"\n',
    )


PAIR_MERGE: Final = ":/^merge: half of a pair"
"""How git finds that merge."""

ALL: Final = ("order-by-customer", "order-cancelled", "order-created", "order-status")
WITH_MONEY: Final = ("order-by-customer", "order-created", "captured")

STEPS: Final = (
    Step(
        name="something else in the larger repository",
        edit=lambda s: s.repo.write({"app/main.py": "print()\n"}),
        touched=(),
    ),
    Step(name="an empty commit", edit=lambda _: None, touched=()),
    Step(
        name="an optional field",
        edit=lambda s: s.add_field(CREATED, "coupon", type=["null", "string"], default=None),
        plan=("order-created v0 → v1",),
        touched=("order-created",),
    ),
    Step(
        name="a field that old messages lack",
        edit=lambda s: s.add_field(CREATED, "channel"),
        code=1,
        plan=("order-created refused",),
        findings=(f"AVRO-R002 {CREATED}",),
        merged=False,
    ),
    Step(
        name="the same, mended in a second commit",
        edit=lambda s: s.add_field(CREATED, "channel", default="web"),
        plan=("order-created v1 → v2",),
    ),
    Step(
        name="a doc",
        edit=lambda s: s.set_doc(CREATED, "Somebody has placed an order."),
        plan=("order-created swallowed",),
    ),
    Step(
        name="a comment in a manifest",
        edit=lambda s: s.replace(f"{ORDERS}/order-created.yaml", "kind: Topic", "kind: Topic # !"),
        touched=("order-created",),
    ),
    Step(
        name="a shared type gets a field with a default",
        edit=lambda s: s.add_field(MONEY, "scale", type="int", default=2),
        plan=("captured v0 → v1", "order-by-customer v0 → v1", "order-created v2 → v3"),
        touched=WITH_MONEY,
    ),
    Step(
        name="a shared type gets a field without one",
        edit=lambda s: s.add_field(MONEY, "country"),
        code=1,
        plan=("captured refused", "order-by-customer refused", "order-created refused"),
        findings=(f"AVRO-R002 {MONEY}",),
        touched=WITH_MONEY,
        merged=False,
    ),
    Step(
        name="a shared type is laid out anew",
        edit=lambda s: edit_json(s.root / MONEY, lambda _: None, indent=4),
        touched=(),
        merged=False,
    ),
    Step(
        name="one of several users of a shared type is removed with its namespace",
        edit=lambda s: s.remove(
            CAPTURED, f"{PAYMENTS}/captured.yaml", f"{PAYMENTS}/namespace.yaml"
        ),
        code=1,
        findings=(
            f"CHECK-R001 {PAYMENTS}/captured.yaml",
            f"CHECK-R003 {PAYMENTS}/namespace.yaml",
            "CLIENT-R005 clients/billing.yaml",
            "CLIENT-R005 clients/checkout.yaml",
        ),
        touched=(),
        merged=False,
    ),
    Step(
        name="a client reads a newer version",
        edit=lambda s: s.replace(
            "clients/billing.yaml", "billing, schema: {version: 0}", "billing, schema: {version: 3}"
        ),
        touched=(),
    ),
    Step(
        name="a namespace's strategy is loosened",
        edit=lambda s: loosen(s, PAYMENTS, "FULL", "BACKWARD"),
        plan=("shop/payments schemaCompatibilityStrategy FULL → BACKWARD",),
        findings=(
            f"CHECK-R003 {PAYMENTS}/namespace.yaml",
            f"CHECK-R008 {PAYMENTS}/namespace.yaml",
        ),
        touched=("captured",),
        merged=False,
    ),
    Step(
        name="a strategy is loosened, and a breaking change comes with it",
        edit=both(
            lambda s: loosen(s, PAYMENTS, "FULL", "BACKWARD"),
            lambda s: s.drop_field(CAPTURED, "orderId"),
        ),
        code=1,
        plan=("captured v1 → v2", "shop/payments schemaCompatibilityStrategy FULL → BACKWARD"),
        findings=(
            f"CHECK-R003 {PAYMENTS}/namespace.yaml",
            f"CHECK-R004 {PAYMENTS}/namespace.yaml",
            f"CHECK-R008 {PAYMENTS}/namespace.yaml",
            "CLIENT-R003 clients/checkout.yaml",
            f"PLAN-R021 {CAPTURED}",
        ),
        merged=False,
    ),
    Step(
        name="a strategy is tightened",
        edit=lambda s: loosen(s, ORDERS, "BACKWARD", "BACKWARD_TRANSITIVE"),
        plan=("shop/orders schemaCompatibilityStrategy BACKWARD → BACKWARD_TRANSITIVE",),
        findings=(f"PLAN-R021 {ORDERS}/namespace.yaml",),
        touched=ALL,
    ),
    Step(
        name="a registry gets a policy of its own",
        edit=lambda s: s.replace(
            "gitops.yaml",
            "path: .gitops/registry.db\n",
            "path: .gitops/registry.db\n    namespaces:\n"
            "      shop/payments: {schemaCompatibilityStrategy: ALWAYS_COMPATIBLE}\n",
        ),
        plan=("shop/payments schemaCompatibilityStrategy FULL → ALWAYS_COMPATIBLE",),
        findings=("CHECK-R003 gitops.yaml", "CHECK-R008 gitops.yaml"),
        touched=("captured",),
        merged=False,
    ),
    Step(
        name="a new topic",
        edit=shipped,
        plan=("order-shipped new → v0",),
        touched=("order-shipped",),
    ),
    Step(
        name="a topic's files are renamed, and the topic with them",
        edit=rename_shipped,
        code=1,
        plan=("order-sent new → v0",),
        findings=(f"CHECK-R002 {ORDERS}/order-sent.yaml",),
        touched=("order-sent",),
        merged=False,
    ),
    Step(
        name="a topic's files are renamed, and the topic keeps its name",
        edit=both(
            rename_shipped,
            lambda s: s.replace(
                f"{ORDERS}/order-sent.yaml", "kind: Topic\n", "kind: Topic\ntopic: order-shipped\n"
            ),
        ),
        touched=("order-shipped",),
    ),
    Step(
        name="a topic's manifest is removed, its definition left behind",
        edit=lambda s: s.remove(f"{ORDERS}/order-sent.yaml"),
        code=1,
        findings=(
            f"CHECK-R001 {ORDERS}/order-sent.yaml",
            f"REPO-R023 {ORDERS}/order-sent.avsc",
        ),
        merged=False,
    ),
    Step(
        name="deletions are allowed",
        edit=lambda s: s.replace("gitops.yaml", "allowDeletions: false", "allowDeletions: true"),
        findings=("CHECK-R006 gitops.yaml",),
        touched=(),
    ),
    Step(
        name="a topic is removed for good",
        edit=lambda s: s.remove(f"{ORDERS}/order-sent.yaml", f"{ORDERS}/order-sent.avsc"),
        findings=(f"CHECK-R001 {ORDERS}/order-sent.yaml",),
        touched=(),
    ),
    Step(
        name="deletions are forbidden again",
        edit=lambda s: s.replace("gitops.yaml", "allowDeletions: true", "allowDeletions: false"),
        touched=(),
    ),
    Step(
        name="a schema is reverted",
        edit=lambda s: s.drop_field(MONEY, "scale"),
        plan=(
            "captured same as v0",
            "order-by-customer same as v0",
            "order-created same as v2",
        ),
        findings=(
            f"PLAN-R003 {ORDERS}/order-by-customer.yaml",
            f"PLAN-R003 {CREATED}",
            f"PLAN-R003 {CAPTURED}",
        ),
        merged=False,
    ),
    Step(
        name="a misspelt key",
        edit=lambda s: s.replace(f"{PAYMENTS}/captured.yaml", "schema:\n", "shcema:\n"),
        code=1,
        findings=(f"REPO-R002 {PAYMENTS}/captured.yaml",),
        merged=False,
    ),
    Step(
        name="a definition is renamed, its manifest is not",
        edit=lambda s: s.move(CAPTURED, f"{PAYMENTS}/captures.avsc"),
        code=1,
        findings=(f"REPO-R006 {PAYMENTS}/captured.yaml",),
        merged=False,
    ),
    Step(
        name="a definition outside of the schemas' folder",
        edit=lambda s: s.replace(
            f"{PAYMENTS}/captured.yaml", "captured.avsc", "../../../../app/x.avsc"
        ),
        code=1,
        findings=(f"REPO-R007 {PAYMENTS}/captured.yaml",),
        merged=False,
    ),
    Step(
        name="a definition becomes a link out of the schemas' folder",
        edit=link_definition,
        code=1,
        findings=(f"REPO-R007 {PAYMENTS}/captured.yaml",),
        merged=False,
    ),
    Step(
        name="a shared type is renamed, and those who name it are not",
        edit=lambda s: s.replace(MONEY, '"Money"', '"Amount"'),
        code=1,
        plan=("captured refused", "order-by-customer refused", "order-created refused"),
        findings=(
            f"AVRO-P001 {CAPTURED}",
            f"AVRO-P001 {CREATED}",
            f"AVRO-P001 {ORDERS}/order-by-customer.avsc",
            f"REPO-R023 {MONEY}",
        ),
        touched=WITH_MONEY,
        merged=False,
    ),
    Step(
        name="a second manifest for a topic that has one",
        edit=lambda s: s.write(
            f"{ORDERS}/again.yaml",
            "apiVersion: pulsar-gitops/v1\nkind: Topic\n"
            "topic: order-status\nschema: {type: STRING}\n",
        ),
        code=1,
        findings=(f"REPO-R017 {ORDERS}/again.yaml", f"REPO-R017 {ORDERS}/order-status.yaml"),
        merged=False,
    ),
    Step(
        name="a topic gets another type",
        edit=lambda s: s.replace(f"{ORDERS}/order-cancelled.yaml", "type: JSON", "type: AVRO"),
        code=1,
        plan=("order-cancelled refused",),
        findings=(f"PLAN-R001 {ORDERS}/order-cancelled.avsc",),
        merged=False,
    ),
    Step(
        name="a waiver that nothing needs",
        edit=waive,
        findings=("WAIVER-R003 waivers/captured.yaml",),
        touched=("captured",),
        merged=False,
    ),
    Step(
        name="half of a pair changes",
        edit=lambda s: s.add_field(
            f"{ORDERS}/order-by-customer.avsc", "vip", type="boolean", default=False
        ),
        plan=("order-by-customer v1 → v2",),
        touched=("order-by-customer",),
    ),
    Step(
        name="that is reverted",
        edit=lambda s: s.revert(PAIR_MERGE),
        plan=("order-by-customer same as v1",),
        findings=(f"PLAN-R003 {ORDERS}/order-by-customer.yaml",),
        touched=("order-by-customer",),
        merged=False,
    ),
    Step(
        name="a branch that main has left behind",
        edit=lambda s: s.set_doc(CAPTURED, "Somebody has paid."),
        plan=("captured swallowed",),
        touched=("captured",),
        start="main~1",
    ),
    Step(
        name="stricter limits, which a shared type then breaks",
        edit=both(
            lambda s: s.replace("gitops.yaml", "minTopics: 10", "minTopics: 3"),
            lambda s: s.add_field(MONEY, "tax", type=["null", "long"], default=None),
        ),
        code=1,
        plan=("captured v1 → v2", "order-by-customer v2 → v3", "order-created v3 → v4"),
        findings=("CHECK-R005 -",),
        merged=False,
    ),
)
