"""Pulsar 4.2 (seen: 4.2.4).

Avro 1.12.0, Gson 2.13.2 and Jetty 12; a JSON definition must be Avro (PIP-464) unless
`schemaJsonAllowLegacyJacksonFormat` is on; the type EXTERNAL.
"""

from __future__ import annotations

from typing import Final

from gitops.broker.lines.line import BrokerLine
from gitops.schemas.avro.parser import AVRO_1_12
from gitops.schemas.jackson import JACKSON_2_18
from gitops.schemas.json.compatibility import JacksonForm
from gitops.schemas.rules import SchemaRules

PULSAR_4_2: Final = BrokerLine(
    name="4.2",
    seen="4.2.4",
    rules=SchemaRules(
        avro=AVRO_1_12,
        jackson=JacksonForm.NEVER,
        jackson_version=JACKSON_2_18,
        deepest_pair=255,
        has_external=True,
    ),
    has_message_in_status_line=False,
)
