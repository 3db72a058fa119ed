"""Clients: who may connect, who upgrades first, and what each language reads."""

from __future__ import annotations

from tests.corpus.catalogue import situation
from tests.corpus.shell import Shell
from tests.corpus.shop_files import (
    CREATED,
    ORDERS,
    SHOP,
    client,
    enum,
    namespace,
    optional,
    record,
    topic,
)

_WIDER = record("Created", "string id", "int quantity", optional("note"), namespace="shop")
_LONG = record("Created", "string id", "long quantity", namespace="shop")
_TEXT = record("Created", "string id", "string quantity", namespace="shop")


@situation
def may_a_client_connect(shell: Shell) -> None:
    """I ask before a deployment, for declared clients, files, versions and types."""
    shell.start(SHOP, "apply --auto-approve", "snapshot")
    shell.write({"wider.avsc": _WIDER, "text.avsc": _TEXT})
    shell.report("connect client billing")
    shell.run("connect client billing --snapshot")
    shell.run("connect client nobody")
    for schema in ("wider.avsc", "text.avsc", "v0", "v7", "INT32", "NONE"):
        for side in ("producer", "consumer"):
            shell.run(f"connect {side} shop/orders/created {schema}")
    shell.report("connect producer shop/orders/created text.avsc", name="producer-refused")
    shell.report("connect consumer shop/orders/created wider.avsc --language python --state active")
    shell.run("connect producer shop/orders/created AUTO_PRODUCE")
    shell.run("connect consumer shop/orders/created AUTO_CONSUME")
    shell.run("connect producer shop/orders/new wider.avsc")
    shell.run("connect producer shop/orders/created v0 --new-schema wider.avsc")
    shell.run("connect consumer shop/orders/created v0 --language cobol")


@situation
def order_of_upgrades(shell: Shell) -> None:
    """A number becomes wider: the consumer upgrades first, then the merge, then the producer."""
    shell.start(SHOP, "apply --auto-approve", "snapshot")
    shell.branch()
    shell.write({CREATED: _LONG})
    shell.commit()
    shell.report("check --base main")
    shell.report("rollout --base main")
    shell.run("rollout")
    shell.run("connect client billing")
    shell.write({"clients/billing.yaml": client("billing", consumes={"created": "{version: 1}"})})
    shell.commit("The consumer moves, too")
    shell.report("check --base main", "text", "markdown", name="check-consumer-moves")
    shell.write({"clients/checkout.yaml": client("checkout", produces={"created": "{version: 1}"})})
    shell.commit("Both move")
    shell.report("check --base main", "text", "json", "markdown", name="check-both-move")


@situation
def no_order_of_upgrades(shell: Shell) -> None:
    """Pulsar accepts the change, and no order of upgrades is safe: a new topic instead."""
    shell.start(
        {**SHOP, f"{ORDERS}/namespace.yaml": namespace("ALWAYS_COMPATIBLE")},
        "apply --auto-approve",
    )
    shell.branch()
    shell.write({CREATED: _TEXT})
    shell.commit()
    shell.report("check --base main", "text", "markdown", name="check-no-client-moves")
    shell.run("rollout --base main", name="rollout-no-client-moves")
    shell.write(
        {
            "clients/billing.yaml": client("billing", consumes={"created": "{version: 1}"}),
            "clients/checkout.yaml": client("checkout", produces={"created": "{version: 1}"}),
        }
    )
    shell.commit("Both clients move")
    shell.report("check --base main")
    shell.report("rollout --base main")
    shell.run("rollout --base main --migrate")
    shell.run("validate")
    shell.run("check --base main", name="check-migrated")


@situation
def forward_without_clients(shell: Shell) -> None:
    """Nobody declared clients: the strategy alone decides who upgrades first."""
    files = {name: text for name, text in SHOP.items() if not name.startswith("clients/")}
    shell.start({**files, f"{ORDERS}/namespace.yaml": namespace("FORWARD")}, "apply --auto-approve")
    shell.branch()
    noted = record("Created", "string id", "int quantity", "string note", namespace="shop")
    shell.write({CREATED: noted})
    shell.commit()
    shell.report("check --base main", "text", "json", "markdown")
    shell.report("rollout --base main")


@situation
def a_python_client(shell: Shell) -> None:
    """A consumer in Python reads otherwise than Java: a nested record gets another name."""
    nested = {"name": "at", "type": {"type": "record", "name": "Pos", "fields": []}}
    shell.start(
        {
            **SHOP,
            CREATED: record("Created", "string id", nested),
            "clients/fleet.yaml": client(
                "fleet", "language: python\n", consumes={"created": "{version: 0}"}
            ),
            "clients/billing.yaml": client(
                "billing", "language: go\n", consumes={"created": "{version: 0}"}
            ),
        },
        "apply --auto-approve",
    )
    shell.branch()
    renamed = {"name": "at", "type": {"type": "record", "name": "Point", "fields": []}}
    shell.write({CREATED: record("Created", "string id", renamed)})
    shell.commit()
    shell.report("check --base main", "text", "json", "markdown")
    shell.run("connect client fleet")
    shell.run("rollout --base main")


@situation
def several_kinds_of_event(shell: Shell) -> None:
    """A topic under ALWAYS_COMPATIBLE has two kinds of event; one is changed."""
    shell.start(
        {
            **SHOP,
            f"{ORDERS}/namespace.yaml": namespace("ALWAYS_COMPATIBLE"),
            f"{ORDERS}/billing.avsc": record("Billed", "string id", "int amount"),
            "clients/checkout.yaml": client(
                "checkout",
                produces={"created": f"[{{version: 0}}, {{definition: ../{ORDERS}/billing.avsc}}]"},
            ),
        },
        "apply --auto-approve",
    )
    shell.branch()
    shell.write({CREATED: record("Billed", "string id", "string amount")})
    shell.commit()
    shell.report("check --base main", "text", "markdown")
    shell.run("rollout --base main")
    shell.run("connect client checkout")


@situation
def wrong_clients(shell: Shell) -> None:
    """Clients that name what does not exist, and an enum that a consumer does not know."""
    shell.start(
        {
            **SHOP,
            f"{ORDERS}/state.yaml": topic("type: AVRO, definition: state.avsc"),
            f"{ORDERS}/state.avsc": record("State", {"name": "s", "type": enum("S", "A", "B")}),
            "clients/reader.avsc": record("State", {"name": "s", "type": enum("S", "A")}),
            "clients/reader.yaml": client(
                "reader", consumes={"state": "{definition: reader.avsc}"}
            ),
            "clients/lost.yaml": client("lost", consumes={"nothing": "{version: 0}"}),
            "clients/late.yaml": client("late", produces={"created": "{version: 9}"}),
            "clients/twice.yaml": client("billing", consumes={"created": "NONE"}),
        }
    )
    shell.report("validate")
    shell.run("plan")
    shell.write({"clients/lost.yaml": None, "clients/twice.yaml": None})
    shell.run("plan", name="plan-late")
    shell.run("connect client reader")
    shell.run("connect client late")
