"""Symbols: the broker compares the short names of two enums and nothing else (Pulsar 4.0.7)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gitops.compatibility.avro.schema import Enum, short_name
from gitops.compatibility.review.avro_place import Change, Wire
from gitops.compatibility.review.remark import Remark


def remarks(old: Enum, new: Enum, at: Change) -> Iterator[Remark]:
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
            hint=f"keep {_them(gone)} until no message has {_it(gone)} any more",
            stops_readers=not _has_default(new, at),
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


def _them(symbols: Sequence[str]) -> str:
    return "it" if len(symbols) == 1 else "all of them"
