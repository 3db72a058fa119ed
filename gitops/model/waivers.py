"""Approved exceptions."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field

from gitops.model.findings import Location
from gitops.model.names import TopicName


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiver:
    """Lets one candidate schema pass against one set of existing versions, until a day.

    `fingerprint` is of exactly that candidate and those versions; `expires` is the last day, in
    UTC, on which the waiver holds. `location` is where the fingerprint stands, `places` where
    other keys do.
    """

    name: str
    topic: TopicName
    fingerprint: str
    reason: str
    approved_by: str
    expires: datetime.date
    location: Location
    places: Mapping[str, Location] = field(default_factory=dict)

    @property
    def file(self) -> str:
        """Its path in the repository."""
        return self.location.file

    def place(self, key: str) -> Location:
        """Where a key's value stands."""
        return self.places.get(key, self.location)


@dataclass(frozen=True, slots=True, kw_only=True)
class WaiverProposal:
    """A waiver for a refusal, as a file that lacks only a reason and an approval.

    `hint` says how the file comes to be; `fits` to which versions it is bound, where those may be
    others than the registry's.
    """

    file: str
    text: str
    hint: str = "`plan --waivers waivers/` writes it"
    fits: str = ""
