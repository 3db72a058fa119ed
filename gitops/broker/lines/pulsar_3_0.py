"""Pulsar 3.0 (seen: 3.0.7), 3.3 up to 3.3.2 (seen) and after it (read, not seen).

Jackson 2.14 has no limits, the validator lets an AVRO definition be a union, a consumer with an
invalid definition is refused, and admin REST has no GET …/metadata.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gitops.broker.lines.line import BrokerLine
from gitops.schemas.avro.parser import AVRO_1_11_UNLIMITED
from gitops.schemas.jackson import JACKSON_2_14
from gitops.schemas.protobuf_native.descriptors import DescriptorRules
from gitops.schemas.rules import SchemaRules

PULSAR_3_0: Final = BrokerLine(
    name="3.0",
    seen="3.0.7",
    rules=SchemaRules(
        avro=AVRO_1_11_UNLIMITED,
        takes_top_union=True,
        jackson_version=JACKSON_2_14,
        descriptors=DescriptorRules(jackson=JACKSON_2_14),
    ),
    invalid_consumers_connect=False,
    has_metadata=False,
)

PULSAR_3_3_2: Final = replace(PULSAR_3_0, name="3.3.2", seen="3.3.2", tests_first_schemas=False)
"""Up to 3.3.2 a test of compatibility with the latest version fails where there is none."""

PULSAR_3_3: Final = replace(
    PULSAR_3_0, name="3.3", seen="", invalid_consumers_connect=True, has_metadata=True
)
"""As 3.0, but for consumers with an invalid definition (read in the classes of 3.3.6)."""

PULSAR_3_0_12: Final = replace(
    PULSAR_3_0, name="3.0.12", seen="", rules=replace(PULSAR_3_0.rules, takes_top_union=False)
)
"""From 3.0.12 on an AVRO definition may not be a union (apache/pulsar#24103; read, not run)."""

PULSAR_3_3_7: Final = replace(
    PULSAR_3_3, name="3.3.7", rules=replace(PULSAR_3_3.rules, takes_top_union=False)
)
"""From 3.3.7 on an AVRO definition may not be a union (apache/pulsar#24103; read, not run)."""
