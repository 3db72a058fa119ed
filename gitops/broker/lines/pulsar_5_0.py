"""Pulsar 5.0 (seen: 5.0.1), and its milestone 5.0.0-M1 (seen).

5.0.0-M1 decides as 4.2 does, but for protobuf-java 4.35: PROTOBUF_NATIVE knows the editions up to
2024, and a message set may have fields. Jetty 12.1's error pages show the whole URL. 5.0.1 has Avro
1.12.2, and protobuf-java 4.36, which knows the edition 2026.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gitops.broker.lines.pulsar_4_2 import PULSAR_4_2
from gitops.schemas.avro.parser import AVRO_1_12_2
from gitops.schemas.protobuf_native.descriptors import DescriptorRules

_EDITIONS: Final = frozenset((*range(998, 1002), 9999))
"""PROTO2, PROTO3, 2023, 2024 and UNSTABLE."""
EDITION_2026: Final = 1002

PULSAR_5_0_M1: Final = replace(
    PULSAR_4_2,
    name="5.0.0-M1",
    seen="5.0.0-M1",
    errors_show_url=True,
    rules=replace(
        PULSAR_4_2.rules,
        descriptors=DescriptorRules(editions=_EDITIONS, message_set_fields=True),
    ),
)

PULSAR_5_0: Final = replace(
    PULSAR_5_0_M1,
    name="5.0",
    seen="5.0.1",
    rules=replace(
        PULSAR_5_0_M1.rules,
        avro=AVRO_1_12_2,
        descriptors=DescriptorRules(
            editions=_EDITIONS | {EDITION_2026}, message_set_fields=True, exact=True
        ),
    ),
)
