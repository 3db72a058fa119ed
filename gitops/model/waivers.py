"""Approved exceptions."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field

from gitops.model.findings import Location
from gitops.model.names import NamespaceName, TopicName


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiver:
    """Approves one change until a day: of a topic's schema, or who is locked out of a namespace.

    `fingerprint` is of exactly that change and the versions that it meets; `expires` is the last
    day, in UTC, on which the waiver holds. `locked_out` are the declared clients that the schema of
    a topic may lock out. `location` is where the fingerprint is, `places` where other keys do.
    """

    name: str
    subject: TopicName | NamespaceName
    fingerprint: str
    reason: str
    approved_by: str
    expires: datetime.date
    location: Location
    locked_out: frozenset[str] = frozenset()
    places: Mapping[str, Location] = field(default_factory=dict)

    @property
    def file(self) -> str:
        """Its path in the repository."""
        return self.location.file

    def place(self, key: str) -> Location:
        """Where a key's value stands."""
        return self.places.get(key, self.location)


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitWaiver:
    """Takes topics out of the limit on changed topics for the change to one schema each.

    `topics` are their fingerprints, each of a topic and the schema that it gets (or that it has
    none any more).
    """

    name: str
    topics: Mapping[TopicName, str]
    reason: str
    approved_by: str
    expires: datetime.date
    location: Location
    places: Mapping[str, Location] = field(default_factory=dict)

    @property
    def file(self) -> str:
        """Its path in the repository."""
        return self.location.file

    @property
    def subject(self) -> str:
        """What findings about it name."""
        return self.file

    def place(self, key: str) -> Location:
        """Where a key's value stands."""
        return self.places.get(key, self.location)


@dataclass(frozen=True, slots=True, kw_only=True)
class WaiverProposal:
    """A waiver as a file that lacks only a reason and an approval.

    `effects` are whole sentences on what follows from approving it, also comments of the file.
    `hint` says how the file comes to be; `fits` to which versions it is bound, where those may be
    others than the registry's. `has_expired`: the file is there, and its last day is over.
    """

    file: str
    text: str
    effects: tuple[str, ...] = ()
    has_expired: bool = False
    hint: str = "`plan --waivers waivers/` writes it"
    fits: str = ""
