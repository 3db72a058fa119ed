"""Changes of a KEY_VALUE that the broker does not see at all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gitops.model.decision import StoredSchema
from gitops.schemas.key_value import parser
from gitops.schemas.remark import Remark

_ENCODING: Final = "kv.encoding.type"
_DEFAULT_ENCODING: Final = "INLINE"


def remarks(old: StoredSchema, new: StoredSchema) -> tuple[Remark, ...]:
    """Equality is over the bytes of the halves, so that these pass for the same schema.

    The properties that say how messages are laid out stay those of the stored version, and a
    client takes its own (Pulsar 4.0.7).
    """
    return (*_encoding(old, new), *_half_types(old, new))


def _encoding(old: StoredSchema, new: StoredSchema) -> Iterator[Remark]:
    before, after = (one.properties.get(_ENCODING, _DEFAULT_ENCODING) for one in (old, new))
    if before != after:
        yield Remark(
            rule="KV-W001",
            message=f"the encoding changes from {before} to {after}, which Pulsar does not "
            "compare: consumers look for the key where it no longer is",
            pointer="/encoding",
            old_pointer="/encoding",
            hint=f"keep {before}, or move to a new topic",
        )


def _half_types(old: StoredSchema, new: StoredSchema) -> Iterator[Remark]:
    if old.data != new.data:
        return
    try:
        halves = zip(parser.split(old), parser.split(new), strict=True)
    except parser.UndecodableError:
        return
    for name, (before, after) in zip(("key", "value"), halves, strict=True):
        if before.type is not after.type:
            yield Remark(
                rule="KV-W002",
                message=f"the {name} changes from {before.type.value} to {after.type.value}, which "
                "Pulsar takes for the same schema: it keeps the old one and refuses nobody",
                pointer=f"/{name}",
                old_pointer=f"/{name}",
                hint="move to a new topic",
            )
