"""Which version a schema has: POST …/version, and producers while auto-update is off."""

from __future__ import annotations

from gitops.compatibility import equality
from gitops.compatibility.decision import StoredHistory
from gitops.compatibility.payload import to_stored
from gitops.model.schema import SchemaInfo


def find_version(history: StoredHistory, candidate: SchemaInfo) -> int | None:
    """What POST …/version answers (None: -1); raises PayloadError.

    It compares type and raw bytes, also of Avro definitions, so it disagrees with a registration
    about white space (Pulsar 4.0.7).
    """
    wanted = to_stored(candidate)
    for version, entry in history.entries:
        if (entry.type, entry.data) == (wanted.type, wanted.data):
            return version
    return None


def find_registered(history: StoredHistory, candidate: SchemaInfo) -> int | None:
    """The version that a producer gets while auto-update is off, None if it is refused.

    Raises PayloadError, AvroParseError.
    """
    return equality.find_equal(history.entries, to_stored(candidate))
