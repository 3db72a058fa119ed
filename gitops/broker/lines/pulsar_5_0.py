"""Pulsar 5.0 (seen: 5.0.0-M1; 5.0.1 was read, not seen).

As 4.2, with protobuf-java 4.35: PROTOBUF_NATIVE knows the editions up to 2024, and a message set
may have fields. Jetty 12.1's error pages show the whole URL.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gitops.broker.lines.pulsar_4_2 import PULSAR_4_2
from gitops.schemas.protobuf_native.descriptors import DescriptorRules

_EDITIONS: Final = frozenset((*range(998, 1002), 9999))
"""PROTO2, PROTO3, 2023, 2024 and UNSTABLE."""

PULSAR_5_0: Final = replace(
    PULSAR_4_2,
    name="5.0",
    seen="5.0.0-M1",
    errors_show_url=True,
    rules=replace(
        PULSAR_4_2.rules,
        descriptors=DescriptorRules(editions=_EDITIONS, message_set_fields=True),
    ),
)
