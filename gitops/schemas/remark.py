"""What a rule of ours says about a schema that the broker takes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """One thing that readers of the topic would suffer from.

    `path` is how a person names the place: dotted field names, `[]` for items, `{}` for values.
    The pointers are RFC 6901 JSON pointers into the new definition and into the old one, which is
    None where only the new one is to blame. `stops_readers`: one with the new schema fails on
    some messages of the old, which Pulsar does not see.
    """

    rule: str
    message: str
    path: str = ""
    pointer: str = ""
    old_pointer: str | None = None
    hint: str = ""
    stops_readers: bool = False
