"""Enums, numbers, text and bytes: changes that resolution does not look at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum as PythonEnum
from typing import Final

from gitops.schemas.avro.aliases import Aliases
from gitops.schemas.avro.pointers import Pointers
from gitops.schemas.avro.resolution import PROMOTIONS
from gitops.schemas.avro.schema import (
    Decimal,
    Enum,
    Field,
    Fixed,
    Primitive,
    Record,
    Schema,
    decimal_of,
    logical_type_of,
    short_name,
)
from gitops.schemas.row import Remark

# Where a walk over two definitions is, and what it is asked about.


class Wire(PythonEnum):
    """How messages are laid out: by position in Avro's binary form, by name in JSON."""

    AVRO = "AVRO"
    JSON = "JSON"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """`path` is dotted field names; `forward`: old readers are to read new messages too.

    The pointers are those of what is looked at, as far as it stands there and is not only named.
    `aliases` are those by which the new schema's readers find what messages of the old one carry.
    """

    wire: Wire
    forward: bool
    old: Pointers
    new: Pointers
    aliases: Aliases
    path: str = ""
    pointer: str = ""
    old_pointer: str = ""

    def field_path(self, name: str) -> str:
        """The path of a field of the record that is looked at."""
        return f"{self.path}.{name}" if self.path else name

    def into(self, sign: str, member: str) -> Change:
        """Down into items (`[]`) or values (`{}`), which stand in `member` on both sides."""
        return replace(
            self,
            path=self.path + sign,
            pointer=f"{self.pointer}/{member}",
            old_pointer=f"{self.old_pointer}/{member}",
        )

    def into_old_branch(self, index: int) -> Change:
        """Down into a branch of the old union."""
        return replace(self, old_pointer=f"{self.old_pointer}/{index}")

    def into_new_branch(self, index: int) -> Change:
        """Down into a branch of the new union."""
        return replace(self, pointer=f"{self.pointer}/{index}")

    def into_field(self, old: tuple[Record, Field], new: tuple[Record, Field]) -> Change:
        """Down into the type of a field, given with its record on each side."""
        return replace(
            self,
            path=self.field_path(new[1].name),
            pointer=f"{self.new.field(*new)}/type",
            old_pointer=f"{self.old.field(*old)}/type",
        )

    def at_definitions(self, old: Schema, new: Schema) -> Change:
        """Where named types are defined, which may be elsewhere."""
        named = (Record, Enum, Fixed)
        return replace(
            self,
            pointer=self.new.pointer(new) if isinstance(new, named) else self.pointer,
            old_pointer=self.old.pointer(old) if isinstance(old, named) else self.old_pointer,
        )


# Symbols: the broker compares the short names of two enums and nothing else (Pulsar 4.0.7).


def enum_remarks(old: Enum, new: Enum, at: Change) -> Iterator[Remark]:
    """Symbols that are gone; and new ones, where consumers of the old schema are to read them."""
    before, after = set(old.symbols), set(new.symbols)
    gone = [symbol for symbol in old.symbols if symbol not in after]
    added = [symbol for symbol in new.symbols if symbol not in before]
    if gone:
        yield Remark(
            rule="AVRO-W001",
            message=f"enum {short_name(new.name)} loses {_named(gone)}, which Pulsar does not "
            f"compare: a consumer with the new schema {_reads(new, at)} a message that has "
            f"{_it(gone)}",
            path=at.path,
            pointer=f"{at.pointer}/symbols",
            old_pointer=f"{at.old_pointer}/symbols/{old.symbols.index(gone[0])}",
            hint=f"keep {_named(gone)} until no message has {_it(gone)} any more",
            stops_readers=not _has_default(new, at),
            breaks_readers=not _has_default(new, at),
        )
    if added and at.forward:
        yield Remark(
            rule="AVRO-W002",
            message=f"enum {short_name(new.name)} gets {_named(added)}, which Pulsar does not "
            f"compare: a consumer with the old schema {_reads(old, at)} a message that has "
            f"{_it(added)}",
            path=at.path,
            pointer=f"{at.pointer}/symbols/{new.symbols.index(added[0])}",
            old_pointer=f"{at.old_pointer}/symbols",
            hint=f"upgrade every consumer before a producer writes {_it(added)}",
            stops_old_readers=not _has_default(old, at),
            breaks_old_readers=not _has_default(old, at),
        )
    if at.wire is Wire.JSON:
        yield from _moved_symbols(old, new, at)


def _moved_symbols(old: Enum, new: Enum, at: Change) -> Iterator[Remark]:
    """Python's client writes an enum's value, and Jackson reads a number as a position."""
    moved = [
        symbol
        for index, symbol in enumerate(new.symbols)
        if symbol in old.symbols and old.symbols.index(symbol) != index
    ]
    if not moved:
        return
    yield Remark(
        rule="AVRO-W014",
        message=f"enum {short_name(new.name)} has {_named(moved)} at another position: Python's "
        "client writes enums as numbers, which consumers in Java read as positions, so that they "
        "get another symbol from stored messages of Python",
        path=at.path,
        pointer=f"{at.pointer}/symbols/{new.symbols.index(moved[0])}",
        old_pointer=f"{at.old_pointer}/symbols/{old.symbols.index(moved[0])}",
        hint="keep the order of the symbols, and add new ones at the end",
    )


def _reads(reader: Enum, at: Change) -> str:
    """Java reads the reader's default for a symbol that it does not know (Avro 1.11.4)."""
    return f"gets '{reader.default}' from" if _has_default(reader, at) else "fails on"


def _has_default(reader: Enum, at: Change) -> bool:
    return at.wire is Wire.AVRO and reader.default is not None


def _named(symbols: Sequence[str]) -> str:
    names = ", ".join(f"'{symbol}'" for symbol in symbols)
    return f"the symbol{'' if len(symbols) == 1 else 's'} {names}"


def _it(symbols: Sequence[str]) -> str:
    return "it" if len(symbols) == 1 else "one of them"


# Numbers, text and bytes: the same wire form, read as something else.


_LOSSY: Final = {("int", "float"): 24, ("long", "float"): 24, ("long", "double"): 53}
"""Promotions that round, and up to how many bits a number survives."""


def scalar_remarks(old: Primitive | Fixed, new: Primitive | Fixed, at: Change) -> Iterator[Remark]:
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
    if {old.kind, new.kind} == {"bytes", "string"} and (decimal_of(old) or decimal_of(new)):
        yield from _other_logical_type(old, new, at)
    elif {old.kind, new.kind} == {"bytes", "string"}:
        yield Remark(
            rule="AVRO-W003",
            message=f"{old.kind} becomes {new.kind}: {_bytes_and_string(old, at)}",
            path=at.path,
            pointer=at.pointer,
            old_pointer=at.old_pointer,
            hint=f"keep {old.kind}, or add a new field of type {new.kind}",
            breaks_readers=at.wire is Wire.JSON,
            breaks_old_readers=at.wire is Wire.JSON,
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
        return "Pulsar accepts it, and bytes that are no UTF-8 come out as other text"
    return "Pulsar accepts it, and every consumer that works with text gets bytes"


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
        # Without its scale a decimal is another value, while plain bytes may have been meant as
        # the digits of one. The digits of a decimal are no text, whatever the text was meant as.
        is_text = old.kind != new.kind and "decimal" in (was, now)
        is_binary = at.wire is Wire.AVRO
        is_wrong = is_binary and (is_text or _mean_different_values(was, now))
        yield Remark(
            rule="AVRO-W005",
            message=f"{_said(was, old)} becomes {_said(now, new)}, which Pulsar does not compare: "
            f"what was written as one is read as the other",
            path=at.path,
            pointer=at.pointer,
            old_pointer=at.old_pointer,
            hint="keep the logical type, or add a new field",
            breaks_readers=(is_wrong or (is_binary and was == "decimal"))
            and (old.kind == new.kind or is_promotion(old, new)),
            breaks_old_readers=(is_wrong or (is_binary and now == "decimal"))
            and (old.kind == new.kind or is_promotion(new, old)),
        )


def _mean_different_values(was: str, now: str) -> bool:
    """Whether one value has two meanings, so that readers get a wrong one for certain.

    A plain number may have been meant as anything, and local timestamps are counted alike.
    """
    return bool(was and now) and was.removeprefix("local-") != now.removeprefix("local-")


def _decimals(before: Decimal, after: Decimal, at: Change) -> Iterator[Remark]:
    is_wrong = at.wire is Wire.AVRO and after.scale != before.scale
    if after.scale != before.scale:
        factor = f"10^{abs(before.scale - after.scale)}"
        ways = ("large", "small") if after.scale < before.scale else ("small", "large")
        why = f"in consumers with the new schema older values come out too {ways[0]} by {factor}"
        if at.forward:
            why += f", and in consumers with the old schema newer ones too {ways[1]}"
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
        breaks_readers=is_wrong,
        breaks_old_readers=is_wrong,
    )


def _said(logical: str, schema: Schema) -> str:
    if decimal_of(schema):
        return str(decimal_of(schema))
    return f"{schema.kind} as {logical}" if logical else f"plain {schema.kind}"
