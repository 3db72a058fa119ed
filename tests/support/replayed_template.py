"""The template on the command line of `replay` and `check --replay`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from tests.support.command_line import Outcome

ORDERS: Final = "namespaces/shop/orders"
CANCELLED: Final = "shop/orders/order-cancelled"
LOCAL: Final = ("--engine", "local")


def lose_a_symbol(repo: Path) -> None:
    """What Pulsar does not compare, and what messages of the sample hold."""
    place = repo / f"{ORDERS}/order-cancelled.avsc"
    text = place.read_text("utf-8")
    assert '"OUT_OF_STOCK", ' in text
    place.write_text(text.replace('"OUT_OF_STOCK", ', ""), "utf-8")


def document(said: Outcome) -> dict[str, Any]:
    """What was said, as JSON."""
    content: dict[str, Any] = json.loads(said.out)
    return content
