"""Replays of samples in this process."""

from __future__ import annotations

import json

from tests.corpus.catalogue import situation
from tests.corpus.shell import Shell
from tests.corpus.shop_files import CREATED, ORDERS, SHOP, enum, record, topic

_SAMPLES = (
    "samples:\n  - {format: json, path: ../../../samples/created.jsonl, version: 0, "
    "sensitive: [customer]}\n"
)
_FIELDS = ("string id", "int quantity", "string customer")


def _messages() -> str:
    """Forty messages."""
    rows = [
        {"id": f"o-{n}", "quantity": n * 100, "customer": f"c-{n}", "state": "AB"[n % 2]}
        for n in range(40)
    ]
    return "".join(f"{json.dumps(row)}\n" for row in rows)


@situation
def replayed_samples(shell: Shell) -> None:
    """Samples through a changed schema: none fail, some fail, none can be read."""
    state = {"name": "state", "type": enum("State", "A", "B")}
    one_state = {"name": "state", "type": enum("State", "A")}
    shell.start(
        {
            **SHOP,
            CREATED: record("Created", *_FIELDS, state),
            f"{ORDERS}/created.yaml": topic("type: JSON, definition: created.avsc", _SAMPLES),
            "samples/created.jsonl": _messages(),
        },
        "apply --auto-approve",
    )
    shell.branch()
    shell.report("replay --engine local", "text", name="replay-unchanged")
    shell.write({CREATED: record("Created", *_FIELDS, one_state)})
    shell.commit()
    shell.report("replay --base main --engine local")
    shell.run("replay --base main --engine local --show-values --max-examples 1 --gate both")
    shell.run("replay --base main --engine local --html page.html")
    shell.report("check --base main --replay --engine local", "text", "markdown")
    shell.write({"samples/created.jsonl": '{"id": 1}\nno JSON\n'})
    shell.run("replay --base main --engine local", name="replay-broken-samples")
    shell.write({"samples/created.jsonl": None})
    shell.run("replay --base main --engine local", name="replay-no-samples")
    shell.run("replay shop/orders/cancelled --engine local")
    shell.run("replay shop/orders/nothing --engine local")
