"""Pulsar 4.1, read and not run: its broker is not on Maven Central (2026-11-28).

Avro 1.12.0, Jackson 2.17.2 and protobuf-java 3.25.5 are those of the parent POM of 4.1.0 to 4.1.3,
Gson 2.13.2 that of 4.1.3 (2.8.9 before), Jetty is 9.4. The type EXTERNAL (PIP-420) is in the
published classes of 4.1.0. PIP-464 is younger than 4.1.3: a JSON definition that is not Avro is
tried in the old form, but only after a SchemaParseException, and most such definitions end in
another exception of Avro 1.12. `$` in names came after Avro 1.12 (apache/pulsar#25193), and may be
in 4.1.3: it is refused here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gitops.broker.lines.pulsar_4_0 import PULSAR_4_0
from gitops.schemas.avro.parser import AVRO_1_12_PLAIN_NAMES

PULSAR_4_1: Final = replace(
    PULSAR_4_0,
    name="4.1",
    seen="",
    rules=replace(
        PULSAR_4_0.rules, avro=AVRO_1_12_PLAIN_NAMES, deepest_pair=255, has_external=True
    ),
)
