"""Pulsar 4.0 (seen: 4.0.7; the classes of 4.0.8 are the same), and its early and late releases."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gitops.broker.lines.line import BrokerLine
from gitops.schemas import rules
from gitops.schemas.jackson import JACKSON_2_18

PULSAR_4_0: Final = BrokerLine(name="4.0", seen="4.0.7", rules=rules.PULSAR_4_0)

PULSAR_4_0_4: Final = BrokerLine(
    name="4.0.4", seen="4.0.0", rules=replace(rules.PULSAR_4_0, takes_top_union=True)
)
"""Up to 4.0.4 the validator lets an AVRO definition be a union.

Seen with the classes of 4.0.0; that 4.0.4 has no such check was read in its classes.
"""

PULSAR_4_0_9: Final = BrokerLine(
    name="4.0.9", seen="", rules=replace(rules.PULSAR_4_0, deepest_pair=255)
)
"""From 4.0.9 on the parent POM has Gson 2.13.2 (read, not run)."""

PULSAR_4_0_13: Final = replace(
    PULSAR_4_0_9,
    name="4.0.13",
    rules=replace(PULSAR_4_0_9.rules, jackson_version=JACKSON_2_18),
    has_message_in_status_line=False,
)
"""From 4.0.13 on the parent POM has Jackson 2.18 and Jetty 12.1 as well (read, not run).

Its Avro, 1.11.5, reads definitions as 1.11.4 does. The POMs of 4.0.10 to 4.0.12 are not published.
"""
