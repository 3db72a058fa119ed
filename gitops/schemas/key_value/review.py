"""Changes of a KEY_VALUE that the broker does not see at all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gitops.model.decision import StoredSchema
from gitops.schemas.key_value.parser import ENCODING, INLINE, named_halves
from gitops.schemas.row import Remark, UndecodableError

_NESTED: Final = Remark(
    rule="KV-P001",
    message="half of a KEY_VALUE is itself a KEY_VALUE: the broker reads the first four letters "
    "of its definition as a length and asks for some two gigabytes of memory",
    hint="make it a record (AVRO or JSON) of both",
)


def review_half(_schema: StoredSchema) -> tuple[Remark, ...]:
    """A KEY_VALUE is no half."""
    return (_NESTED,)


def remarks(old: StoredSchema, new: StoredSchema) -> tuple[Remark, ...]:
    """Equality is over the bytes of the halves, so that these pass for the same schema.

    The properties that say how messages are laid out stay those of the stored version, and a
    client takes its own (Pulsar 4.0.7).
    """
    return (*_encoding(old, new), *_half_types(old, new))


def _encoding(old: StoredSchema, new: StoredSchema) -> Iterator[Remark]:
    before, after = (one.properties.get(ENCODING, INLINE) for one in (old, new))
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
        halves = named_halves(old, new)
    except UndecodableError:
        return
    for name, (before, after) in halves:
        if before.type is not after.type:
            yield Remark(
                rule="KV-W002",
                message=f"the {name} changes from {before.type.value} to {after.type.value}, which "
                "Pulsar treats as the same schema: it keeps the old one and refuses no client",
                pointer=f"/{name}",
                old_pointer=f"/{name}",
                hint="move to a new topic",
            )
