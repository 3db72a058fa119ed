"""Which version a schema has by its bytes: POST …/version."""

from __future__ import annotations

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
