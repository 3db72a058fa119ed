"""The columns of a capture, without what reads messages: replays have them, too."""

from __future__ import annotations

from typing import Final

import pyarrow

CHUNK: Final = 0
"""The `batch_size` of a chunk that stays encrypted; -1 is that of a message that is no batch."""

TIME: Final = pyarrow.timestamp("ms", "UTC")
PROPERTIES: Final = pyarrow.map_(pyarrow.string(), pyarrow.string())
_KEY: Final = pyarrow.struct(
    [
        ("name", pyarrow.string()),
        ("value", pyarrow.binary()),
        ("metadata", PROPERTIES),
    ]
)
ENCRYPTION: Final = pyarrow.struct(
    [
        ("is_decrypted", pyarrow.bool_()),
        ("algorithm", pyarrow.string()),
        ("param", pyarrow.binary()),
        ("keys", pyarrow.list_(_KEY)),
        ("compression", pyarrow.string()),
        ("uncompressed_size", pyarrow.int64()),
        ("batch_size", pyarrow.int32()),
    ]
)

SCHEMA: Final = pyarrow.schema(
    [
        ("topic", pyarrow.string()),
        ("message_id", pyarrow.string()),
        ("publish_time", TIME),
        ("event_time", TIME),
        ("key", pyarrow.binary()),
        ("key_is_base64", pyarrow.bool_()),
        ("ordering_key", pyarrow.binary()),
        ("sequence_id", pyarrow.int64()),
        ("producer_name", pyarrow.string()),
        ("schema_version", pyarrow.int64()),
        ("payload", pyarrow.binary()),
        ("is_null", pyarrow.bool_()),
        ("properties", PROPERTIES),
        ("encryption", ENCRYPTION),
        ("replicated_from", pyarrow.string()),
        ("deliver_at", TIME),
    ]
)
"""The columns of a capture; docs/reference/captures.md has what each contains."""
