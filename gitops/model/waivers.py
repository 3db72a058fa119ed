"""Approved exceptions."""

from __future__ import annotations

import datetime
from dataclasses import dataclass

from gitops.model.findings import Location
from gitops.model.names import TopicName


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiver:
    """Lets one candidate schema pass against one set of existing versions, until a day.

    `fingerprint` is of exactly that candidate and those versions; `expires` is the last day on
    which the waiver holds.
    """

    name: str
    topic: TopicName
    fingerprint: str
    reason: str
    approved_by: str
    expires: datetime.date
    location: Location
