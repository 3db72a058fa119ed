"""Numbers, text and bytes: the same wire form, read as something else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gitops.compatibility.avro.logical_types import Decimal, decimal_of, logical_type_of
from gitops.compatibility.avro.resolution import PROMOTIONS
from gitops.compatibility.avro.schema import Fixed, Primitive, Schema
from gitops.compatibility.review.avro_place import Change, Wire
from gitops.compatibility.review.remark import Remark

_LOSSY: Final = {("int", "float"): 24, ("long", "float"): 24, ("long", "double"): 53}
"""Promotions that round, and up to how many bits a number survives."""


def remarks(old: Primitive | Fixed, new: Primitive | Fixed, at: Change) -> Iterator[Remark]:
    """What becomes of the values of one field."""
    if old.kind != new.kind:
        yield from _other_kind(old, new, at)
    else:
        yield from _other_meaning(old, new, at)


def is_promotion(old: Schema, new: Schema) -> bool:
    """Whether Avro lets a reader of `new` read `old`, which is of another type."""
    both = isinstance(old, Primitive) and isinstance(new, Primitive)
    return both and new.kind in PROMOTIONS.get(old.kind, ())


def _other_kind(old: Schema, new: Schema, at: Change) -> Iterator[Remark]:
    if {old.kind, new.kind} == {"bytes", "string"}:
        yield Remark(
            rule="AVRO-W003",
            message=f"{old.kind} becomes {new.kind}: {_bytes_and_string(old, at)}",
            path=at.path,
            pointer=at.pointer,
            old_pointer=at.old_pointer,
            hint=f"keep {old.kind}, or add a new field of type {new.kind}",
        )
    elif is_promotion(old, new) or (at.forward and is_promotion(new, old)):
        yield from _other_logical_type(old, new, at)
    for writer, reader, who in _directions(old, new, at):
        bits = _LOSSY.get((writer.kind, reader.kind))
        if bits is not None:
            yield Remark(
                rule="AVRO-W008",
                message=f"consumers with the {who} schema read {writer.kind} as {reader.kind}, "
                f"which rounds whole numbers above 2^{bits}",
                path=at.path,
                pointer=at.pointer,
                old_pointer=at.old_pointer,
                hint=f"keep {old.kind}, or make sure that no value is that large",
            )


def _bytes_and_string(old: Schema, at: Change) -> str:
    if at.wire is Wire.JSON:
        return "in JSON one is written in base64 and the other as it is, so that values change"
    if old.kind == "bytes":
        return "Pulsar takes it, and bytes that are no UTF-8 come out as other text"
    return "Pulsar takes it, and every consumer that works with text gets bytes"


def _directions(old: Schema, new: Schema, at: Change) -> Iterator[tuple[Schema, Schema, str]]:
    """(writer, reader, whose schema the reader has)."""
    yield old, new, "new"
    if at.forward:
        yield new, old, "old"


def _other_meaning(old: Schema, new: Schema, at: Change) -> Iterator[Remark]:
    before, after = decimal_of(old), decimal_of(new)
    if before and after:
        yield from _decimals(before, after, at)
    else:
        yield from _other_logical_type(old, new, at)


def _other_logical_type(old: Schema, new: Schema, at: Change) -> Iterator[Remark]:
    """Also beside a promotion, which turns the number of one into the number of the other."""
    was, now = logical_type_of(old), logical_type_of(new)
    if was != now:
        yield Remark(
            rule="AVRO-W005",
            message=f"{_said(was, old)} becomes {_said(now, new)}, which Pulsar does not compare: "
            f"what was written as one is read as the other",
            path=at.path,
            pointer=at.pointer,
            old_pointer=at.old_pointer,
            hint="keep the logical type, or add a new field",
        )


def _decimals(before: Decimal, after: Decimal, at: Change) -> Iterator[Remark]:
    if after.scale != before.scale:
        factor = f"10^{abs(before.scale - after.scale)}"
        way = "large" if after.scale < before.scale else "small"
        why = f"in consumers with the new schema older values come out too {way} by {factor}"
    elif after.precision < before.precision:
        why = f"values of more than {after.precision} digits, which messages may have, do not fit"
    elif after.precision > before.precision and at.forward:
        why = f"consumers with the old schema may get values of more than {before.precision} digits"
    else:
        return
    yield Remark(
        rule="AVRO-W004",
        message=f"{before} becomes {after}, which Pulsar does not compare: {why}",
        path=at.path,
        pointer=at.pointer,
        old_pointer=at.old_pointer,
        hint=f"keep {before}, or add a new field for {after}",
    )


def _said(logical: str, schema: Schema) -> str:
    if decimal_of(schema):
        return str(decimal_of(schema))
    return f"{schema.kind} as {logical}" if logical else f"plain {schema.kind}"
