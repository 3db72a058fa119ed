"""Pulsar 4.0 (seen: 4.0.7; the classes of 4.0.8 are the same)."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gitops.broker.lines.line import BrokerLine
from gitops.schemas import rules

PULSAR_4_0: Final = BrokerLine(name="4.0", seen="4.0.7", rules=rules.PULSAR_4_0)

PULSAR_4_0_4: Final = BrokerLine(
    name="4.0.4", seen="4.0.0", rules=replace(rules.PULSAR_4_0, takes_top_union=True)
)
"""Up to 4.0.4 the validator lets an AVRO definition be a union.

Seen with the classes of 4.0.0; that 4.0.4 has no such check was read in its classes.
"""
