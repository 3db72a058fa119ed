"""What sources ask of the versions of topics: whose schema a file brings along, what they need."""

from __future__ import annotations

from collections.abc import Iterable

from gitops.compatibility.avro.errors import AvroParseError
from gitops.compatibility.decision import StoredSchema
from gitops.compatibility.equality import find_equal
from gitops.compatibility.payload import PayloadError, to_stored
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.replay.job import Job, Owner
from gitops.replay.kernel.key_value.halves import is_separated


class LiveVersions:
    """Of the topics of a replay; asked once for each definition."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._known: dict[tuple[str, bytes], int | None] = {}

    def version_of(self, owner: Owner, definition: bytes) -> int | None:
        """The live version whose schema this is, by Avro's equality; None if there is none."""
        asked = (owner.topic, definition)
        if asked not in self._known:
            self._known[asked] = self._find(owner, definition)
        return self._known[asked]

    def need_keys(self, owners: Iterable[Owner]) -> bool:
        """Whether messages of a version are read with their keys."""
        replays = (self._job.replays[owner.topic] for owner in owners)
        return any(is_separated(info) for one in replays for info in one.versions.values())

    def _find(self, owner: Owner, definition: bytes) -> int | None:
        candidate = StoredSchema(type=SchemaType.AVRO, data=definition)
        for version, info in sorted(self._job.replays[owner.topic].versions.items()):
            if info.type is SchemaType.AVRO and _is_equal(version, info, candidate):
                return version
        return None


def _is_equal(version: int, info: SchemaInfo, candidate: StoredSchema) -> bool:
    try:
        return find_equal([(version, to_stored(info))], candidate) is not None
    except (AvroParseError, PayloadError):
        return False
