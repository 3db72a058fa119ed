"""The table of broker lines. A new line is a file beside this one and a row here."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gitops.broker.lines.line import BrokerLine
from gitops.broker.lines.pulsar_3_0 import PULSAR_3_0
from gitops.broker.lines.pulsar_4_0 import PULSAR_4_0
from gitops.broker.lines.pulsar_4_2 import PULSAR_4_2
from gitops.broker.lines.pulsar_5_0 import PULSAR_5_0
from gitops.schemas.json.compatibility import JacksonForm

LINES: Final = {line.name: line for line in (PULSAR_3_0, PULSAR_4_0, PULSAR_4_2, PULSAR_5_0)}
"""By name, oldest first."""


def with_legacy_json(line: BrokerLine) -> BrokerLine:
    """The line with `schemaJsonAllowLegacyJacksonFormat` on; before 4.2 it has no effect."""
    if line.rules.jackson is not JacksonForm.NEVER:
        return line
    return replace(line, rules=replace(line.rules, jackson=JacksonForm.AFTER_ANY_FAILURE))
