"""The table of broker lines. A new line is a file beside this one and a row here."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from typing import Final

from gitops.broker.lines.line import BrokerLine
from gitops.broker.lines.pulsar_3_0 import (
    PULSAR_3_0,
    PULSAR_3_0_12,
    PULSAR_3_3,
    PULSAR_3_3_2,
    PULSAR_3_3_7,
)
from gitops.broker.lines.pulsar_4_0 import PULSAR_4_0, PULSAR_4_0_4, PULSAR_4_0_9, PULSAR_4_0_13
from gitops.broker.lines.pulsar_4_1 import PULSAR_4_1
from gitops.broker.lines.pulsar_4_2 import PULSAR_4_2
from gitops.broker.lines.pulsar_5_0 import PULSAR_5_0, PULSAR_5_0_M1
from gitops.model.broker_settings import is_seen
from gitops.model.errors import UsageError
from gitops.model.policy import BrokerSettings, SettingSource
from gitops.schemas.json.compatibility import JacksonForm

LINES: Final = {
    line.name: line
    for line in (PULSAR_3_0, PULSAR_3_3, PULSAR_4_0, PULSAR_4_1, PULSAR_4_2, PULSAR_5_0)
}
"""By name, oldest first."""

_NUMBER: Final = r"\d{1,9}"
_RELEASE: Final = re.compile(
    rf"({_NUMBER})\.({_NUMBER})(?:\.({_NUMBER}))?([-.+_].*)?", re.ASCII | re.DOTALL
)
"""A release; what a vendor puts behind its numbers does not count."""
_PULSARS_OWN: Final = re.compile(
    rf"{_NUMBER}(\.{_NUMBER})+(-(M|rc|candidate)[-.]?{_NUMBER})?(-SNAPSHOT)?", re.ASCII
)
"""A release with no more behind its numbers than Pulsar's own releases have."""
_FIRST_NUMBERS: Final = re.compile(rf"({_NUMBER})(?:\.({_NUMBER}))?", re.ASCII)
_EARLY: Final = {"3.3": (2, PULSAR_3_3_2), "4.0": (4, PULSAR_4_0_4)}
"""The patch level of a line up to which it decides as another value has it."""
_LATE: Final = {
    "3.0": ((12, PULSAR_3_0_12),),
    "3.3": ((7, PULSAR_3_3_7),),
    "4.0": ((13, PULSAR_4_0_13), (9, PULSAR_4_0_9)),
}
"""The patch levels of a line from which on it decides as another value has it, latest first."""
_MILESTONE: Final = re.compile(r"-M\d+(-SNAPSHOT)?", re.ASCII)


class UnknownBrokerError(UsageError):
    """There is no profile of a broker line, so that nothing can be decided for it."""


def line_of(broker: BrokerSettings, option: str = "--as-if-broker") -> BrokerLine:
    """The line by which a broker decides; raises UnknownBrokerError, which offers `option`.

    A release that no cluster has reported is somebody's word: nothing of it is passed over.
    """
    find = find_line if is_seen(broker, "release") else find_named_line
    line = find(broker.release)
    if line is None:
        raise _unknown(broker.release, option)
    if broker.types_without_checker:
        unchecked = frozenset(broker.types_without_checker)
        line = replace(line, rules=replace(line.rules, unchecked=unchecked))
    return with_legacy_json(line) if broker.schema_json_allow_legacy_jackson_format else line


def _unknown(release: str, option: str) -> UnknownBrokerError:
    """Offers the nearest line, and all of them for what is no number of a release."""
    lines = ", ".join(LINES)
    if near := nearest_line(release):
        return UnknownBrokerError(
            f"there is no profile of Pulsar {release}: known are {lines}",
            hint=f"decide as the nearest line does: {option} {near}",
        )
    what = f"'{release}' is not a release of Pulsar"
    return UnknownBrokerError(what, hint=f"name a line with {option}: {lines}")


def is_beyond_doubt(given: BrokerSettings) -> bool:
    """Whether a test of EXTERNAL could not contradict the release, or nobody would listen to it."""
    source = given.source("release")
    if source in (SettingSource.ASSUMED, SettingSource.GIVEN):
        line = find_line(given.release)
        return source is SettingSource.GIVEN and (line is None or line.rules.has_external)
    return True


@cache
def find_line(release: str) -> BrokerLine | None:
    """The line of a release, `4.2` or `4.2.4`, None for one without a profile."""
    match = _RELEASE.fullmatch(release.strip())
    if match is None:
        return None
    name = f"{int(match[1])}.{int(match[2])}"
    if name == PULSAR_5_0.name and match[3] == "0" and _MILESTONE.fullmatch(match[4] or ""):
        return replace(PULSAR_5_0_M1, name=release.strip())
    if not match[3]:
        return LINES.get(name)
    patch = int(match[3])
    last, early = _EARLY.get(name, (-1, None))
    if early and patch <= last:
        return replace(early, name=f"{name}.{patch}")
    for first, late in _LATE.get(name, ()):
        if patch >= first:
            return replace(late, name=f"{name}.{patch}")
    return LINES.get(name)


def find_named_line(release: str) -> BrokerLine | None:
    """The line of a release that a person names: `4.2.4-legacy` may mean more than 4.2.4."""
    return find_line(release) if _PULSARS_OWN.fullmatch(release.strip()) else None


def nearest_line(release: str) -> str:
    """The newest line that is not newer than a release, else the oldest; empty for no number."""
    match = _FIRST_NUMBERS.match(release.strip())
    if match is None:
        return ""
    number = int(match[1]), int(match[2] or 0)
    older = [name for name in LINES if tuple(map(int, name.split("."))) <= number]
    return older[-1] if older else next(iter(LINES))


def has_legacy_switch(line: BrokerLine) -> bool:
    """Whether `schemaJsonAllowLegacyJacksonFormat` has an effect: from 4.2 on (PIP-464)."""
    return line.rules.jackson is JacksonForm.NEVER


def with_legacy_json(line: BrokerLine) -> BrokerLine:
    """The line with `schemaJsonAllowLegacyJacksonFormat` on; before 4.2 it has no effect."""
    if not has_legacy_switch(line):
        return line
    return replace(line, rules=replace(line.rules, jackson=JacksonForm.AFTER_ANY_FAILURE))
