"""The broker lines whose classes can be asked, with the release and the settings of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from gitops.broker.lines.line import BrokerLine
from gitops.broker.lines.pulsar_3_0 import PULSAR_3_0, PULSAR_3_3_2
from gitops.broker.lines.pulsar_4_0 import PULSAR_4_0, PULSAR_4_0_4
from gitops.broker.lines.pulsar_4_2 import PULSAR_4_2
from gitops.broker.lines.pulsar_5_0 import PULSAR_5_0, PULSAR_5_0_M1
from gitops.broker.lines.table import with_legacy_json


@dataclass(frozen=True, slots=True, kw_only=True)
class OracleLine:
    """A line as it is decided here, and the Pulsar release that decides it too.

    `settings` are keys of broker.conf, divided by semicolons.
    """

    line: BrokerLine
    release: str
    settings: str = ""


_LEGACY: Final = "schemaJsonAllowLegacyJacksonFormat=true"

ORACLE_LINES: Final = {
    "3.0": OracleLine(line=PULSAR_3_0, release="3.0.7"),
    "3.3.2": OracleLine(line=PULSAR_3_3_2, release="3.3.2"),
    "4.0.0": OracleLine(line=PULSAR_4_0_4, release="4.0.0"),
    "4.0": OracleLine(line=PULSAR_4_0, release="4.0.7"),
    "4.2": OracleLine(line=PULSAR_4_2, release="4.2.4"),
    "4.2-legacy": OracleLine(line=with_legacy_json(PULSAR_4_2), release="4.2.4", settings=_LEGACY),
    "5.0.0-M1": OracleLine(line=PULSAR_5_0_M1, release="5.0.0-M1"),
    "5.0": OracleLine(line=PULSAR_5_0, release="5.0.1"),
}
"""By the name of the line; `-legacy`: with the old form of JSON definitions."""
